// SPDX-License-Identifier: GPL-2.0-only
/*
 * An allocation of the kernel that fails on request, in a kernel without failslab: the
 * file fail_alloc takes a number, and that allocation of the writing thread gets no
 * memory. Read, it has what is left to count: 0 when the allocation has failed.
 *
 * The functions that allocate are probed at their entry, where a return is put in the
 * place of the call.
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include "vgpu_priv.h"

static const char *const names[] = {
	"__kmalloc_noprof",
	"__kmalloc_cache_noprof",
	"__kmalloc_node_noprof",
	"__kmalloc_large_noprof",
	"__kmalloc_node_track_caller_noprof",
	"__kvmalloc_node_noprof",
	"vmalloc_noprof",
	"kmem_cache_alloc_noprof",
	"kmem_cache_alloc_lru_noprof",
	"kmem_cache_alloc_node_noprof",
	/* Before 6.10 */
	"__kmalloc",
	"kmalloc_trace",
	"__kmalloc_node",
	"kvmalloc_node",
	"vmalloc",
	"kmem_cache_alloc",
	"kmem_cache_alloc_lru",
	"kmem_cache_alloc_node",
};

static struct kprobe probes[ARRAY_SIZE(names)];
static bool armed;
static struct task_struct *failing;
static u64 left;

/* Function that replaces a call: it returns the value that is in the register already. */
/* clang-format off */
asm(".pushsection .text\n"
	".type vgpu_returns, @function\n"
	"vgpu_returns:\n"
	ANNOTATE_NOENDBR "\n"
	ASM_RET "\n"
	".size vgpu_returns, .-vgpu_returns\n"
	".popsection\n");
/* clang-format on */

static int at_entry(struct kprobe *p, struct pt_regs *regs)
{
	if (READ_ONCE(failing) != current || !in_task() || !left || --left)
		return 0;
	regs->ax = 0;
	regs->ip = (unsigned long)vgpu_returns;
	return 1;
}

static void disarm(void)
{
	int i;

	WRITE_ONCE(failing, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].addr)
			unregister_kprobe(&probes[i]);
	memset(probes, 0, sizeof(probes));
	armed = false;
}

static int arm(void)
{
	int i, n = 0;

	if (armed)
		return 0;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		probes[i].symbol_name = names[i];
		probes[i].pre_handler = at_entry;
		if (register_kprobe(&probes[i]))
			memset(&probes[i], 0, sizeof(probes[i]));
		else
			n++;
	}
	armed = n;
	return n ? 0 : -ENOENT;
}

/* 0: no more */
static int fail_alloc_set(void *data, u64 val)
{
	int ret = 0;

	WRITE_ONCE(failing, NULL);
	if (val)
		ret = arm();
	else
		disarm();
	left = val;
	WRITE_ONCE(failing, val && !ret ? current : NULL);
	return ret;
}

static int fail_alloc_get(void *data, u64 *val)
{
	*val = left;
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(fail_alloc_fops, fail_alloc_get, fail_alloc_set, "%llu\n");

void vgpu_nomem_init(struct dentry *root)
{
	debugfs_create_file("fail_alloc", 0600, root, NULL, &fail_alloc_fops);
}

void vgpu_nomem_exit(void)
{
	disarm();
}
