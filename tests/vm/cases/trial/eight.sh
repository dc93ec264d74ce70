# SPDX-License-Identifier: GPL-2.0-only
# All of eight GPUs, one after the other; a container is refused.
# vgpu: profile=gfx90a gpus=8
# timeout: 200
. /t/trial.sh

step "all GPUs"
trial 0 --yes --gpu all --stages 2 --minutes 1
[ "$(grep -c '^2	idle	done' "$W/page")" -eq 8 ] || fail "not eight: $(cat "$W/page")"
[ "$(grep '^trial of GPU' "$W/page" | sort -u | wc -l)" -eq 8 ] || fail "not each GPU once"
json-schema /t/data/schema-trial.json "$W/trial.json" || fail "schema"

step "one by its name"
trial 0 --yes --gpu 5 --stages 1 --minutes 1
page '^trial of GPU 5 '
page '^1	view	done'
trial 5 --yes --gpu 8
as_before

step "a PID namespace of its own"
unshare -p -m -f sh -c 'mount -t proc proc /proc; exec gpreempt-ctl trial --yes' > "$W/page" 2>&1
status=$?
cat "$W/page"
[ $status -ne 0 ] && [ ! -e /var/lib/gpreempt/trial ] || fail "it was not refused"
grep -q 'PID namespace\|host' "$W/page" || fail "no reason"
