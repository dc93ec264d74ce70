# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the tests of ROCm's user space share. A generation is the Debian release
# that it comes from: 12 (ROCr 5.2) or 13 (ROCr 6.1).
. /t/lib.sh

# Debian 12's knows no gfx942: we give it gfx90a, which has the same packets and signals.
rocm_env() {
	case $1 in
	12) export HSA_OVERRIDE_GFX_VERSION=9.0.10 ;;
	*) unset HSA_OVERRIDE_GFX_VERSION ;;
	esac
}

gfx_of() {
	case $1 in
	12) echo gfx90a ;;
	13) echo gfx942 ;;
	esac
}

# in_rocm GENERATION PROGRAM ARGS...: with that generation's loader and libraries.
in_rocm() {
	_dir=/rocm$1
	rocm_env "$1"
	shift
	"$_dir/ld-linux-x86-64.so.2" --library-path "$_dir" "$@"
}

rocm_versions() {
	awk '$1 ~ /^(rocminfo|libhsa-runtime64|libhsakmt|libdrm-amdgpu|libc6)/' "/rocm$1/versions"
}

# expect_rocminfo GENERATION GPUS: it lists them all as what they are.
expect_rocminfo() {
	step "Debian $1's rocminfo"
	rocm_versions "$1"
	in_rocm "$1" "/rocm$1/rocminfo" > "$W/rocminfo$1" 2>&1 ||
		fail "rocminfo of Debian $1 ended with $?"
	awk -v gfx="$(gfx_of "$1")" '
		$1 == "Name:" { ours = $2 == gfx; gpus += ours }
		ours && $1 == "Compute" { cus += $3 == 80 }
		ours && $1 == "Chip" { chips += $3 ~ /0x74a2/ }
		$1 == "Name:" && $2 ~ "^amdgcn-amd-amdhsa--" gfx { isas++ }
		END { print gpus, cus, chips, isas }' "$W/rocminfo$1" > "$W/found"
	echo "GPUs, of 80 CUs, of chip 0x74a2, ISAs: $(cat "$W/found")"
	[ "$(cat "$W/found")" = "$2 $2 $2 $2" ] || fail "not $2 GPUs of $(gfx_of "$1")"
}

# --- hsa-load ----------------------------------------------------------------

# hsa_start LABEL GENERATION ARGS...: a ROCr program; all that lib.sh offers for
# vgpu-load then works with the label.
hsa_start() {
	hsa_begin "$@"
	wait_for 20 started_or_dead "$1"
	alive "$(pid "$1")" || is_ready "$1" ||
		fail "hsa-load did not start: $(cat "$W/$1.err")"
}

# The same, not waiting for its queues.
hsa_begin() {
	_label=$1
	_program=hsa-load$2
	rocm_env "$2"
	shift 2
	: > "$W/$_label.out"
	"$_program" "$@" > "$W/$_label.out" 2> "$W/$_label.err" &
	eval "pid_$_label=$!"
	started="$started $!"
}

says_program() {
	grep -Eq -e "$2" "$W/$1.out"
}

# queue_types PID: as "3 compute-aql 2 sdma".
queue_types() {
	view "$1" type | sort | uniq -c | awk '{ printf "%s%s %s", s, $1, $2; s = " " }'
}

has_queues() {
	[ "$(queue_types "$1")" = "$2" ]
}

# ms LABEL STEP: how long the program says that a step took, whole ms.
ms() {
	awk -v what="$2" '$1 == what && $2 == "ms" { printf "%.0f", $3 }' "$W/$1.out"
}

# --- hip-load ----------------------------------------------------------------

# hip_start LABEL ARGS...: in the guest of check-hip. HIP's first copy compiles its own kernels,
# which takes seconds. Without an engine small copies have to use SDMA: as kernels they would move
# nothing.
hip_start() {
	_label=$1
	shift
	PROGRAM="env" start "$_label" GPU_FORCE_BLIT_COPY_SIZE=0 LD_LIBRARY_PATH=/hip13 \
		hip-load /files/vgpu-kernel-gfx942.co "$@"
}
