// SPDX-License-Identifier: GPL-2.0-only
/* A command as a process: its end, libraries loaded on demand, descriptions of processes. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
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
