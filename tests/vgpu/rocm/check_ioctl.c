// SPDX-License-Identifier: GPL-2.0-only
/*
 * KFD's ioctls that the virtual GPU does not serve, made directly, from a
 * process that ROCr has set up: each must come back as an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define SIZE 65536

struct raw {
	int kfd;
	uint32_t gpu_id; /* the first GPU */
	void *va;	 /* address space of our own */
	uint64_t handle; /* memory of that GPU at va */
};

static int refused(const char *name, int ret)
{
	printf("  %s: %s\n", name, ret ? strerror(errno) : "success");
	return ret ? 0 : -1;
}

static int first_gpu(struct raw *raw)
{
	struct kfd_process_device_apertures apertures = {};
	struct kfd_ioctl_get_process_apertures_new_args args = {
		.kfd_process_device_apertures_ptr = (uintptr_t)&apertures,
		.num_of_nodes = 1,
	};

	if (ioctl(raw->kfd, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args))
		return -1;
	raw->gpu_id = apertures.gpu_id;
	return 0;
}

static int open_raw(struct raw *raw)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.size = SIZE,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE,
	};

	/* The process is ROCr's: KFD knows one a process. */
	raw->kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	raw->va = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(raw->kfd >= 0 && raw->va != MAP_FAILED);
	MUST(first_gpu(raw) == 0);
	args.va_addr = (uintptr_t)raw->va;
	args.gpu_id = raw->gpu_id;
	MUST(ioctl(raw->kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args) == 0);
	raw->handle = args.handle;
	return 0;
}

static int close_raw(struct raw *raw)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = raw->handle };

	MUST(ioctl(raw->kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args) == 0);
	munmap(raw->va, SIZE);
	close(raw->kfd);
	return 0;
}

static int export(struct raw *raw)
{
	struct kfd_ioctl_export_dmabuf_args args = { .handle = raw->handle, .flags = O_CLOEXEC };

	return refused("EXPORT_DMABUF", ioctl(raw->kfd, AMDKFD_IOC_EXPORT_DMABUF, &args));
}

/* A buffer that is a real dma-buf, of ordinary memory. */
static int make_dmabuf(void)
{
	struct udmabuf_create args = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = SIZE };
	int memory = memfd_create("check", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;

	if (memory >= 0 && device >= 0 && !ftruncate(memory, SIZE) &&
	    !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK)) {
		args.memfd = (uint32_t)memory;
		fd = ioctl(device, UDMABUF_CREATE, &args);
	}
	close(memory);
	close(device);
	return fd;
}

static int import(struct raw *raw)
{
	struct kfd_ioctl_import_dmabuf_args args = { .gpu_id = raw->gpu_id };
	struct kfd_ioctl_get_dmabuf_info_args info = {};
	int fd = make_dmabuf(), ret;

	if (fd < 0) {
		printf("  IMPORT_DMABUF: no dma-buf to import here\n");
		return 0;
	}
	args.va_addr = (uintptr_t)raw->va;
	args.dmabuf_fd = (uint32_t)fd;
	info.dmabuf_fd = (uint32_t)fd;
	ret = refused("IMPORT_DMABUF", ioctl(raw->kfd, AMDKFD_IOC_IMPORT_DMABUF, &args));
	if (!ret)
		ret = refused("GET_DMABUF_INFO",
			      ioctl(raw->kfd, AMDKFD_IOC_GET_DMABUF_INFO, &info));
	close(fd);
	return ret;
}

/* Newer drivers answer who asks for no attribute; check_unserved.c sets one. */
static void svm(struct raw *raw)
{
	struct kfd_ioctl_svm_args args = {
		.start_addr = (uintptr_t)raw->va,
		.size = SIZE,
		.op = KFD_IOCTL_SVM_OP_GET_ATTR,
	};

	printf("  SVM: %s\n", ioctl(raw->kfd, AMDKFD_IOC_SVM, &args) ? strerror(errno) : "success");
}

/* Checkpoint: asking what there is may work, taking it must fail. */
static int checkpoint(struct raw *raw)
{
	struct kfd_ioctl_criu_args args = { .op = KFD_CRIU_OP_PROCESS_INFO };
	struct kfd_ioctl_criu_args on = { .op = KFD_CRIU_OP_UNPAUSE };
	int ret;

	ret = ioctl(raw->kfd, AMDKFD_IOC_CRIU_OP, &args);
	printf("  CRIU_OP PROCESS_INFO: %s\n", ret ? strerror(errno) : "success");
	if (ret)
		return 0;
	args.op = KFD_CRIU_OP_CHECKPOINT;
	args.devices = (uintptr_t)calloc(args.num_devices, sizeof(struct kfd_criu_device_bucket));
	args.bos = (uintptr_t)calloc(args.num_bos, sizeof(struct kfd_criu_bo_bucket));
	args.priv_data = (uintptr_t)calloc(1, args.priv_data_size);
	ret = refused("CRIU_OP CHECKPOINT", ioctl(raw->kfd, AMDKFD_IOC_CRIU_OP, &args));
	free((void *)(uintptr_t)args.devices);
	free((void *)(uintptr_t)args.bos);
	free((void *)(uintptr_t)args.priv_data);
	MUST(ioctl(raw->kfd, AMDKFD_IOC_CRIU_OP, &on) == 0);
	return ret;
}

int check_refused_ioctls(struct check *c)
{
	struct raw raw;

	if (open_raw(&raw) || export(&raw) || import(&raw))
		return -1;
	svm(&raw);
	if (checkpoint(&raw) || close_raw(&raw))
		return -1;
	/* All other calls still work. */
	return check_dispatch(c);
}
