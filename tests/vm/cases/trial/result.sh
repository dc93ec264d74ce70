# SPDX-License-Identifier: GPL-2.0-only
# All stages, in which the code of the witness is executed: its waves keep their registers and LDS.
# What gpreempt-lab makes of the result, and the archive. tests/report/take makes
# user/lab/trial-reference.json of what this prints.
# vgpu: profile=gfx90a cus=1
# waves: run
# memory: 1536
# timeout: 900
. /t/trial.sh

# The waves are executed here: the less the GPU does in a second, the less this host has to do.
echo 400 > $VGPU/0/instruction_ns
trial 0 --yes --minutes 1
all_hold
page '^holds	[1-9][0-9]*	[0-9]+	A pause does the same'
page '^holds	[1-9][0-9]*	[0-9]+	Another process on the GPU'
page '^holds	[1-9][0-9]*	[0-9]+	follow takes'
if [ "$(cat $VGPU/engine)" = 1 ]; then
	page '^holds	[1-9][0-9]*	[0-9]+	A wave has its registers'
	page '^holds	[1-9][0-9]*	[0-9]+	The view counts the waves'
fi
as_before
echo "begin trial.json"
cat "$W/trial.json"
echo
echo "end trial.json"

step "alone"
lab 0 trial "$W/trial.json"
says '^0	holds	[1-9][0-9]*	[0-9]*	-	-	-	Nothing is left behind'
says '^0	waves	preempt	suspend_ioctl_us	[1-9]'
lab 0 trial "$W/trial.json" --json
json-schema /t/data/schema-trial.json "$W/ctl" || fail "schema"

step "the archive"
lab 0 trial "$W/trial.json" --archive "$W/trial.tar.zst"
"$(which tar)" --zstd -xf "$W/trial.tar.zst" -C "$W" contents || fail "no contents"
grep -q '^[0-9]* trial.json$' "$W/contents" || fail "$(cat "$W/contents")"
hostname rack9
sed 's/"kernel":/"where": "on rack9", "kernel":/' "$W/trial.json" > "$W/named.json"
lab 1 trial "$W/named.json" --archive "$W/named.tar.zst"
says 'trial.json has the name of this host in it, "rack9"'
[ ! -e "$W/named.tar.zst" ] || fail "it was written"

step "beside itself"
lab 0 trial "$W/trial.json" "$W/trial.tar.zst" --json
says '"b_percent": *100'
! grep '"b_percent":' "$W/ctl" | grep -qv '100.0\|null' || fail "not the same"

step "a page"
lab 0 report "$W/trial.tar.zst" -o "$W/page.html" --json
says '"kind": *"trial --output"'
