# SPDX-License-Identifier: GPL-2.0-only
# Joins mqds (first file) with hqds (second file): the MQD address in a CP
# slot's first two registers equals the one in the queue's MQD for that XCC.
# Prints a line a compute queue, "queue <n> gpu <id> slot <pipe>.<queue> xccs
# <n>", and a last line with the totals; exits 1 when the join does not hold.

function bad(why) { print "bad: " why; failed = 1 }

FNR == 1 { file++ }

file == 1 && /queue on device/ {
	compute = $1 == "Compute"
	if (compute) { gpu_of[queues++] = $NF; xcc = 0 }
	next
}

# Offset 0x200 of each XCC's MQD: dwords 0x80 and 0x81, its own address.
file == 1 && compute && $1 == "00000200:" {
	mqd[queues - 1, xcc++] = $3 $2
	xccs[queues - 1] = xcc
	next
}

file == 2 && /^Node / { gpu = $4; sub(/:$/, "", gpu); slot = ""; next }
file == 2 && /HIQ/ { slot = ""; next }
file == 2 && /SDMA/ { slot = ""; next }
file == 2 && / CP Pipe / {
	inst = $2 + 0
	slot = ($5 + 0) "." ($7 + 0)
	line = 0
	next
}

file == 2 && slot != "" && line++ == 0 && $4 ~ /[13579bdf]$/ {
	active++
	at[gpu, inst, $3 $2] = slot
}

END {
	for (q = 0; q < queues; q++) {
		held = 0
		where = ""
		for (x = 0; x < xccs[q]; x++) {
			key = gpu_of[q] SUBSEP x SUBSEP mqd[q, x]
			if (!(key in at))
				continue
			held++
			if (where != "" && where != at[key])
				bad("queue " q " is in slot " where " and in slot " at[key])
			where = at[key]
		}
		if (held != xccs[q])
			bad("queue " q " of gpu " gpu_of[q] " holds " held " of " xccs[q] " slots")
		joined += held
		print "queue " q " gpu " gpu_of[q] " slot " where " xccs " xccs[q]
	}
	if (joined != active + 0)
		bad(active + 0 " slots are active, " joined + 0 " belong to a queue")
	print "queues " queues + 0 " slots " joined + 0 " active " active + 0
	exit failed
}
