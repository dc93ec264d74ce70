// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds amdgpu by its PCI driver and reads its symbol table.
 *
 * amdgpu exports nothing, but a loaded module keeps its own symbol table, and
 * that is a public structure with addresses and sizes. Functions found here
 * are only probed, never called: most of amdgpu's functions are sealed against
 * indirect calls on kernels with IBT.
 *
 * The reference to amdgpu is held until this module goes: its data can be used
 * without any further care for unloading.
 */

#include <linux/pci.h>
#include <linux/string.h>

#include "compat.h"
#include "layout.h"
#include "symbols.h"

#define DRIVER_NAME	"amdgpu"

struct gp_symbols gp_symbols;

/*
 * Take a reference to the owner while the bus holds the driver, so that it
 * cannot go between being found and being pinned.
 */
static int pin_amdgpu(struct device_driver *drv, void *data)
{
	struct module **owner = data;

	if (strcmp(drv->name, DRIVER_NAME) || !drv->owner)
		return 0;
	if (!try_module_get(drv->owner))
		return 0;
	*owner = drv->owner;
	return 1;
}

/* Look one symbol up; size is that of the object in memory. */
static void *lookup(const struct module *mod, const char *name,
		    unsigned long *size)
{
	/* Settled since the module is live, and pinned: no RCU needed. */
	const struct mod_kallsyms *syms =
		rcu_dereference_protected(mod->kallsyms, true);
	unsigned int i;

	for (i = 0; i < syms->num_symtab; i++) {
		const Elf_Sym *sym = &syms->symtab[i];

		if (sym->st_shndx == SHN_UNDEF || !sym->st_value ||
		    strcmp(syms->strtab + sym->st_name, name))
			continue;
		*size = sym->st_size;
		return (void *)sym->st_value;
	}
	return NULL;
}

/* The list of KFD's nodes; without it the file gpus is empty. */
static void find_topology(struct gp_symbols *s)
{
	unsigned long list_size, lock_size;

	s->topology = lookup(s->amdgpu, "topology_device_list", &list_size);
	s->topology_lock = lookup(s->amdgpu, "topology_lock", &lock_size);
	if (!s->topology || list_size != sizeof(*s->topology))
		gp_features[GP_FEATURE_nodes] = "topology_device_list";
	else if (!s->topology_lock || lock_size != sizeof(*s->topology_lock))
		gp_features[GP_FEATURE_nodes] = "topology_lock";
}

static int find_symbols(struct gp_symbols *s)
{
	unsigned long table_size, srcu_size, size;

	s->table = lookup(s->amdgpu, "kfd_processes_table", &table_size);
	s->srcu = lookup(s->amdgpu, "kfd_processes_srcu", &srcu_size);
	if (!s->table || !s->srcu) {
		pr_err("amdgpu has no symbol %s: built without HSA_AMD, or a kernel without KALLSYMS_ALL\n",
		       s->table ? "kfd_processes_srcu" : "kfd_processes_table");
		return -EOPNOTSUPP;
	}
	if (!table_size || table_size % sizeof(*s->table) ||
	    srcu_size != sizeof(*s->srcu)) {
		pr_err("amdgpu's kfd_processes_table has %lu bytes and kfd_processes_srcu %lu: not as expected\n",
		       table_size, srcu_size);
		return -EOPNOTSUPP;
	}
	s->buckets = table_size / sizeof(*s->table);
	s->created = lookup(s->amdgpu, "kfd_create_process", &size);
	s->released = lookup(s->amdgpu, "kfd_process_notifier_release", &size);
	find_topology(s);
	return 0;
}

int gp_symbols_load(void)
{
	struct gp_symbols *s = &gp_symbols;
	int ret;

	bus_for_each_drv(&pci_bus_type, NULL, &s->amdgpu, pin_amdgpu);
	if (!s->amdgpu) {
		pr_err("amdgpu is not loaded as a module: nothing to observe\n");
		return -ENODEV;
	}
	if (s->amdgpu->state != MODULE_STATE_LIVE) {
		pr_err("amdgpu is still being loaded: try again\n");
		ret = -EAGAIN;
		goto err_put;
	}
	ret = find_symbols(s);
	if (ret)
		goto err_put;
	return 0;

err_put:
	gp_symbols_release();
	return ret;
}

void gp_symbols_release(void)
{
	module_put(gp_symbols.amdgpu);
	memset(&gp_symbols, 0, sizeof(gp_symbols));
}
