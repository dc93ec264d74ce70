# SPDX-License-Identifier: GPL-2.0-only
# All stages on a GPU of four XCCs, which has every size of the witness that a compiler here builds.
# vgpu: profile=gfx942
# timeout: 300
. /t/trial.sh

# A load that fills the GPU has waves on all four. A part of a minute can be too short for a look.
trial 0 --stages 1
page '^view, full looks: looks=[1-9][0-9]* busy=[1-9][0-9]* .* on_all_xccs=[1-9]'

trial 0 --yes --minutes 1
cat "$W/page"
all_hold
for mode in alone unprotected guarded; do
	page "^schedule, $mode load requests: n=[1-9]"
done
page '^holds	9	9	Nothing is left behind'
page "^holds	[1-9][0-9]*	[0-9]+	The view says the same as the driver's own text"
json-schema /t/data/schema-trial.json "$W/trial.json" || fail "schema"
as_before
