// SPDX-License-Identifier: GPL-2.0-only
/* By the linker's --wrap, see unit.mk. */
#include <check.h>
#include <dirent.h>
#include <mntent.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

#include "hold/run-dir.h"
#include "lib/see/words.h"
#include "unit-host.h"
#include "unit-memory.h"
#include "unit.h"

#define MOUNT	  HOLD_DIR "-cgroup"
#define MOUNT_V1  HOLD_DIR "-freezer"
#define MOUNTS	  HOLD_DIR "-mounts"
#define PROCESSES 8
#define CHILDREN  64

const char *unit_path_fails;
const char *unit_path_from, *unit_path_to;
int unit_path_errno;
int unit_fork_fails;
int unit_fork_errno;
int unit_thread_fails;
int unit_signalfd_fails;
int unit_signalfd_errno;
int unit_mmap_fails;
int unit_unshare_fails;
bool unit_freezer_stays;
unsigned int unit_attributes_read;
void (*unit_before_ppoll)(void);

static bool made_up;
static int mounts_writer;
static pid_t children[CHILDREN];
static size_t n_children;
static struct {
	pid_t pid;
	const char *text;
} members[PROCESSES];

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

UNIT_WRAP(int, ppoll,
	  (struct pollfd *const fds, nfds_t n, const struct timespec *timeout,
	   const sigset_t *mask))
{
	static const struct timespec none;
	int ret;

	if (unit_before_ppoll)
		unit_before_ppoll();
	if (!timeout || !unit_time_is_made_up())
		return __real_ppoll(fds, n, timeout, mask);
	ret = __real_ppoll(fds, n, &none, mask);
	if (!ret)
		clock_nanosleep(CLOCK_MONOTONIC, 0, timeout, NULL);
	return ret;
}

UNIT_WRAP(int, unshare, (int flags))
{
	/* Threads come here at the same time. */
	if (!__atomic_sub_fetch(&unit_unshare_fails, 1, __ATOMIC_SEQ_CST)) {
		errno = ENOMEM;
		return -1;
	}
	return __real_unshare(flags);
}

UNIT_WRAP(int, signalfd, (int fd, const sigset_t *set, int flags))
{
	if (unit_signalfd_fails && !--unit_signalfd_fails) {
		errno = unit_signalfd_errno;
		return -1;
	}
	return __real_signalfd(fd, set, flags);
}

UNIT_WRAP(void *, mmap,
	  (void *address, size_t size, int protection, int flags, int fd, off_t offset))
{
	if (unit_mmap_fails && !--unit_mmap_fails) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(address, size, protection, flags, fd, offset);
}

struct begin {
	void *(*run)(void *arg);
	void *arg;
	sem_t begun;
};

static void *begin_thread(void *arg)
{
	struct begin *b = arg;
	void *(*run)(void *arg) = b->run;

	arg = b->arg;
	sem_post(&b->begun);
	return run(arg);
}

/*
 * Returns when the thread has begun: AddressSanitizer takes memory for it before, and a
 * child of a fork() at that moment would wait for the lock of its allocator for ever.
 */
UNIT_WRAP(int, pthread_create,
	  (pthread_t *const thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg))
{
	struct begin b = { .run = run, .arg = arg };
	int code = EAGAIN; /* not negative, as pthread_create() has it */

	sem_init(&b.begun, 0, 0);
	if (!unit_thread_fails || --unit_thread_fails)
		code = __real_pthread_create(thread, attr, begin_thread, &b);
	while (!code && sem_wait(&b.begun))
		;
	sem_destroy(&b.begun);
	return code;
}

/* A file of that name stands for the attribute, which only root can give. */
UNIT_WRAP(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size))
{
	int file = openat(fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	unit_attributes_read++;
	if (file < 0)
		return __real_fgetxattr(fd, name, value, size);
	n = read(file, value, size);
	close(file);
	return n;
}

/* Without check's lock: a child of a thread comes here, too. */
static void write_text(const char *path, const char *text)
{
	FILE *f = __real_fopen(path, "w");

	if (!f) {
		perror(path);
		abort();
	}
	fputs(text, f);
	fclose(f);
}

void unit_fail_path(const char *end, int code)
{
	unit_path_fails = end;
	unit_path_errno = code;
}

static bool is_below(const char *path, const char *dir)
{
	return !strncmp(path, dir, strlen(dir)) && path[strlen(dir)] == '/';
}

static bool fails(const char *path)
{
	size_t len, end;

	if (!unit_path_fails)
		return false;
	len = strlen(path);
	end = strlen(unit_path_fails);
	if (len < end || strcmp(path + len - end, unit_path_fails))
		return false;
	errno = unit_path_errno;
	return true;
}

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | __O_TMPFILE)) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (fails(path))
		return -1;
	if (unit_path_from && !strcmp(path, unit_path_from))
		path = unit_path_to;
	return __real_open(path, flags, mode);
}

static void write_at(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(name);
		abort();
	}
	close(fd);
}

static const char *events_text(bool frozen)
{
	return frozen ? "populated 1\nfrozen 1\n" : "populated 1\nfrozen 0\n";
}

/* The files that the kernel puts into a group. */
static void fill_group_at(int dir)
{
	write_at(dir, "cgroup.procs", "");
	write_at(dir, "cgroup.freeze", "0\n");
	write_at(dir, "cgroup.events", events_text(false));
}

static void fill_group(const char *path)
{
	int dir = __real_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	fill_group_at(dir);
	close(dir);
}

/* A level at a time: the path can be longer than one call takes. Makes what is not there. */
static int open_group(const char *group)
{
	int dir = __real_open(MOUNT, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	char *path = strdup(group), *part, *rest = NULL;

	for (part = strtok_r(path, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		bool made = !mkdirat(dir, part, 0755);
		int next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		ck_assert_int_ge(next, 0);
		close(dir);
		dir = next;
		if (made)
			fill_group_at(dir);
	}
	free(path);
	return dir;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	int ret = fails(path) ? -1 : __real_mkdir(path, mode);

	/* Make a cgroup that no process can enter empty, so that it can go. */
	if (!ret && made_up && is_below(path, MOUNT) && !unit_path_fails)
		fill_group(path);
	return ret;
}

/* A holder goes to the root directory, and HOLD_DIR is a relative path here. */
UNIT_WRAP(int, chdir, (const char *path))
{
	return strcmp(path, "/") ? __real_chdir(path) : 0;
}

UNIT_WRAP(pid_t, fork, (void))
{
	pid_t pid;

	if (unit_fork_fails && !--unit_fork_fails) {
		errno = EAGAIN;
		return -1;
	}
	if (unit_fork_errno) {
		errno = unit_fork_errno;
		return -1;
	}
	pid = __real_fork();
	if (!pid)
		n_children = 0;
	else if (pid > 0 && n_children < CHILDREN)
		children[n_children++] = pid;
	return pid;
}

pid_t unit_make_sleeper(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(1);
}

pid_t unit_last_child(void)
{
	return n_children ? children[n_children - 1] : 0;
}

void unit_wait_for_children(pid_t other_than)
{
	size_t i;

	for (i = 0; i < n_children; i++)
		if (children[i] != other_than)
			waitpid(children[i], NULL, 0);
}

/* Whose "/proc/PID/cgroup" that is; 0: no such path. */
static pid_t owner_of(const char *path)
{
	char after[8];
	int pid;

	if (!strcmp(path, "/proc/self/cgroup"))
		return getpid();
	if (sscanf(path, "/proc/%d/%7s", &pid, after) != 2 || strcmp(after, "cgroup"))
		return 0;
	return pid;
}

static const char *text_of(pid_t pid)
{
	const char *text = "0::/\n";
	int i;

	for (i = 0; i < PROCESSES; i++) {
		if (members[i].text && members[i].pid == pid)
			return members[i].text;
		if (members[i].text && !members[i].pid)
			text = members[i].text;
	}
	/* The part of the hierarchy that is mounted need not have its root. */
	if (strstr(text, ":freezer:") && unit_freezer_left() && !unit_freezer_stays)
		return "0::/\n";
	return text;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	pid_t pid = made_up ? owner_of(path) : 0;
	FILE *f;

	if (fails(path))
		return NULL;
	if (!pid || access(path, F_OK))
		return __real_fopen(path, mode);
	if (!strcmp(text_of(pid), UNIT_CGROUP_TOO_LONG)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	f = tmpfile();
	if (!f)
		return NULL;
	fputs(text_of(pid), f);
	rewind(f);
	return f;
}

UNIT_WRAP(FILE *, setmntent, (const char *path, const char *mode))
{
	if (fails(path))
		return NULL;
	if (made_up && !strcmp(path, "/proc/self/mounts"))
		path = MOUNTS;
	return __real_setmntent(path, mode);
}

void unit_cgroups_mounted(bool v2, bool v1)
{
	FILE *f = __real_fopen(MOUNTS, "w");

	ck_assert_ptr_nonnull(f);
	fputs("proc /proc proc rw 0 0\n", f);
	if (v1)
		fputs("cgroup " MOUNT_V1 " cgroup rw,freezer 0 0\n", f);
	if (v2)
		fputs("cgroup2 " MOUNT " cgroup2 rw,nsdelegate 0 0\n", f);
	fclose(f);
}

void unit_mounts(const char *text)
{
	write_text(MOUNTS, text);
}

void unit_mounts_wait(void)
{
	ck_assert_int_eq(rename(MOUNTS, MOUNTS "-later"), 0);
	ck_assert_int_eq(mkfifo(MOUNTS, 0600), 0);
	mounts_writer = __real_open(MOUNTS, O_RDWR | O_CLOEXEC, 0);
	ck_assert_int_ge(mounts_writer, 0);
}

void unit_mounts_go_on(void)
{
	ck_assert_int_eq(rename(MOUNTS "-later", MOUNTS), 0);
	close(mounts_writer);
}

void hold_dir_setup(void)
{
	static char title[64] = "gpreempt-ctl";
	static char *argv[] = { title, NULL };

	ck_assert_int_eq(system("rm -rf " HOLD_DIR), 0);
	ck_assert_int_eq(hold_dir_prepare(), 0);
	shr_title_init(1, argv);
}

void unit_cgroups_start(void)
{
	ck_assert_int_eq(system("rm -rf " MOUNT " " MOUNT_V1), 0);
	ck_assert_int_eq(__real_mkdir(MOUNT, 0755), 0);
	ck_assert_int_eq(__real_mkdir(MOUNT_V1, 0755), 0);
	fill_group(MOUNT);
	fill_group(MOUNT_V1);
	unit_cgroups_mounted(true, false);
	memset(members, 0, sizeof(members));
	made_up = true;
}

void unit_cgroups_stop(void)
{
	made_up = false;
	ck_assert_int_eq(system("rm -rf " MOUNT " " MOUNT_V1 " " MOUNTS), 0);
}

void unit_cgroup_of(pid_t pid, const char *text)
{
	int i = 0;

	while (members[i].text && members[i].pid != pid)
		ck_assert_int_lt(++i, PROCESSES);
	members[i].pid = pid;
	members[i].text = text;
}

static const char *path_of(const char *group, const char *file)
{
	static char path[512];

	snprintf(path, sizeof(path), MOUNT "%s%s", group, file);
	return path;
}

void unit_cgroup_make(const char *group)
{
	close(open_group(group));
}

void unit_cgroup_make_unused(const char *group)
{
	ck_assert_int_eq(__real_mkdir(path_of(group, ""), 0755), 0);
}

void unit_cgroup_set(const char *group, bool freeze, bool frozen)
{
	int dir = open_group(group);

	write_at(dir, "cgroup.freeze", freeze ? "1\n" : "0\n");
	write_at(dir, "cgroup.events", events_text(frozen));
	close(dir);
}

void unit_cgroup_freeze(const char *group, bool frozen)
{
	unit_cgroup_set(group, frozen, frozen);
}

void unit_cgroup_role(const char *group, const char *role)
{
	int dir = open_group(group);

	write_at(dir, GP_ROLE_ATTRIBUTE, role);
	close(dir);
}

const char *unit_cgroup_root(void)
{
	return MOUNT;
}

void unit_cgroup_long(char *group, size_t len, size_t part)
{
	size_t at = strlen(group);

	while (at < len) {
		size_t n = len - at > 2 * (part + 1) ? part + 1 : len - at;

		/* The last two share what is left. */
		if (n > 256)
			n /= 2;
		group[at] = '/';
		memset(group + at + 1, 'm', n - 1);
		at += n;
	}
	group[at] = '\0';
	unit_cgroup_make(group);
}

bool unit_cgroup_exists(const char *group)
{
	return !access(path_of(group, ""), F_OK);
}

static bool is_written(const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_size;
}

bool unit_cgroup_entered(const char *group)
{
	return is_written(path_of(group, "/cgroup.procs"));
}

bool unit_freezer_left(void)
{
	return is_written(MOUNT_V1 "/cgroup.procs");
}

size_t unit_threads(pid_t pid, const char *name)
{
	char path[320], comm[32];
	struct dirent *entry;
	size_t n = 0;
	DIR *tasks;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", pid, entry->d_name);
		f = *entry->d_name != '.' ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		n += fgets(comm, sizeof(comm), f) && !strncmp(comm, name, strlen(name));
		fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return n;
}

int unit_terminal_open(int *slave)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(grantpt(terminal) || unlockpt(terminal), 0);
	*slave = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(*slave, 0);
	return terminal;
}

void unit_terminal_read(int terminal, char *text, size_t size, const char *until)
{
	size_t used = strlen(text);
	ssize_t n;

	while (!strstr(text, until)) {
		unit_readable(terminal);
		n = read(terminal, text + used, size - 1 - used);
		ck_assert_int_gt(n, 0);
		used += n;
		text[used] = '\0';
	}
}
