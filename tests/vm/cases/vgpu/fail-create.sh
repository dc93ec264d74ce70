# SPDX-License-Identifier: GPL-2.0-only
# fail_create: making a queue fails; the program hears of it, the rest works.
# allow-log: Failed|failed|create
# timeout: 90
# driver: any
. /t/lib.sh

start a --packet 1ms
switch 0 fail_create 1
vgpu-load --count 1 > "$W/b.out" 2>&1 && fail "a queue was made"
cat "$W/b.out"
grep -q 'cannot create a queue' "$W/b.out" || fail "it failed elsewhere"
switch 0 fail_create 0
expect_progress a
start c --packet 1ms --count 100
expect_good_end c
stop a
