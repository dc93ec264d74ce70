# SPDX-License-Identifier: GPL-2.0-only
# Reduces /sys/kernel/debug/kfd/{mqds,hqds} to their shape: the blocks, how
# many lines each has, and which registers (runs of "first address+count").
# Values, node numbers, gpu_ids and PIDs go; a GPU is "GPU <n>" by its place.

function flush(	i, out) {
	if (block == "")
		return
	out = block ": " lines " lines"
	for (i = 1; i <= runs; i++)
		out = out " " first[i] "+" words[i]
	print out
	block = ""
}

function hex(s,	i, v) {
	v = 0
	for (i = 1; i <= length(s); i++)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}

function open_block(name) {
	flush()
	block = name
	lines = runs = 0
	next_address = -1
}

# A register line or a line of a memory dump: "address: word word ...".
function add_line(	address) {
	sub(/:$/, "", $1)
	address = hex($1)
	lines++
	if (address != next_address) {
		first[++runs] = $1
		words[runs] = 0
	}
	words[runs] += NF - 1
	next_address = address + (NF - 1) * 4
}

/^Process / { flush(); next }
/^Node /    { flush(); print "GPU " gpus++; next }
/^    [0-9a-f]+: / { add_line(); next }
/queue on device/ { open_block($1 " queue"); next }
{ name = $0; sub(/^ +/, "", name); sub(/:$/, "", name); gsub(/  +/, " ", name); open_block(name) }
END { flush() }
