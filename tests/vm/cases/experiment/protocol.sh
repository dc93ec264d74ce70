# SPDX-License-Identifier: GPL-2.0-only
# experiment: its whole protocol with vgpu-load as models; it finds what is so by
# construction, and goes on after an interruption.
# timeout: 180
. /t/lib.sh

e=$W/e
step "two models with equal ids and priorities"
lab 0 experiment --a "exec vgpu-load --queues 2 --packet 1ms --rate 20 --duration 2400ms" \
	--b "exec vgpu-load --queues 3 --packet 1ms --rate 20 --duration 2400ms" \
	--runs 2 --concurrent 1 -o "$e"
says "^Same queue ids every run: yes .overlap with the first: 1.00, consistent"
says "^Same number of queues every run: yes"
says "^Each queue in one slot of each XCC: yes"
says "^Ids of A alone and B alone in common: 67%"
says "^both-1: 2 ids in common .overlap 0.67., 0 slots in common"
says "^both-1: queues of A before B came, and with it: the same .overlap 1.00."
[ -s "$e/both-1/a-alone/mqds" ] || fail "there is no snapshot of A before B came"
says "^Choose queues by pid: "
grep -q "Same queue ids every run: no" "$W/ctl" && fail "a model's ids differ"
for r in a-1 a-2 b-1 b-2 both-1; do
	for t in before during after; do
		[ -s "$e/$r/$t/mqds" ] || [ "$t" != during ] || fail "$r/$t has no mqds"
		[ -e "$e/$r/$t/hqds" ] || fail "there is no $r/$t"
	done
done
grep -q ready "$e/a-1/a.out" || fail "what the model printed is not kept"

step "taken up again, and read again"
rm "$e/b-2/result"
touch "$e/b-2/rubbish" "$e/a-1/kept"
lab 0 experiment --resume "$e" --json
says '"strategy": "pid"'
says '"same_ids": true'
says '"common_ids": 2'
[ ! -e "$e/b-2/rubbish" ] || fail "the run that was not complete was not repeated"
[ -e "$e/a-1/kept" ] || fail "a run that was complete was repeated"
lab 0 experiment --report-only "$e"
says "^Choose queues by pid: "
[ -s "$e/report.md" ] && [ -s "$e/report.json" ] || fail "the report was not written"

step "commands that others could have written"
chmod 666 "$e/experiment"
lab 4 experiment --resume "$e"
says "its commands would be run"
lab 0 experiment --report-only "$e"

step "one more queue in the second run"
lab 0 experiment --runs 2 -o "$W/more" --duration 800ms --a \
	"echo x >> $W/n; exec vgpu-load --packet 1ms --rate 20 --queues \$(wc -l < $W/n)"
says "^Same queue ids every run: no .overlap with the first: 0.50, not consistent"
says "^Same number of queues every run: no"
says "^Choose queues by pid: queue ids are not the same"

step "a model without queues"
lab 1 experiment --runs 1 --a "true" -o "$W/none"
says "ended before its queues were seen"
lab 2 experiment --runs 1
says "is needed"

step "self"
gpreempt-lab self -- vgpu-load --queues 2 --sdma 1 --packet 1ms --rate 20 --duration 1200ms > "$W/self.out" 2> "$W/self.err" ||
	fail "self ended with $?"
grep -Eq 'process [0-9]+ has 3 queues: .*compute-aql.*sdma' "$W/self.err" || fail "self did not name three queues"
gpreempt-lab self -- sh -c 'exit 7' 2> "$W/self2"
[ $? -eq 7 ] || fail "self lost the exit status"
