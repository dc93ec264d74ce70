# SPDX-License-Identifier: GPL-2.0-only
# Grace periods, in the driver's units of 1,024 clocks and in time: 0 is taken for
# 1, 255 is the most, 256 and 300 are refused and never cut (256 would become 0,
# which is for ever); without one the driver sets nothing.
# timeout: 60
. /t/lib.sh

start a --packet 1ms
p=$(pid a)
mhz=$(property "$(gpu_nodes | head -n 1)" max_engine_clk_fcompute)
echo "$mhz MHz"

# time_of UNITS: just below, so that it is rounded up to that.
time_of() {
	echo "$(($1 * 1024 * 1000 / mhz - 100))ns"
}

# sets_grace WANT ARGS...: how often a suspend sets the register, and puts it back.
sets_grace() {
	_sets=$1
	shift
	_w0=$(counter 0 write_data)
	ctl 0 suspend "$p" "$@"
	says 'verified: yes'
	_w1=$(counter 0 write_data)
	ctl 0 resume "$p"
	[ $((_w1 - _w0)) -eq "$_sets" ] || fail "the register was set $((_w1 - _w0)) times, not $_sets"
}

# What opening a session sets by itself.
w0=$(counter 0 write_data)
ctl 0 suspend "$p"
own=$(($(counter 0 write_data) - w0))
ctl 0 resume "$p"
step "the driver's default: nothing is set but by the session's start ($own)"
sets_grace "$own"
for units in 1 2 254 255; do
	step "$units units are $(time_of $units)"
	sets_grace $((own + 2)) --grace "$(time_of $units)"
done
step "0: one unit, as the driver does"
sets_grace $((own + 2)) --grace 0us
for units in 256 300 100000; do
	step "$units units are refused"
	ctl 2 suspend "$p" --grace "$(time_of $units)"
	says_what_to_do 'longest grace period .* is [0-9.]+us \(255 units'
	expect_view "$p" suspended 0
done
expect_progress a
stop a
