// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host's files, of which a tenant or who made a snapshot writes each: what the commands make
 * of a directory of them (--from), and with them most readers of the library: the module's
 * text, KFD's sysfs, /proc, cgroups with their roles, files of container engines, /etc/passwd.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "files.h"
#include "fuzz.h"
#include "lib/core/internal.h"

/* What the linker's --wrap makes of gpreempt_new(): each library is over the files. */
int __wrap_gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out);
int __wrap_gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out)
{
	return fuzz_files_open(options, out);
}

static const char *const lines[] = {
	"list --from x",
	"list --json --from x",
	"list role:offline cgroup:/a container:job --from x",
	"queues 77 --json --from x",
	"queues cmd:steps user:ann --priority >5 --from x",
	"doctor --from x",
	"doctor 77 --from x",
	"doctor --json --from x",
};

bool fuzz_one(const struct fuzz_input *in)
{
	char *text = malloc(in->len ? in->len : 1); /* its end is guarded */
	size_t i, sum = 0;
	int status;

	memcpy(text, in->data, in->len);
	for (i = 0; i < in->len; i++)
		sum = sum * 31 + in->data[i];
	fuzz_files_take(text, in->len);
	status = fuzz_command(lines[sum % ARRAY_SIZE(lines)], NULL, 0);
	free(text);
	return !status;
}
