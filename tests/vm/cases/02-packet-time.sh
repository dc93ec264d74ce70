# SPDX-License-Identifier: GPL-2.0-only
# A dispatch takes the GPU time that its kernarg says, in virtual time: the
# rate is right even when the emulated CPUs are busy.
# timeout: 40
. /t/lib.sh

for time in 1ms:1000 4ms:250; do
	start a --packet "${time%:*}" --duration 3s --depth 512
	expect_good_end a
	rate=$(awk '/^t / { n++; if (n > 2) { sum += $8; m++ } } END { printf "%d", sum / m }' \
		"$W/a.out")
	want=${time#*:}
	between "$rate" $((want * 93 / 100)) $((want * 107 / 100)) "packets of ${time%:*} a second"
done
