// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds amdgpu by its PCI driver and reads its symbol table.
 * amdgpu exports nothing, but a loaded module keeps its own symbol table, a public structure with
 * addresses and sizes. Functions found here are only probed, never called: most of amdgpu's are
 * sealed against indirect calls on kernels with IBT. The reference to amdgpu is held until this
 * module goes: its data can be used without any further care for unloading.
 * A module is live a little before its symbol table is final: until then mod->kallsyms is a copy in
 * the memory that goes with its init functions. The kernel frees that after a grace period of RCU
 * (do_init_module()), and this module may be loaded by the very uevent that comes before. So the
 * table is only read in a read section, and nothing of it is kept but addresses and sizes.
 */

#include <linux/cache.h>
#include <linux/pci.h>

#include "compat.h"
#include "layout.h"

#define DRIVER_NAME "amdgpu"

struct gp_symbols gp_symbols __ro_after_init;

/* Take a reference while the bus holds the driver: it cannot go between being found and pinned. */
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

#define SYMBOL_ID(id, ...)	     id,
#define SYMBOL_NAME(id, symbol, ...) #symbol,

/* Symbols that are looked up, in the order of wanted_names. */
enum wanted { GP_SYMBOLS(SYMBOL_ID, SYMBOL_ID, SYMBOL_ID) N_WANTED };

static const char *const wanted_names[N_WANTED] = { GP_SYMBOLS(SYMBOL_NAME, SYMBOL_NAME,
							       SYMBOL_NAME) };

/* Address of a symbol, NULL: not found; and the size of the object in memory */
struct found {
	void *addr;
	unsigned long size;
};

static void match(const char *name, const Elf_Sym *sym, struct found *found)
{
	int i;

	for (i = 0; i < N_WANTED; i++) {
		if (found[i].addr || strcmp(name, wanted_names[i]))
			continue;
		found[i].addr = (void *)sym->st_value;
		found[i].size = sym->st_size;
	}
}

/* Walk once over the symbol table of the pinned module. */
static void look_up(const struct module *mod, struct found *found)
{
	const struct mod_kallsyms *syms;
	unsigned int i;

	rcu_read_lock();
	syms = rcu_dereference(mod->kallsyms);
	for (i = 0; syms && i < syms->num_symtab; i++) {
		const Elf_Sym *sym = &syms->symtab[i];

		if (sym->st_shndx != SHN_UNDEF && sym->st_value)
			match(syms->strtab + sym->st_name, sym, found);
	}
	rcu_read_unlock();
}

/* The list of KFD's nodes; without it the file nodes is empty. */
static void take_topology(struct gp_symbols *s, const struct found *found)
{
	s->topology = found[TOPOLOGY].addr;
	s->topology_lock = found[TOPOLOGY_LOCK].addr;
	if (!s->topology || found[TOPOLOGY].size != sizeof(*s->topology))
		gp_features[GP_FEATURE_nodes] = wanted_names[TOPOLOGY];
	else if (!s->topology_lock || found[TOPOLOGY_LOCK].size != sizeof(*s->topology_lock))
		gp_features[GP_FEATURE_nodes] = wanted_names[TOPOLOGY_LOCK];
}

static int find_symbols(struct gp_symbols *s)
{
	struct found found[N_WANTED] = {};

	look_up(s->amdgpu, found);
	s->table = found[TABLE].addr;
	s->srcu = found[SRCU].addr;
	if (!s->table || !s->srcu) {
		pr_err("amdgpu has no symbol %s: built without HSA_AMD, or a kernel without KALLSYMS_ALL\n",
		       wanted_names[s->table ? SRCU : TABLE]);
		return -EOPNOTSUPP;
	}
	if (!found[TABLE].size || found[TABLE].size % sizeof(*s->table) ||
	    found[SRCU].size != sizeof(*s->srcu)) {
		pr_err("amdgpu's kfd_processes_table has %lu bytes and kfd_processes_srcu %lu: not as expected\n",
		       found[TABLE].size, found[SRCU].size);
		return -EOPNOTSUPP;
	}
	s->buckets = found[TABLE].size / sizeof(*s->table);
	s->created = found[CREATED].addr;
	s->released = found[RELEASED].addr;
	take_topology(s, found);
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
	} else {
		ret = find_symbols(s);
	}
	if (ret)
		gp_symbols_release();
	return ret;
}

void gp_symbols_release(void)
{
	module_put(gp_symbols.amdgpu);
}
