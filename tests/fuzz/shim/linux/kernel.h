/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include_next <linux/kernel.h>
