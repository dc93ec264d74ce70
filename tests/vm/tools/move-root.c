// SPDX-License-Identifier: GPL-2.0-only
/*
 * move-root PID DIR: makes another process call chroot(DIR) for itself alone, as if its system
 * had started below another root than the kernel's threads, with which PID 1 shares its root at
 * first. The process has to wait in a system call, which goes on afterwards.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#define BELOW_STACK    4096 /* bytes that nothing uses */
#define SYSCALL_OPCODE 0x050f

static pid_t pid;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void await(const char *what)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		die(what);
}

static void poke(unsigned long addr, const char *text)
{
	size_t len = strlen(text) + 1, i;

	for (i = 0; i < len; i += sizeof(long)) {
		long word = 0;

		memcpy(&word, text + i, len - i < sizeof(word) ? len - i : sizeof(word));
		if (ptrace(PTRACE_POKEDATA, pid, (void *)(addr + i), (void *)word))
			die("writing the path");
	}
}

/* The process makes a system call; was: its registers, which stay as they are. */
static void call(const struct user_regs_struct *was, const char *name, long nr, unsigned long arg)
{
	struct user_regs_struct regs = *was;

	regs.rip -= 2;
	regs.rax = nr;
	regs.orig_rax = -1ULL;
	regs.rdi = arg;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
		die("its step");
	await("its step");
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		die("its registers");
	if (regs.rax) {
		fprintf(stderr, "move-root: %s: %s\n", name, strerror((int)-regs.rax));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct user_regs_struct was;
	unsigned long path;

	if (argc != 3)
		return 2;
	pid = atoi(argv[1]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		die("tracing it");
	await("its stop");
	if (ptrace(PTRACE_GETREGS, pid, NULL, &was))
		die("its registers");
	if ((ptrace(PTRACE_PEEKTEXT, pid, (void *)(was.rip - 2), NULL) & 0xffff) !=
	    SYSCALL_OPCODE) {
		fprintf(stderr, "move-root: it is not in a system call\n");
		return 1;
	}
	path = (was.rsp - BELOW_STACK) & ~7UL;
	poke(path, argv[2]);
	call(&was, "unshare", SYS_unshare, CLONE_FS);
	call(&was, "chroot", SYS_chroot, path);
	if (ptrace(PTRACE_SETREGS, pid, NULL, &was) || ptrace(PTRACE_DETACH, pid, NULL, NULL))
		die("leaving it");
	return 0;
}
