/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_FILE_H
#define GP_FILE_H

#include <linux/types.h>

/**
 * gp_file_read() - read a whole file into memory
 * @name:	where init has it
 * @max:	no more bytes than these
 * @data:	the contents; release with vfree()
 * @size:	of @data
 *
 * Return: 0, -EFBIG when it is empty or larger than @max, -EXDEV when it is in sysfs
 * and another file is mounted there, or another error.
 */
int gp_file_read(const char *name, size_t max, void **data, size_t *size);

/**
 * gp_file_there() - whether there is a file of that name
 * @name:	where init has it
 */
bool gp_file_there(const char *name);

#endif /* GP_FILE_H */
