# SPDX-License-Identifier: GPL-2.0-only
# The waves of a suspended queue as AMD's debugger library finds them: the header that the driver
# has copied to the save area of each XCC, the control stack, and the waves, which must fill the
# area. The rules are control_stack_iterate() and register_address() of ROCdbgapi.
# waves: run
# timeout: 60
. /t/load.sh
needs_engine

# areas PID RING: address of the save area of each XCC, from the MQDs of the queue with that ring
areas() {
	awk -v pid="$1" -v ring="$2" '
		/^Process / { ours = $2 == pid }
		$1 == "00000220:" { is = $3 $2 }
		ours && $1 == "000002a0:" && is == ring { print "0x" $6 $5 }
		' "$DEBUGFS/kfd/mqds"
}

# words ADDRESS COUNT: of the memory of the process
words() {
	dd if="/proc/$load/mem" bs=4 skip=$(($1 / 4)) count="$2" 2> /dev/null |
		hexdump -v -e '1/4 "%u\n"'
}

# bytes STATE WAVE: of a wave with these words in the control stack
bytes() {
	_lds=$((($1 >> 9 & 255) * 512))
	_vector=$(((($1 & 63) + 1) * 8 * 64 * 4))
	echo $((_vector + ($1 >> 6 & 7) * 16 * 4 + 192 + ($2 >> 17 & 1) * _lds))
}

# walk AREA: adds to $found and $leaders
walk() {
	# shellcheck disable=SC2046 # four words: offset and size of the stack, end and size of waves
	set -- "$1" $(words "$1" 4)
	echo "area $1: control stack at $2, $3 bytes; waves end at $4, $5 bytes"
	[ $(($2 + $3)) -eq $(($4 - $5)) ] || fail "stack and waves do not follow one another"
	_n=0
	_sum=0
	_state=0
	for _w in $(words $(($1 + $2)) $(($3 / 4))); do
		_n=$((_n + 1))
		if [ $_n -le 2 ] || [ $((_w >> 30 & 1)) -eq 1 ]; then
			continue
		elif [ $((_w >> 31 & 1)) -eq 1 ]; then
			_state=$_w
		else
			_sum=$((_sum + $(bytes "$_state" "$_w")))
			found=$((found + 1))
			leaders=$((leaders + (_w >> 17 & 1)))
		fi
	done
	[ $_sum -eq "$5" ] || fail "the waves have $_sum bytes"
}

load --waves 8 --registers 128 --lds 4 --time 20ms
ring=$(sed -n '1s/.*"ring":"\(0x[0-9a-f]*\)".*/\1/p' "$W/load")
hold $load
areas $load "$(printf %016x $((ring >> 8)))" > "$W/areas"
[ "$(wc -l < "$W/areas")" -eq 4 ] || fail "not four areas: $(cat "$W/areas")"
found=0
leaders=0
while read -r area; do
	walk "$area"
done < "$W/areas"
# Waves that have come to their end need no save; at the end the load knows of each that is lost.
[ $found -ge 1 ] && [ $found -le 8 ] || fail "$found waves"
[ $leaders -eq $found ] || fail "$found waves, $leaders the first of a workgroup"
release_target $load
load_ends 0
said '"state":"done",.*"wrong":0,"unrun":0,'
