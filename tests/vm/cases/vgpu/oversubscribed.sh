# SPDX-License-Identifier: GPL-2.0-only
# More queues than slots: they rotate, and all make progress.
# timeout: 120
# driver: any
. /t/lib.sh

start a --queues 30 --packet 1ms --per-queue --depth 32
# Queues take turns while the view is read, one after the other: of some reads
# one is quick enough to count no slot twice.
as_many_as_there_are() {
	[ "$(view "$(pid a)" active | awk '{ n += $1 } END { print n }')" -le 96 ]
}
wait_for 5 as_many_as_there_are
next_lines a 24
qid=0
while [ $qid -lt 30 ]; do
	[ "$(queue_count a $qid)" -gt 0 ] || fail "queue $qid never ran"
	qid=$((qid + 1))
done
stop a
