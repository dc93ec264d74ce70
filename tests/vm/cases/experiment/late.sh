# SPDX-License-Identifier: GPL-2.0-only
# experiment: a program that makes a queue seconds after the others is seen with
# all of them; two that did not run at the same time are reported as apart.
# tier: gate
# timeout: 120
. /t/lib.sh

step "one more queue, later"
lab 0 experiment --runs 1 -o "$W/late" --a \
	'vgpu-load --queues 2 --packet 1ms --rate 20 --duration 4s & p=$!; sleep 2; kill -USR2 $p; wait $p; wait $p'
says '^\| a-1 \| [0-9]+ \| 3 \| [0-9a-f]+:0,[0-9a-f]+:1,[0-9a-f]+:2 \| 12 \| 12 \|$'
[ ! -e "$W/late/a-1/during.next" ] || fail "something is left"
grep -q '^tag during$' "$W/late/a-1/during/info" || fail "the snapshot has another tag"

step "not at the same time"
lab 0 experiment --runs 1 --concurrent 1 -o "$W/apart" --json \
	--a "exec vgpu-load --queues 1 --packet 1ms --rate 20 --duration 1500ms" \
	--b "sleep 3; exec vgpu-load --queues 1 --packet 1ms --rate 20 --duration 1500ms"
tr -d ' \n' < "$W/ctl" > "$W/flat"
grep -q '"common_ids"' "$W/flat" && fail "ids in common of two that did not meet"
lab 0 experiment --report-only "$W/apart"
says '^both-1: one of them had no queue'
