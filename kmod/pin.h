/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_PIN_H
#define GP_PIN_H

struct file;

/**
 * gp_pin_open() - may this process read our files? Keep the module then
 *
 * The caller drops it with fput(). That puts the module later, from the kernel's
 * own code, so it can be the last thing that a release of ours does.
 *
 * Return: a file, or -EPERM, -ENOMEM, -ENFILE, -ENXIO as a pointer.
 */
struct file *gp_pin_open(void);

#endif /* GP_PIN_H */
