# SPDX-License-Identifier: GPL-2.0-only
# A held target becomes another program. The session ends with the old one, and
# the new one is free: not traced, not shown, and it ends when it likes.
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
hold "$p"
worker=$(holder_of "$p")
kill -HUP "$p"
is_sleep() { [ "$(cat "/proc/$p/comm")" = sleep ]; }
wait_for 15 is_sleep
wait_for 15 gone "$worker"
wait_for 15 nothing_held
wait_for 15 not_in_view "$p"
alive "$p" || fail "the new program ended"
not_traced "$p" || fail "the new program is traced"
ctl 5 suspend "$p"
kill -9 "$p"
wait "$p"
start b --packet 1ms --count 100
expect_good_end b
