# SPDX-License-Identifier: GPL-2.0-only
# A dispatch in flight when its queue is suspended goes on from where it was:
# it neither restarts nor is lost.
# timeout: 90
# driver: any
. /t/lib.sh

start a --packet 4s --count 1 --drain 60s
sleep 1
hold "$(pid a)"
sleep 1.5
expect_no_progress a
t0=$(uptime_cs)
ctl 0 resume "$(pid a)"
expect_good_end a
rest=$(($(uptime_cs) - t0))
# At most 3 s of its 4 s were left; from the start would be 4 s.
between $rest 10 380 "hundredths of a second that the rest took"
