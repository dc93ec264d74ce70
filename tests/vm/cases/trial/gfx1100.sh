# SPDX-License-Identifier: GPL-2.0-only
# RDNA 3, on which MES schedules: what is possible is done, and the page says what is not.
# vgpu: profile=gfx1100
# timeout: 240
. /t/trial.sh

trial 0 --yes --minutes 1
cat "$W/page"
! grep -q '^does not hold' "$W/page" || fail "a claim does not hold"
json-schema /t/data/schema-trial.json "$W/trial.json" || fail "schema"
as_before
