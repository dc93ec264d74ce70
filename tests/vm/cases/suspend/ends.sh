# SPDX-License-Identifier: GPL-2.0-only
# Each way for a process to end, while it is held and while its queues are
# suspended: it ends within 100 ms, and nothing is left.
# tier: gate
# timeout: 120
. /t/steps.sh

for entry in exit:0 close:0 thread-exit:0 abort:134 SIGTERM:143 SIGKILL:137; do
	for mode in held suspended; do
		ends_in_time $mode "${entry%:*}" "${entry#*:}"
	done
done
wait_for 5 no_kfd_process
