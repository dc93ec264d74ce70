/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_CORE_OPTIONS_H
#define GP_CORE_OPTIONS_H

#include <stddef.h>

/*
 * A copy of a structure that begins with its size_t size, as the caller's header has it. An
 * older and shorter one gets zeros; of a newer and longer one what this library does not know
 * must be zeros. @least is what the first version had. 0, -EINVAL for a shorter one, or -E2BIG.
 */
int gp_options_take(const void *from, size_t least, void *to, size_t size);

#endif
