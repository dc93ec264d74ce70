# SPDX-License-Identifier: GPL-2.0-only
# From kmod/layout.h to a table for btf-doctor: what the module looks up, and whether
# that is of a driver with struct kfd_node ('y'), of one without ('n'), or of both.
/^#define GP_FIELDS\(/ { on = 1; nodes = " " }
/^#define GP_FIELDS_NODES\(/ { on = 1; nodes = "y" }
/^#define GP_FIELDS_NO_NODES\(/ { on = 1; nodes = "n" }
/^#define GP_ENUMS\(/ { on = 2; nodes = " " }
/^#define/ { next }
/^$/ { on = 0 }
on && /\(/ {
	line = $0
	sub(/^[ \t]*/, "", line)
	sub(/^X\(/, on == 2 ? "E, " : "", line)
	sub(/\)[ \t]*\\?$/, "", line)
	n = split(line, cell, /,[ \t]*/)
	feature = n == 5 && cell[5] != "must" ? cell[5] : ""
	printf "{ '%s', \"%s\", \"%s\", \"%s\", \"%s\", '%s' },\n", cell[1], cell[2], cell[3],
		n == 5 ? cell[4] : "", feature, nodes
}
