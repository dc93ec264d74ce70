// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "unit-snapshots.h"

void snapshots_setup(void)
{
	command_setup();
	ck_assert(copy_fixture(DRIVER "mqds", "now/mqds"));
	ck_assert(copy_fixture(DRIVER "hqds", "now/hqds"));
	ck_assert(copy_fixture(DRIVER "rls", "now/rls"));
	ck_assert(copy_fixture(DRIVER "queues-144", "now/queues-144"));
	ck_assert(copy_fixture(DRIVER "queues-156", "now/queues-156"));
}

void make_other_rings(const char *path)
{
	size_t len;
	char *all = fixture_text(DRIVER "mqds", &len), *at;

	for (at = all; (at = strstr(at, "00000220: ")); at++)
		memcpy(at + 10, "0badf00d", 8);
	make_file(path, all, len);
	free(all);
}
