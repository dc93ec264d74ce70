// SPDX-License-Identifier: GPL-2.0-only
/* Small helpers that know nothing of machines. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vmrun.h"

void complain(const char *fmt, ...)
{
	va_list ap;

	fputs("vm: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("vm: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(125);
}

/* Memory that children share; it stays until we end. */
void *shared_zeros(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("out of memory");
	return p;
}

/* Held until the descriptor is closed. */
int lock_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			die("%s: %s", path, strerror(errno));
	return fd;
}

int make_dirs(const char *path)
{
	char part[PATH_MAX];
	char *p;

	snprintf(part, sizeof(part), "%s", path);
	for (p = strchr(part + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(part, 0755) && errno != EEXIST ? -errno : 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* The whole of it, with a zero behind; the caller frees it. NULL: errno. */
char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	struct stat st;

	if (!f)
		return NULL;
	if (!fstat(fileno(f), &st))
		text = malloc(st.st_size + 1);
	if (text) {
		*size = fread(text, 1, st.st_size, f);
		text[*size] = '\0';
	}
	fclose(f);
	return text;
}

/* Exit status, or 127 when it could not be run or was killed. */
int spawn_wait(char *const argv[])
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0)
		return 127;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}
