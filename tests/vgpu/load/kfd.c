// SPDX-License-Identifier: GPL-2.0-only
/* First steps of a GPU process, before its first queue. */
#include "kfd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_APERTURES  128
#define DOORBELL_SLICE 8192
#define OLD_PROCESS_MS 5000

int load_kfd_ioctl(int kfd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(kfd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : ret;
}

/*
 * After exec(), KFD may still have to remove the process that this one was: it waits
 * for the last reader of the old memory, which any read of /proc/PID/stat is. The kernel
 * (6.12.117) crashes when the number is in use again before that.
 */
static void wait_for_old_process(void)
{
	static bool opened;
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", getpid());
	for (i = 0; !opened && i < OLD_PROCESS_MS && !access(path, F_OK); i++)
		usleep(1000);
	opened = true;
}

int load_kfd_open(int *fd, const char **what)
{
	struct kfd_ioctl_get_version_args version = {};
	int kfd, ret;

	wait_for_old_process();
	*what = "open /dev/kfd";
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0)
		return -errno;
	*what = "get the KFD version";
	ret = load_kfd_ioctl(kfd, AMDKFD_IOC_GET_VERSION, &version);
	if (!ret && version.major_version != KFD_IOCTL_MAJOR_VERSION)
		ret = -EPROTO;
	if (ret) {
		close(kfd);
		return ret;
	}
	*fd = kfd;
	return 0;
}

/* Does KFD give this process the GPU? A device cgroup may not. */
static int check_aperture(int kfd, uint32_t gpu_id)
{
	struct kfd_process_device_apertures apertures[MAX_APERTURES];
	struct kfd_ioctl_get_process_apertures_new_args args = {};
	uint32_t i;
	int ret;

	/* Asking for more nodes than exist is an error, so ask how many first. */
	ret = load_kfd_ioctl(kfd, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args);
	if (ret)
		return ret;
	if (args.num_of_nodes > MAX_APERTURES)
		return -E2BIG;
	args.kfd_process_device_apertures_ptr = (uintptr_t)apertures;
	ret = load_kfd_ioctl(kfd, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args);
	if (ret)
		return ret;
	for (i = 0; i < args.num_of_nodes; i++)
		if (apertures[i].gpu_id == gpu_id)
			return 0;
	return -ENODEV;
}

int load_gpu_acquire(int kfd, struct load_gpu *gpu, const char **what)
{
	struct kfd_ioctl_acquire_vm_args args = { .gpu_id = gpu->node.gpu_id };
	char path[40];
	int ret;

	gpu->drm_fd = -1;
	*what = "get the process apertures";
	ret = check_aperture(kfd, gpu->node.gpu_id);
	if (ret)
		return ret;
	*what = "open the render node";
	snprintf(path, sizeof(path), "/dev/dri/renderD%u", gpu->node.render_minor);
	gpu->drm_fd = open(path, O_RDWR | O_CLOEXEC);
	if (gpu->drm_fd < 0)
		return -errno;
	*what = "acquire the GPU's address space";
	args.drm_fd = (uint32_t)gpu->drm_fd;
	return load_kfd_ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &args);
}

void load_gpu_release(struct load_gpu *gpu)
{
	if (gpu->doorbells)
		munmap(gpu->doorbells, DOORBELL_SLICE);
	if (gpu->drm_fd >= 0)
		close(gpu->drm_fd);
	gpu->doorbells = NULL;
	gpu->drm_fd = -1;
}

int load_runtime(int kfd, bool enable)
{
	struct kfd_ioctl_runtime_enable_args args = {
		.mode_mask = enable ? KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK : 0,
	};

	return load_kfd_ioctl(kfd, AMDKFD_IOC_RUNTIME_ENABLE, &args);
}

static int map_to_gpu(int kfd, const struct load_gpu *gpu, uint64_t handle)
{
	struct kfd_ioctl_map_memory_to_gpu_args args = {
		.handle = handle,
		.device_ids_array_ptr = (uintptr_t)&gpu->node.gpu_id,
		.n_devices = 1,
	};

	return load_kfd_ioctl(kfd, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &args);
}

static void unmap_from_gpu(int kfd, const struct load_buffer *buf)
{
	struct kfd_ioctl_unmap_memory_from_gpu_args args = {
		.handle = buf->handle,
		.device_ids_array_ptr = (uintptr_t)&buf->gpu_id,
		.n_devices = 1,
	};

	load_kfd_ioctl(kfd, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &args);
}

static void free_handle(int kfd, uint64_t handle)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = handle };

	load_kfd_ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
}

int load_buffer_alloc(int kfd, const struct load_gpu *gpu, size_t size, struct load_buffer *buf)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {};
	void *cpu;
	int ret;

	/* The save area is tens of MB and hardly touched: no reserve. */
	cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (cpu == MAP_FAILED)
		return -errno;
	args.va_addr = (uintptr_t)cpu;
	args.mmap_offset = (uintptr_t)cpu;
	args.size = size;
	args.gpu_id = gpu->node.gpu_id;
	args.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
		     KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
		     KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE;
	ret = load_kfd_ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args);
	if (ret)
		goto err_unmap;
	ret = map_to_gpu(kfd, gpu, args.handle);
	if (ret)
		goto err_free;
	*buf = (struct load_buffer){
		.cpu = cpu,
		.size = size,
		.handle = args.handle,
		.gpu_id = gpu->node.gpu_id,
	};
	return 0;

err_free:
	free_handle(kfd, args.handle);
err_unmap:
	munmap(cpu, size);
	return ret;
}

void load_buffer_free(int kfd, struct load_buffer *buf)
{
	if (!buf->handle)
		return;
	/* KFD refuses to free what the GPU still sees. */
	unmap_from_gpu(kfd, buf);
	free_handle(kfd, buf->handle);
	munmap(buf->cpu, buf->size);
	*buf = (struct load_buffer){};
}
