// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "unit.h"

int main(void)
{
	return unit_run(program_invocation_short_name);
}
