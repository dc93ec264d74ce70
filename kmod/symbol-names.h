/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SYMBOL_NAMES_H
#define GP_SYMBOL_NAMES_H

/*
 * What is looked up in amdgpu's symbol table. tests/kmod/layout-of.c compares it
 * with files, so nothing of the kernel is included here.
 *
 * X(id, symbol, type, feature): an object, which has the size of struct type, and
 *	what does not work without it; "must": the module
 * M(id, symbol, type, feature): the same, an array of them
 * F(id, symbol): a function, for a probe; without it the table is scanned
 */
#define GP_SYMBOLS(X, M, F)                                 \
	M(TABLE, kfd_processes_table, hlist_head, must)     \
	X(SRCU, kfd_processes_srcu, srcu_struct, must)      \
	F(CREATED, kfd_create_process)                      \
	F(RELEASED, kfd_process_notifier_release)           \
	X(TOPOLOGY, topology_device_list, list_head, nodes) \
	X(TOPOLOGY_LOCK, topology_lock, rw_semaphore, nodes)

#endif /* GP_SYMBOL_NAMES_H */
