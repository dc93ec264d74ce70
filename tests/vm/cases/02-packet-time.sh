# SPDX-License-Identifier: GPL-2.0-only
# A dispatch takes the GPU time that its kernarg says, in virtual time: the
# rate is right even when the emulated CPUs are busy.
# timeout: 40
. /t/lib.sh

for time in 1ms:1000 4ms:250; do
	start a --packet "${time%:*}" --duration 3s --depth 512
	expect_good_end a
	# from the third line to the last: a late line is no other rate
	rate=$(awk '/^t / { if (++n == 3) { t = $2; c = $6 } last = $2; done = $6 }
		END { printf "%d", (done - c) / (last - t) }' "$W/a.out")
	want=${time#*:}
	between "$rate" $((want * 93 / 100)) $((want * 107 / 100)) "packets of ${time%:*} a second"
done
