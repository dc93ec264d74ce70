/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QEMU's interface for plugins, the part that is used here: "QEMU TCG Plugins" in QEMU's
 * documentation for developers. Debian has no package with the header.
 */
#ifndef WAVE_QEMU_H
#define WAVE_QEMU_H

#include "wave.h"

#define EXPORT	    __attribute__((visibility("default")))
#define CB_NO_REGS  0
#define MEM_WRITE   2
#define OLD_VERSION 1 /* the interface of QEMU 7.2 */
#define NEW_VERSION 4 /* and of QEMU 10.0; from 3 on, bytes are copied */

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
typedef void (*translate_fn)(u64 id, struct qemu_plugin_tb *tb);
typedef void (*access_fn)(unsigned int cpu, u32 info, u64 at, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(u64 id, translate_fn fn);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t n);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, access_fn fn, int flags,
				      int rw, void *data);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(u32 info, u64 at);
u64 qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *addr);

/* QEMU looks for these two in a plugin. */
extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(u64 id, const void *info, int argc, char **argv);

#endif
