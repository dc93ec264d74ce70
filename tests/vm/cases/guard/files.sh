# SPDX-License-Identifier: GPL-2.0-only
# The files that guard writes: what is no regular file is refused at the start with
# the reason, traps of another user's directory catch nothing, a full disk is
# reported at the end.
# timeout: 60
. /t/lib.sh
. /t/guard.sh

start off --queues 1 --packet 1ms
echo precious > "$W/victim"
mkdir -p "$W/theirs"
chown 65534 "$W/theirs"

step "links, FIFOs, devices and directories are refused, and nothing changes"
ln -s "$W/victim" "$W/theirs/link"
mkfifo "$W/theirs/fifo"
# refused OPTION FILE
refused() {
	ctl 1 guard --duty 50% --offline "$(pid off)" "$1" "$2"
	says_what_to_do "$2 cannot be written: a .* is there, not a regular file"
}
for option in --metrics --samples; do
	refused $option "$W/theirs/link"
done
refused --metrics "$W/theirs/fifo"
refused --metrics /dev/null
refused --samples "$W/theirs"
grep -q '^precious$' "$W/victim" || fail "a link was followed"
[ -p "$W/theirs/fifo" ] || fail "the FIFO was replaced"
[ -c /dev/null ] || fail "the device was replaced"

step "traps under names that could be foreseen catch nothing"
ln -s "$W/victim" "$W/theirs/metrics.new"
mkfifo "$W/theirs/samples.new"
guard --duty 50% --offline "$(pid off)" --metrics "$W/theirs/metrics" \
	--samples "$W/theirs/samples" --json
wait_for 20 more_times '"event":"resume"' 2
wait_for 20 test -s "$W/theirs/metrics"

step "what was well at the start and is not later is reported once, and guard goes on"
rm "$W/theirs/metrics"
ln -s "$W/victim" "$W/theirs/metrics"
wait_for 20 said "metrics file .* cannot be written: a link is there"
rm "$W/theirs/metrics"
wait_for 20 test -s "$W/theirs/metrics"
end_guard
[ -s "$W/theirs/samples" ] || fail "no samples"
grep -q '^precious$' "$W/victim" || fail "a link was followed"
[ -p "$W/theirs/samples.new" ] || fail "the FIFO was replaced"
ls "$W/theirs"
[ "$(ls "$W/theirs" | wc -l)" -eq 6 ] || fail "something is left over"

step "a full disk at the end: reported, exit status 1, the target runs"
mkdir "$W/small"
mount -t tmpfs -o size=4k none "$W/small"
guard --duty 50% --offline "$(pid off)" --samples "$W/small/samples" --json
wait_for 20 more_times '"event":"resume"' 2
echo full > "$W/small/other"
kill -TERM "$g"
wait "$g"
[ $? -eq 1 ] || fail "guard did not end with 1: $(cat "$W/guard")"
says_guard "samples file .* could not be written at the end: No space left on device"
says_guard "next: make room on that disk"
[ ! -e "$W/small/samples" ] || fail "a part of the samples was left"
wait_for 15 running "$(pid off)"
umount "$W/small"
stop off
