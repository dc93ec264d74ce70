# SPDX-License-Identifier: GPL-2.0-only
# A queue id that the process does not have: done in part, and it is named.
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
ctl 6 suspend "$p" --queues 0,99
says 99
expect_view "$p" suspended 1 0
expect_view "$p" suspended 0 1
release_target "$p"
for list in x 1,,2 -1 99999999999 ''; do
	ctl 2 suspend "$p" --queues "$list"
done
for dur in x -1s '' 1y; do
	ctl 2 suspend "$p" --for "$dur"
done
expect_progress a
stop a
