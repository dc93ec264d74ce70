/* SPDX-License-Identifier: GPL-2.0-only */
#define IS_ALIGNED(x, a) ((x) % (a) == 0)
