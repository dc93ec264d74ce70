// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

int main(void)
{
	return unit_run();
}
