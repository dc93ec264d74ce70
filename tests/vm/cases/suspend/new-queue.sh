# SPDX-License-Identifier: GPL-2.0-only
# A queue that a held target makes is suspended too, and released with the rest.
# race: a target makes a queue while its holder looks at it
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
hold "$p"
kill -USR2 "$p"
three_queues() { [ "$(view "$p" qid | wc -l)" -eq 3 ]; }
wait_for 15 three_queues
wait_for 15 view_is "$p" suspended 1
wait_for 15 view_is "$p" active 0
expect_no_progress a
release_target "$p"
expect_progress a
stop a
