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
	rule = substr(line, 1, 1)
	sub(/^[A-Z]\(/, "", line)
	sub(/\)[ \t]*\\?$/, "", line)
	n = split(line, cell, /,[ \t]*/)
	feature = rule ~ /[OPH]/ && cell[n] != "must" ? cell[n] : ""
	printf "{ '%s', \"%s\", \"%s\", \"%s\", '%s' },\n", on == 2 ? "E" : rule, cell[1], cell[2],
		feature, nodes
}
