// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of libc's ioctl() in a GPU process: on signals it updates the queue
 * that the process made last, as a program may. SIGWINCH: no share of the
 * hardware, SIGURG: no ring either, SIGCONT: as it was made. With OTHER_TYPES in
 * the environment its queues are made for PM4 packets in place of AQL, and for
 * XGMI's SDMA engines in place of PCIe's. With SECOND_CONTEXT all that it does is in
 * a further KFD context of the process, which newer drivers make on request.
 */
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* AMDKFD_IOC_CREATE_PROCESS, which older headers lack */
#define CREATE_PROCESS _IO(AMDKFD_IOCTL_BASE, 0x27)

static struct kfd_ioctl_create_queue_args made;
static int kfd, drm;

static void update(int sig)
{
	struct kfd_ioctl_update_queue_args args = {
		.queue_id = made.queue_id,
		.ring_base_address = made.ring_base_address,
		.ring_size = made.ring_size,
		.queue_percentage = made.queue_percentage,
		.queue_priority = made.queue_priority,
	};

	if (sig != SIGCONT)
		args.queue_percentage = 0;
	if (sig == SIGURG) {
		args.ring_base_address = 0;
		args.ring_size = 0;
	}
	syscall(SYS_ioctl, kfd, AMDKFD_IOC_UPDATE_QUEUE, &args);
}

static void change_type(struct kfd_ioctl_create_queue_args *args)
{
	if (args->queue_type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL)
		args->queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE;
	else if (args->queue_type == KFD_IOC_QUEUE_TYPE_SDMA)
		args->queue_type = KFD_IOC_QUEUE_TYPE_SDMA_XGMI;
}

/*
 * The memory of a further context may not be the program's own: in its place comes
 * memory of the driver's, at the same address.
 */
static int alloc_gtt(int fd, struct kfd_ioctl_alloc_memory_of_gpu_args *args)
{
	int ret;

	args->flags &= ~KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
	args->flags |= KFD_IOC_ALLOC_MEM_FLAGS_GTT;
	args->mmap_offset = 0;
	ret = syscall(SYS_ioctl, fd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, args);
	if (ret)
		return ret;
	if (mmap((void *)(uintptr_t)args->va_addr, args->size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, drm, args->mmap_offset) == MAP_FAILED)
		return -1;
	return 0;
}

int ioctl(int fd, unsigned long request, ...);

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;
	int ret;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if (request == AMDKFD_IOC_CREATE_QUEUE && getenv("OTHER_TYPES"))
		change_type(arg);
	if (request == AMDKFD_IOC_ACQUIRE_VM)
		drm = ((struct kfd_ioctl_acquire_vm_args *)arg)->drm_fd;
	if (request == AMDKFD_IOC_ALLOC_MEMORY_OF_GPU && getenv("SECOND_CONTEXT"))
		return alloc_gtt(fd, arg);
	ret = syscall(SYS_ioctl, fd, request, arg);
	/* The first of all: the file is another context's from then on. */
	if (!ret && request == AMDKFD_IOC_GET_VERSION && getenv("SECOND_CONTEXT"))
		ret = syscall(SYS_ioctl, fd, CREATE_PROCESS, NULL);
	if (!ret && request == AMDKFD_IOC_CREATE_QUEUE) {
		made = *(struct kfd_ioctl_create_queue_args *)arg;
		kfd = fd;
		signal(SIGWINCH, update);
		signal(SIGURG, update);
		signal(SIGCONT, update);
	}
	return ret;
}
