# SPDX-License-Identifier: GPL-2.0-only
# A dispatch takes the GPU time that its kernarg says, in virtual time: the
# rate is right even when the emulated CPUs are busy.
# timeout: 90
# driver: any
. /t/lib.sh

# From the third progress line to the last: a late line is no other rate.
rate() {
	awk '/^t / { if (++n == 3) { t = $2; c = $6 } last = $2; done = $6 }
		END { printf "%d", (done - c) / (last - t) }' "$W/$1.out"
}

for time in 1ms:1000 4ms:250; do
	want=${time#*:}
	start a --packet "${time%:*}" --duration 3s --depth 1024
	expect_good_end a
	rate=$(rate a)
	echo "packets of ${time%:*} a second: $rate"
	between "$rate" $((want * 93 / 100)) $((want * 107 / 100)) "packets of ${time%:*} a second"
done
