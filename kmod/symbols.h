/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SYMBOLS_H
#define GP_SYMBOLS_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/rwsem.h>
#include <linux/srcu.h>

/* What was found in amdgpu's symbol table */
struct gp_symbols {
	struct module *amdgpu;	  /* the module, with a reference held */
	struct hlist_head *table; /* kfd_processes_table */
	unsigned int buckets;	  /* how many heads table has */
	/*
	 * kfd_processes_srcu; a process that is found in table under it is not
	 * freed before the end of that read section
	 */
	struct srcu_struct *srcu;
	/* kfd_create_process(), for a probe; NULL when not found */
	void *created;
	void *released; /* kfd_process_notifier_release(), the same */
	/* topology_device_list; NULL when not found */
	struct list_head *topology;
	/* of topology; a node in it is not freed while it is held */
	struct rw_semaphore *topology_lock;
};

extern struct gp_symbols gp_symbols;

/*
 * Pin amdgpu and fill gp_symbols. 0, -ENODEV when amdgpu is not there, -EAGAIN while it is
 * being loaded, -EOPNOTSUPP when it lacks what is needed; each with a line in the log.
 */
int gp_symbols_load(void);
void gp_symbols_release(void);

/*
 * In table.c: call a function for each process that KFD knows; the kfd_process stays until
 * it returns; it may sleep; what it returns ends the walk if it is not 0, and is returned.
 */
int gp_table_walk(int (*fn)(void *p, void *data), void *data);

/* The pid of its thread group with a reference, or NULL when that has ended. */
struct pid *gp_table_pid(void *p);

#endif /* GP_SYMBOLS_H */
