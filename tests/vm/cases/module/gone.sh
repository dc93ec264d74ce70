# SPDX-License-Identifier: GPL-2.0-only
# A file that is open when its process ends reads as gone (ESTALE), also when
# another GPU process gets the same number.
# race: a file is read while its process ends
# tier: gate
# timeout: 120
# driver: any
. /t/steps.sh

# reads_stale FD FILE: from the start of the file that is open as FD
reads_stale() {
	cat <&"$1" > "$W/out" 2> "$W/err" && fail "$2 of an ended process can be read: $(cat "$W/out")"
	grep -qi 'stale' "$W/err" || fail "$2: $(cat "$W/err")"
}

open_and_end() {
	start a --queues 2 --packet 5ms
	p=$(pid a)
	exec 4< "$VIEW/$p/queues" 5< "$VIEW/$p/hqds" 6< "$VIEW/$p/gpus"
	exec 7< "$VIEW/$p/queues"
	stop a
	wait_for 15 not_in_view "$p"
}
open_and_end
reads_stale 4 queues
reads_stale 5 hqds

step "another process has the number now"
until again "$p" b --queues 3; do open_and_end; done
reads_stale 6 gpus
reads_stale 7 queues
[ "$(view "$p" qid | wc -l)" -eq 3 ] || fail "the new process's own file"
stop b
