// SPDX-License-Identifier: GPL-2.0-only
/* Programs and libraries that a command needs, its own end, descriptions of processes. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/see/words.h"
#include "shared/util.h"
#include "cli.h"
#include "program.h"

#define NOT_FOUND  127
#define CANNOT_RUN 126
#define BY_SIGNAL  128

int ctl_exec(char **command, int output)
{
	int ours = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error;

	if (output < 0 || (dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0))
		execvp(command[0], command);
	/* The calls below may change errno. */
	error = errno;
	dup2(ours, STDERR_FILENO);
	ctl_fail_text(GPREEMPT_CLASS_FAILED, CTL_NO_PROGRAM, "cannot run %s: %s", command[0],
		      strerror(error));
	return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

int ctl_program_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}

static int become(void *arg)
{
	const struct ctl_child *p = arg;
	const struct rlimit most = { p->max, p->max };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, p->end);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The limit is for files without names, too. */
	if (dup2(p->in, STDIN_FILENO) < 0 || dup2(p->out, STDOUT_FILENO) < 0 ||
	    (p->with_errors && dup2(p->err, STDERR_FILENO) < 0) ||
	    (p->max && setrlimit(RLIMIT_FSIZE, &most)))
		return CANNOT_RUN;
	return ctl_exec((char **)p->argv, -1);
}

int ctl_child_start(struct ctl_child *p)
{
	__cleanup_fd int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	p->pid = 0;
	p->pidfd = -1;
	p->out = memfd_create("gpreempt-out", MFD_CLOEXEC);
	p->err = p->with_errors ? memfd_create("gpreempt-err", MFD_CLOEXEC) : -1;
	if (nothing < 0 || p->out < 0 || (p->with_errors && p->err < 0))
		return -errno;
	if (p->in < 0)
		p->in = nothing;
	fflush(stdout);
	p->pid = shr_child_start(become, p, (int[]){ p->in, p->out, p->err }, 3);
	if (p->pid > 0)
		p->pidfd = shr_pidfd_open(p->pid);
	return p->pid < 0 ? p->pid : p->pidfd < 0 ? -errno : 0;
}

bool ctl_child_wait(struct ctl_child *p, uint64_t ns)
{
	int status;

	if (p->pid <= 0)
		return true;
	if (!shr_readable(p->pidfd, ns / NSEC_PER_MSEC) || !shr_child_gone(&p->pid, &status))
		return false;
	p->status = ctl_program_status(status);
	return true;
}

/* Time in which SIGKILL ends it, unless it waits in the driver: init has it then. */
#define KILL_NS (5 * NSEC_PER_SEC)

void ctl_child_end(struct ctl_child *p, int signal, uint64_t ns)
{
	if (p->pid > 0) {
		kill(p->pid, SIGCONT);
		kill(p->pid, signal);
		if (!ctl_child_wait(p, ns))
			kill(p->pid, SIGKILL);
		ctl_child_wait(p, KILL_NS);
	}
	shr_close(&p->pidfd);
	shr_close(&p->out);
	shr_close(&p->err);
	p->pid = 0;
}

char *ctl_child_text(int fd)
{
	struct stat st = { 0 };
	char *text;
	ssize_t n;

	fstat(fd, &st);
	text = shr_must(malloc(st.st_size + 1));
	n = pread(fd, text, st.st_size, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

const char *ctl_find_program(const char *name, const char *otherwise, char *path)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *end;

	path[n > 0 ? n : 0] = '\0';
	end = strrchr(path, '/');
	if (end)
		snprintf(end + 1, path + PATH_MAX - end - 1, "%s", name);
	return end && !access(path, X_OK) ? path : otherwise;
}

static int fail(const char *soname, const char *package, const char *why)
{
	char next[128];

	snprintf(next, sizeof(next), "install %s (Debian and Ubuntu: %s)", soname, package);
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, next, "the command needs a library: %s",
			     why);
}

int dynlib_load(const char *soname, const char *package, const struct dynlib_call *calls,
		void *table)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return fail(soname, package, dlerror());
	for (; calls->name; calls++) {
		void *address = dlsym(library, calls->name);

		if (!address)
			return fail(soname, package, dlerror());
		*(void **)((char *)table + calls->offset) = address;
	}
	return 0;
}

struct job {
	struct shr_apart work; /* the first one: both have one address */
	struct gpreempt *g;
	const struct gpreempt_targets *list;
	struct ctl_described all[];
};

static size_t room(const struct gpreempt_targets *list)
{
	return sizeof(struct job) + list->count * sizeof(struct ctl_described);
}

static void describe_one(struct shr_apart *work, size_t i)
{
	struct job *job = (void *)work;

	job->all[i].code = gpreempt_describe(job->g, job->list->targets[i].pid, &job->all[i].who);
}

static void describe_without_command(struct shr_apart *work, size_t i)
{
	struct job *job = (void *)work;
	struct ctl_described *d = &job->all[i];

	d->mute = true;
	d->code = gp_identify(job->g, job->list->targets[i].pid, &d->who);
}

struct ctl_described *ctl_describe_all(struct gpreempt *g, const struct gpreempt_targets *list,
				       bool live)
{
	struct job *job;
	size_t i;

	job = mmap(NULL, room(list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shr_must(job == MAP_FAILED ? NULL : job);
	job->work = (struct shr_apart){
		.count = list->count,
		.ask = describe_one,
		.silent = describe_without_command,
	};
	job->g = g;
	job->list = list;
	if (live)
		shr_ask_apart(&job->work);
	for (i = 0; !live && i < list->count; i++)
		describe_one(&job->work, i);
	return job->all;
}

void ctl_described_free(struct ctl_described *all, const struct gpreempt_targets *list)
{
	if (all)
		munmap((char *)all - offsetof(struct job, all), room(list));
}
