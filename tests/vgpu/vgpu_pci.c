// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI bus in memory with one function a GPU, so that the driver and user
 * space meet ordinary PCI devices.  The functions carry a driver_override:
 * amdgpu's own PCI driver, which would match them, never probes them.
 */
#include "vgpu_priv.h"

#define VGPU_PCI_DOMAIN 1
#define VGPU_PCI_CONFIG 256
#define VGPU_PCI_CLASS	0x1200 /* processing accelerator */

static u8 config[VGPU_MAX_GPUS][VGPU_PCI_CONFIG];
static bool present[VGPU_MAX_GPUS];
static struct pci_bus *bus;
static struct pci_sysdata sysdata = {
	.domain = VGPU_PCI_DOMAIN,
	.node = NUMA_NO_NODE,
};

static struct pci_driver vgpu_pci_driver = {
	.name = "vgpu",
	.probe = vgpu_probe,
	.remove = vgpu_remove,
	.driver.pm = &vgpu_pm_ops,
};

/*
 * Name the driver in the kernel's log: once a GPU is bound, by the name that real GPUs have there.
 * Linux finds and unregisters a driver by its own name.
 */
static void name_in_log(const char *name)
{
	vgpu_pci_driver.driver.name = name;
}

static u8 *config_of(unsigned int devfn, int where, int size)
{
	unsigned int slot = PCI_SLOT(devfn);

	if (PCI_FUNC(devfn) || slot >= VGPU_MAX_GPUS || !present[slot] ||
	    where + size > VGPU_PCI_CONFIG)
		return NULL;
	return config[slot] + where;
}

static int vgpu_pci_read(struct pci_bus *b, unsigned int devfn, int where, int size, u32 *val)
{
	u8 *p = config_of(devfn, where, size);

	*val = ~0;
	if (!p)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*val = 0;
	memcpy(val, p, size);
	return PCIBIOS_SUCCESSFUL;
}

/* No BAR, no capability: nothing but the command register can be written */
static int vgpu_pci_write(struct pci_bus *b, unsigned int devfn, int where, int size, u32 val)
{
	u8 *p = config_of(devfn, where, size);

	if (!p)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (where == PCI_COMMAND && size == 2)
		memcpy(p, &val, size);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops vgpu_pci_ops = {
	.read = vgpu_pci_read,
	.write = vgpu_pci_write,
};

static void config_init(unsigned int slot)
{
	u8 *c = config[slot];

	*(u16 *)(c + PCI_VENDOR_ID) = PCI_VENDOR_ID_ATI;
	*(u16 *)(c + PCI_DEVICE_ID) = vgpu_chip->device;
	*(u16 *)(c + PCI_CLASS_DEVICE) = VGPU_PCI_CLASS;
	*(u16 *)(c + PCI_SUBSYSTEM_VENDOR_ID) = PCI_VENDOR_ID_ATI;
	*(u16 *)(c + PCI_SUBSYSTEM_ID) = vgpu_chip->device;
}

static bool vgpu_pci_present(unsigned int slot)
{
	return slot < VGPU_MAX_GPUS && present[slot];
}

/* Make the GPU of @slot appear and bind; caller holds no lock */
int vgpu_pci_plug(unsigned int slot)
{
	struct pci_dev *pdev;
	int ret = -ENODEV;

	if (slot >= VGPU_MAX_GPUS || present[slot])
		return -EINVAL;
	pci_lock_rescan_remove();
	present[slot] = true;
	config_init(slot);
	pdev = pci_scan_single_device(bus, PCI_DEVFN(slot, 0));
	if (!pdev)
		goto out;
	name_in_log(vgpu_pci_driver.name);
	ret = vgpu_set_driver(pdev, vgpu_pci_driver.name);
	if (!ret)
		pci_bus_add_device(pdev);
	name_in_log("amdgpu");
	if (!ret && pdev->dev.driver != &vgpu_pci_driver.driver)
		ret = -ENODEV;
	if (ret)
		pci_stop_and_remove_bus_device(pdev);
out:
	present[slot] = !ret;
	pci_unlock_rescan_remove();
	return ret;
}

int vgpu_pci_unplug(unsigned int slot)
{
	struct pci_dev *pdev;

	if (!vgpu_pci_present(slot))
		return -EINVAL;
	pdev = pci_get_slot(bus, PCI_DEVFN(slot, 0));
	if (!pdev)
		return -ENODEV;
	pci_stop_and_remove_bus_device_locked(pdev);
	pci_dev_put(pdev);
	present[slot] = false;
	return 0;
}

static void remove_bus(void)
{
	struct pci_host_bridge *bridge = to_pci_host_bridge(bus->bridge);

	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
	/* The bus had one reference; the one that it was made with is ours. */
	pci_free_host_bridge(bridge);
	name_in_log(vgpu_pci_driver.name);
}

int vgpu_pci_init(unsigned int gpus)
{
	LIST_HEAD(resources);
	unsigned int i;
	int ret;

	ret = pci_register_driver(&vgpu_pci_driver);
	if (ret)
		return ret;
	bus = pci_scan_root_bus(NULL, 0, &vgpu_pci_ops, &sysdata, &resources);
	if (!bus) {
		ret = -ENOMEM;
		goto err_driver;
	}
	for (i = 0; i < gpus; i++) {
		ret = vgpu_pci_plug(i);
		if (ret)
			goto err_bus;
	}
	return 0;

err_bus:
	remove_bus();
err_driver:
	pci_unregister_driver(&vgpu_pci_driver);
	return ret;
}

void vgpu_pci_exit(void)
{
	remove_bus();
	pci_unregister_driver(&vgpu_pci_driver);
}
