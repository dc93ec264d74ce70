# SPDX-License-Identifier: GPL-2.0-only
# AMD's kfdtest, each test in a process of its own: it passes or fails as the list says.
# vgpu: xccs=1
# waves: run
# memory: 4096
# timeout: 1800
. /t/lib.sh

n=0 passes=0 differ=0
while read -r word name why; do
	case $word in
	passes|fails|skips) ;;
	*) continue ;;
	esac
	n=$((n + 1))
	timeout -s KILL 60 kfdtest --gtest_filter="$name" < /dev/null > "$W/out" 2>&1
	got=fails
	grep -q '^\[  PASSED  \] 1 test' "$W/out" && got=passes
	! grep -q 'Skipping test' "$W/out" || got=skips
	[ $got != passes ] || passes=$((passes + 1))
	[ $got != $word ] || continue
	differ=$((differ + 1))
	echo "$name $got, and not $word ($why): $(grep -E 'Failure|Expected|actual|Skipping' "$W/out" |
		head -n 3 | tr '\n' ' ')"
done < /files/expected
echo "$passes of $n tests pass"
[ $passes -ge 90 ] || fail "only $passes of $n tests pass"
[ $differ -eq 0 ] || fail "$differ of $n tests end in another way than the list has it"
