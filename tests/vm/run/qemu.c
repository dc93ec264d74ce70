// SPDX-License-Identifier: GPL-2.0-only
/* A QEMU process: its arguments, its sockets, its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmrun.h"

static const char *const port_names[WIRE_PORTS] = WIRE_PORT_NAMES;

/*
 * tsc=reliable: no watchdog of the clock. A busy host makes it doubt the TSC, and the
 * code patching that follows has crashed guests under TCG; what is left then is the HPET,
 * a system call and a trip to the emulator for each look at the clock.
 * rdrand: without it, programs that want random numbers wait for ever.
 * loglevel: the serial console is slow, so only warnings go there; a panic shows everything.
 */
#define KERNEL_LINE                                                  \
	"console=ttyS0 tsc=reliable oops=panic panic=-1 loglevel=5 " \
	"log_buf_len=4M random.trust_cpu=on"
#define PROCESSOR "qemu64,+rdrand"

#define ARGS_MAX 96

struct args {
	char *v[ARGS_MAX];
	int n;
};

__attribute__((format(printf, 2, 3))) static void add(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (a->n >= ARGS_MAX - 1 || vasprintf(&a->v[a->n++], fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	a->v[a->n] = NULL;
}

static void free_args(struct args *a)
{
	while (a->n)
		free(a->v[--a->n]);
}

/* An image whose root is a disk has that beside it; the image's key covers it. */
static bool has_disk(const struct bench *b, char *path, size_t size)
{
	snprintf(path, size, "%s/vm/%s/disk.img", b->build, b->image);
	return !access(path, R_OK);
}

/*
 * A guest that has nothing to do goes on to its next timer at once, but one that waits for
 * its disk, which is in our time, would be at the end of all its limits before an answer.
 */
static const char *sleep_of(const struct bench *b)
{
	char path[PATH_MAX + 16];

	return has_disk(b, path, sizeof(path)) ? "on" : "off";
}

/*
 * Waves are executed by a plugin of QEMU's emulator, which shares the guest's memory. That
 * memory has small pages on the host, which slows a guest down, so others have their own. It has
 * their name, pc.ram, by which a saved guest finds it again.
 */
static bool has_engine(const struct bench *b, const char *accel)
{
	return b->waves && b->engine[0] && !strcmp(accel, "tcg");
}

/* Add the parts of the machine that a saved guest must find again when it is restored. */
static void machine_args(struct args *a, const struct bench *b, const char *accel)
{
	add(a, "%s", b->qemu);
	add(a, "-nodefaults");
	add(a, "-no-user-config");
	add(a, "-no-reboot");
	add(a, "-display");
	add(a, "none");
	add(a, "-machine");
	add(a, "pc%s", has_engine(b, accel) ? ",memory-backend=pc.ram" : "");
	if (has_engine(b, accel)) {
		add(a, "-object");
		add(a, "memory-backend-memfd,id=pc.ram,share=on,size=%sM", b->memory);
	}
	add(a, "-accel");
	add(a, "%s", accel);
	if (b->counted) {
		add(a, "-icount");
		add(a, "shift=%d,sleep=%s", ffs(b->counted) - 1, sleep_of(b));
	}
	add(a, "-cpu");
	add(a, "%s", PROCESSOR);
	add(a, "-smp");
	add(a, "%s", b->processors);
	add(a, "-m");
	add(a, "%s", b->memory);
	add(a, "-rtc");
	add(a, "base=2026-01-01,clock=vm");
	add(a, "-append");
	add(a, KERNEL_LINE "%s %s", b->chaos ? " preempt=full" : "", b->append ? b->append : "");
}

static void disk_args(struct args *a, const struct bench *b)
{
	char path[PATH_MAX + 16];

	if (!has_disk(b, path, sizeof(path)))
		return;
	add(a, "-drive");
	add(a, "if=none,id=disk,format=raw,readonly=on,file=%s", path);
	add(a, "-device");
	add(a, "virtio-scsi-pci,ioeventfd=off");
	add(a, "-device");
	add(a, "scsi-hd,drive=disk");
}

static void file_args(struct args *a, const struct bench *b, const char *dir, const char *item)
{
	add(a, "-kernel");
	add(a, "%s/vm/%s/vmlinuz", b->build, b->image);
	add(a, "-initrd");
	add(a, "%s/vm/%s/initrd.img", b->build, b->image);
	add(a, "-serial");
	add(a, "file:%s/serial.log", dir);
	add(a, "-drive");
	add(a, "if=none,id=payload,format=raw,readonly=on,file=%s", b->payload);
	add(a, "-device");
	add(a, "virtio-blk-pci,drive=payload,ioeventfd=off");
	disk_args(a, b);
	add(a, "-seed");
	add(a, "%d", b->seed);
	if (!item)
		return;
	add(a, "-fw_cfg");
	add(a, "name=%s,file=%s/" JOB_FILE, item, dir);
}

static void port_args(struct args *a, const int far[WIRE_PORTS], int qmp)
{
	int i;

	add(a, "-device");
	add(a, "virtio-serial-pci,ioeventfd=off");
	for (i = 0; i < WIRE_PORTS; i++) {
		add(a, "-chardev");
		add(a, "socket,id=c%d,fd=%d", i, far[i]);
		add(a, "-device");
		add(a, "virtserialport,chardev=c%d,name=%s", i, port_names[i]);
	}
	add(a, "-chardev");
	add(a, "socket,id=qmp,fd=%d", qmp);
	add(a, "-mon");
	add(a, "chardev=qmp,mode=control");
}

void vm_command_line(const struct bench *b, char *buf, size_t size)
{
	struct args a = { .n = 0 };
	size_t len = 0;
	int i;

	machine_args(&a, b, b->accel);
	buf[0] = '\0';
	/* Without the program: where it lies does not matter. */
	for (i = 1; i < a.n && len < size; i++)
		len += snprintf(buf + len, size - len, "%s ", a.v[i]);
	free_args(&a);
}

/* The near end stays with us, the far end goes to QEMU. */
static int socket_pair(int *near, int *far)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	*near = pair[0];
	*far = pair[1];
	return 0;
}

static void become_qemu(const struct args *a, const char *dir, const int far[WIRE_PORTS], int qmp,
			pid_t parent)
{
	char path[PATH_MAX + 16];
	int fd, i;

	/* A runner that is killed takes its machine along. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* A ^C is the guest's or the runner's, never QEMU's. */
	setsid();
	for (i = 0; i < WIRE_PORTS; i++)
		fcntl(far[i], F_SETFD, 0);
	fcntl(qmp, F_SETFD, 0);
	snprintf(path, sizeof(path), "%s/qemu.log", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	dup2(fd, 2);
	dup2(fd, 1);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, 0);
	execvp(a->v[0], a->v);
	dprintf(2, "%s: %s\n", a->v[0], strerror(errno));
	_exit(127);
}

int vm_start(struct vm *vm, const struct bench *b, const char *accel, const char *incoming,
	     const char *item)
{
	int far[WIRE_PORTS], qmp = -1, i, ret;
	struct args a = { .n = 0 };
	pid_t parent = getpid();

	ret = make_dirs(vm->dir);
	for (i = 0; !ret && i < WIRE_PORTS; i++)
		ret = socket_pair(&vm->port[i], &far[i]);
	if (!ret)
		ret = socket_pair(&vm->qmp, &qmp);
	if (ret)
		return ret;
	machine_args(&a, b, accel);
	file_args(&a, b, vm->dir, item);
	port_args(&a, far, qmp);
	if (has_engine(b, accel)) {
		add(&a, "-plugin");
		add(&a, "file=%s", b->engine);
	}
	if (incoming) {
		add(&a, "-incoming");
		add(&a, "%s", incoming);
	}
	vm->pid = fork();
	if (!vm->pid)
		become_qemu(&a, vm->dir, far, qmp, parent);
	ret = vm->pid < 0 ? -errno : 0;
	for (i = 0; i < WIRE_PORTS; i++)
		close(far[i]);
	close(qmp);
	free_args(&a);
	return ret;
}

static void count_cpu(struct vm *vm, const struct rusage *used)
{
	vm->cpu = used->ru_utime.tv_sec + used->ru_stime.tv_sec +
		  (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
}

bool vm_died(struct vm *vm, int *status)
{
	struct rusage used;

	if (vm->pid > 0 && wait4(vm->pid, status, WNOHANG, &used) != vm->pid)
		return false;
	if (vm->pid > 0)
		count_cpu(vm, &used);
	vm->pid = 0;
	return true;
}

void vm_stop(struct vm *vm)
{
	struct rusage used;
	int i;

	if (vm->pid > 0) {
		kill(vm->pid, SIGKILL);
		if (wait4(vm->pid, NULL, 0, &used) == vm->pid)
			count_cpu(vm, &used);
	}
	vm->pid = 0;
	for (i = 0; i < WIRE_PORTS; i++)
		close(vm->port[i]);
	close(vm->qmp);
}
