// SPDX-License-Identifier: GPL-2.0-only
/*
 * silent-files DIR: a FUSE server, as any user can have one. It mounts one file,
 * DIR/file, a script that sleeps. While the server is silent, it answers no read and no
 * close of that file: the caller then waits in the kernel, and not even SIGKILL ends
 * the wait. The server begins silent. SIGUSR1: it answers, also what has waited.
 * SIGUSR2: it is silent again. It prints "waits read" and "waits close" for each
 * request that it keeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NODE 2
#define FILE_SIZE 4096
#define MOST_KEPT 64

static const char script[] = "#!/bin/sh\nexec sleep 60\n";

struct request {
	struct fuse_in_header head;
	char body[128 * 1024];
};

static struct request request;
static uint64_t kept[MOST_KEPT];
static uint32_t kept_op[MOST_KEPT];
static unsigned int n_kept;
static bool silent = true;
static volatile sig_atomic_t asked; /* SIGUSR1 or SIGUSR2 */
static int device;

static void answer(uint64_t unique, int error, const void *body, size_t size)
{
	struct {
		struct fuse_out_header head;
		char body[FILE_SIZE];
	} reply = {
		.head = {
			.len = sizeof(reply.head) + size,
			.error = error,
			.unique = unique,
		},
	};

	memcpy(reply.body, body ? body : "", size);
	if (write(device, &reply, reply.head.len) < 0 && errno != ENOENT)
		perror("silent-files: answer");
}

static struct fuse_attr attributes(uint64_t node)
{
	bool file = node == FILE_NODE;

	return (struct fuse_attr){
		.ino = node,
		.size = file ? FILE_SIZE : 0,
		.mode = file ? S_IFREG | 0777 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = FILE_SIZE,
	};
}

static void answer_init(uint64_t unique)
{
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = FILE_SIZE,
		.max_background = MOST_KEPT,
		.congestion_threshold = MOST_KEPT,
	};

	answer(unique, 0, &init, sizeof(init));
}

static void answer_lookup(uint64_t unique)
{
	const struct fuse_entry_out entry = {
		.nodeid = FILE_NODE,
		.attr = attributes(FILE_NODE),
	};
	bool found = !strcmp(request.body, "file");

	answer(unique, found ? 0 : -ENOENT, &entry, found ? sizeof(entry) : 0);
}

static void answer_attributes(uint64_t unique)
{
	const struct fuse_attr_out out = {
		.attr = attributes(request.head.nodeid),
	};

	answer(unique, 0, &out, sizeof(out));
}

/* A page of it, whichever is asked for. */
static void answer_kept(uint64_t unique, uint32_t op)
{
	char page[FILE_SIZE] = { 0 };

	memcpy(page, script, sizeof(script) - 1);
	answer(unique, 0, page, op == FUSE_READ ? sizeof(page) : 0);
}

static void keep(uint64_t unique, uint32_t op)
{
	if (!silent || n_kept == MOST_KEPT) {
		answer_kept(unique, op);
		return;
	}
	kept[n_kept] = unique;
	kept_op[n_kept++] = op;
	printf("waits %s\n", op == FUSE_READ ? "read" : "close");
}

static void serve(void)
{
	const struct fuse_open_out opened = { .fh = 1 };
	uint64_t unique = request.head.unique;

	switch (request.head.opcode) {
	case FUSE_INIT:
		answer_init(unique);
		break;
	case FUSE_LOOKUP:
		answer_lookup(unique);
		break;
	case FUSE_GETATTR:
		answer_attributes(unique);
		break;
	case FUSE_OPEN:
		answer(unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FLUSH:
		keep(unique, request.head.opcode);
		break;
	case FUSE_RELEASE:
		answer(unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: /* its caller was killed, and waits on */
		break;
	default:
		answer(unique, -ENOSYS, NULL, 0);
	}
}

static void obey(void)
{
	unsigned int i;

	silent = asked == SIGUSR2;
	asked = 0;
	for (i = 0; !silent && i < n_kept; i++)
		answer_kept(kept[i], kept_op[i]);
	if (!silent)
		n_kept = 0;
	puts(silent ? "silent" : "answers");
}

static void on_signal(int sig)
{
	asked = sig;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	char options[80];

	if (argc != 2) {
		fprintf(stderr, "usage: silent-files DIR\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (device < 0 || mount("silent", argv[1], "fuse", 0, options)) {
		perror("silent-files: mount");
		return 1;
	}
	puts("ready");
	for (;;) {
		ssize_t n = read(device, &request, sizeof(request));

		if (n > 0)
			serve();
		else if (errno == ENODEV) /* unmounted */
			return 0;
		if (asked)
			obey();
	}
}
