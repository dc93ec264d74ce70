# SPDX-License-Identifier: GPL-2.0-only
# A suspend of a process that is held already is cheap: no new session, no new
# process, and little more of the CPU than a command that does nothing.
# timeout: 90
. /t/steps.sh

start a --queues 2 --packet 1ms --rate 10
p=$(pid a)
hold "$p"
worker=$(holder_of "$p") guardian=$(guardian_of "$p")
opened=$(dmesg | grep -c "not debug enabled")
last=$(awk '{ print $22 }' "/proc/$worker/stat")
nothing=$(user-time 40 gpreempt-ctl --version)
again=$(user-time 40 gpreempt-ctl suspend "$p")
echo "does nothing: $nothing"
echo "held already: $again"
case $again in *"status 0") ;; *) fail "it ended with another status" ;; esac

step "the same session: nothing was asked of the driver that opens one"
[ "$(holder_of "$p")" = "$worker" ] && [ "$(guardian_of "$p")" = "$guardian" ] ||
	fail "another holder"
[ "$(awk '{ print $22 }' "/proc/$worker/stat")" = "$last" ] || fail "another worker"
[ "$(holders | wc -l)" -eq 2 ] || fail "more holders: $(holders)"
# Opening one asks first whether one is open, which the driver logs.
[ "$(dmesg | grep -c "not debug enabled")" -eq "$opened" ] || fail "sessions were opened"
[ "$opened" -gt 0 ] || fail "nothing is counted"

# Of both parts: which of them a moment counts as is seen at ticks of the timer only.
time_of() { echo "$1" | awk '{ print $2 + $4 }'; }
# Emulated, so only the ratio says something.
percent=$(($(time_of "$again") * 100 / $(time_of "$nothing")))
echo "processor time: $percent % of a command that does nothing"
[ "$percent" -le 200 ] || fail "too much"
release_target "$p"
stop a
