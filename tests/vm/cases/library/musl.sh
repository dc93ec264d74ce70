# SPDX-License-Identifier: GPL-2.0-only
# The library and the holder with another C library: the cases of programs that embed
# the library, with those programs and the holder linked with musl.
# vgpu: gpus=2
# with: library/hold pause/never-stopped
# timeout: 300
. /t/lib.sh

for f in gpreempt-holder gp-hold gp-pause; do
	cp "$(command -v $f-musl)" "$W/$f" || fail "no $f-musl"
	mount --bind "$W/$f" "$(command -v $f)" || fail "cannot put $f there"
done

for case in library/hold pause/never-stopped; do
	step "$case"
	sh "/t/cases/$case.sh" || fail "$case"
done
