/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_HEADERS_H
#define GP_HEADERS_H

#include <linux/types.h>

/**
 * gp_headers_read() - find the layout that was made from amdgpu's headers
 * @data:	the file; release with vfree()
 * @btf:	the BTF in it, aligned to 4 bytes
 * @size:	of @btf
 *
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the kernel log: there is
 * none, or it was made for another amdgpu than the one that is loaded.
 */
int gp_headers_read(void **data, void **btf, size_t *size);

#endif /* GP_HEADERS_H */
