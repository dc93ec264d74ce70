# SPDX-License-Identifier: GPL-2.0-only
# The Python package: a server says when its work begins and ends.
# timeout: 120
. /t/lib.sh
. /t/guard.sh

start off --queues 2 --packet 1ms
p=$(pid off)
guard --max-hold 60s --online comm:nothing --offline "$p"
wait_for 20 said "process $p is offline"
PYTHONHOME=/files/python PYTHONPATH=/files LD_LIBRARY_PATH=/files:/files/python/lib \
	/files/python/bin/python3 -S /files/online.py "$p" > "$W/python" 2>&1 ||
	{ cat "$W/python"; fail "the program ended with $?"; }
cat "$W/python"
grep -q '^none was open: ending a request: ' "$W/python" || fail "an end without a beginning"
grep -q '^done$' "$W/python" || fail "it did not come to its end"
end_guard
stop off
