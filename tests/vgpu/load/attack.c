// SPDX-License-Identifier: GPL-2.0-only
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CROWD_THREADS 200
#define CROWD_TICK_NS 1000000

/* The driver faults the pages of user memory in while it has the process's mutex. */
static int hold_driver(struct load_process *proc, const char *path)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.size = size,
		.gpu_id = proc->gpus[0].node.gpu_id,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE,
	};
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *page;

	if (fd < 0)
		return -errno;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	args.va_addr = (uintptr_t)page;
	args.mmap_offset = (uintptr_t)page;
	return load_kfd_ioctl(proc->kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args);
}

/* The file takes the number of /dev/kfd, which gets another one. */
static int take_number(struct load_process *proc, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), number = proc->kfd;

	if (fd < 0)
		return -errno;
	proc->kfd = fcntl(number, F_DUPFD_CLOEXEC, 500);
	if (proc->kfd < 0 || dup2(fd, number) < 0)
		return -errno;
	return 0;
}

/* From number to number: at each moment there is one. */
static int move_around(struct load_process *proc)
{
	time_t end = time(NULL) + 10;
	int other;

	while (time(NULL) < end) {
		other = fcntl(proc->kfd, F_DUPFD_CLOEXEC, proc->kfd < 600 ? 600 : 500);
		if (other < 0)
			return -errno;
		close(proc->kfd);
		proc->kfd = other;
	}
	return 0;
}

int load_attack(struct load_process *proc, const struct load_args *args, const char **what)
{
	switch (args->attack) {
	case LOAD_ATTACK_DRIVER:
		*what = "give the driver a page";
		return hold_driver(proc, args->attack_file);
	case LOAD_ATTACK_NUMBER:
		*what = "change the descriptors";
		return take_number(proc, args->attack_file);
	case LOAD_ATTACK_MOVE:
		*what = "move the descriptor";
		return move_around(proc);
	default:
		*what = "execute a program";
		if (args->attack_file)
			execl(args->attack_file, "file", NULL);
		else
			execlp("sleep", "sleep", "60", NULL);
		return -errno;
	}
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	while (pause())
		;
	return NULL;
}

static void on_tick(int sig)
{
	(void)sig;
}

int load_ticks(void)
{
	const struct itimerspec period = {
		.it_value.tv_nsec = CROWD_TICK_NS,
		.it_interval.tv_nsec = CROWD_TICK_NS,
	};
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) || timer_settime(timer, 0, &period, NULL))
		return -errno;
	return 0;
}

int load_crowd(unsigned int files)
{
	const struct rlimit limit = { files + 1000, files + 1000 };
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;
	int ret = 0;

	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < files; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			return -errno;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (i = 0; !ret && i < CROWD_THREADS; i++)
		ret = -pthread_create(&thread, &attr, wait_for_ever, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}
