// SPDX-License-Identifier: GPL-2.0-only
/* vmrun: run a command, a shell or tests in the bench's guest. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

static const char usage[] =
	"usage: vmrun [options] command TEXT | shell | test FILE... | save\n"
	"  --build DIR       build directory (build)\n"
	"  --harness DIR     where verify-kernel is (tests/vm)\n"
	"  --cases DIR       tests and files below it are those of the guest's /t (--harness)\n"
	"  --payload FILE    tar that the guest unpacks (DIR/vm/payload.tar)\n"
	"  --vgpu PARAMS     load vgpu.ko with them; none: do not (command, shell)\n"
	"  --gpreempt no     do not load gpreempt.ko (command, shell)\n"
	"  --timeout S       of a command (600); 0: none\n"
	"  --jobs N          tests at the same time; 0: as many as this host carries (1)\n"
	"  --plain           boot each time, save nothing\n"
	"  --append TEXT     more for the kernel command line; implies --plain\n"
	"  --counted         a command on one CPU, on which each instruction takes 2 ns,\n"
	"                    however busy we are; without KVM. =test: 4 ns, as tests\n"
	"  --real            tests: on two CPUs in real time\n"
	"  --seed N          of all that is random in the guest (1)\n"
	"  --chaos           vgpu.ko forces threads to switch, at times that the seed decides\n"
	"  --keep            tests: those that passed on the same input are not run again\n"
	"  --fresh           but all are run\n"
	"  --skips FILE      tests: a skip without a row \"CASE KERNEL REASON\" fails\n"
	"  --kernel VERSION  for these rows\n"
	"  --file NAME       put this file of --cases below the guest's /t (command)\n"
	"  --image NAME      boot DIR/vm/NAME (boot); its disk.img is the guest's root\n"
	"  --memory MIB      of the guest (768)\n"
	"  --slow N          multiply all limits of time: the guest is slow\n"
	"  --leaks           after a job, what kmemleak finds goes to its log\n"
	"  --reports FILE    reports of the kernel that fail nothing\n"
	"  --judge           a command's kernel log, as a test's\n"
	"  --waves           shader code is executed (command, shell)\n"
	"Exit status: the command's; 124 timeout, 125 the machine or we failed.\n"
	"test: 0 when none failed.\n";

enum {
	O_BUILD = 1,
	O_HARNESS,
	O_CASES,
	O_PAYLOAD,
	O_VGPU,
	O_GPREEMPT,
	O_TIMEOUT,
	O_JOBS,
	O_PLAIN,
	O_APPEND,
	O_COUNTED,
	O_REAL,
	O_SEED,
	O_CHAOS,
	O_KEEP,
	O_FRESH,
	O_SKIPS,
	O_KERNEL,
	O_FILE,
	O_IMAGE,
	O_MEMORY,
	O_SLOW,
	O_LEAKS,
	O_REPORTS,
	O_JUDGE,
	O_WAVES,
	O_HELP
};

static const struct option options[] = { { "build", required_argument, NULL, O_BUILD },
					 { "harness", required_argument, NULL, O_HARNESS },
					 { "cases", required_argument, NULL, O_CASES },
					 { "payload", required_argument, NULL, O_PAYLOAD },
					 { "vgpu", required_argument, NULL, O_VGPU },
					 { "gpreempt", required_argument, NULL, O_GPREEMPT },
					 { "timeout", required_argument, NULL, O_TIMEOUT },
					 { "jobs", required_argument, NULL, O_JOBS },
					 { "plain", no_argument, NULL, O_PLAIN },
					 { "append", required_argument, NULL, O_APPEND },
					 { "counted", optional_argument, NULL, O_COUNTED },
					 { "real", no_argument, NULL, O_REAL },
					 { "seed", required_argument, NULL, O_SEED },
					 { "chaos", no_argument, NULL, O_CHAOS },
					 { "keep", no_argument, NULL, O_KEEP },
					 { "fresh", no_argument, NULL, O_FRESH },
					 { "skips", required_argument, NULL, O_SKIPS },
					 { "kernel", required_argument, NULL, O_KERNEL },
					 { "file", required_argument, NULL, O_FILE },
					 { "image", required_argument, NULL, O_IMAGE },
					 { "memory", required_argument, NULL, O_MEMORY },
					 { "slow", required_argument, NULL, O_SLOW },
					 { "leaks", no_argument, NULL, O_LEAKS },
					 { "reports", required_argument, NULL, O_REPORTS },
					 { "judge", no_argument, NULL, O_JUDGE },
					 { "waves", no_argument, NULL, O_WAVES },
					 { "help", no_argument, NULL, O_HELP },
					 { NULL, 0, NULL, 0 } };

/* Take an option about the guest, and about the checks in it. */
static bool set_guest(int c, struct bench *b)
{
	switch (c) {
	case O_MEMORY:
		b->memory = optarg;
		return true;
	case O_SLOW:
		b->slow = atoi(optarg) > 0 ? atoi(optarg) : 1;
		return true;
	case O_LEAKS:
		b->leaks = true;
		return true;
	case O_REPORTS:
		b->reports = reports_read(optarg);
		return true;
	case O_JUDGE:
		b->judge = true;
		return true;
	case O_WAVES:
		b->waves = true;
		return true;
	case O_SEED:
		b->seed = atoi(optarg);
		return true;
	case O_CHAOS:
		b->chaos = true;
		return true;
	case O_COUNTED:
		bench_count(b, optarg ? COUNTED_TEST : COUNTED_COMMAND);
		return true;
	default:
		return false;
	}
}

/* Take an option about the choice of tests, and about their results. */
static bool set_suite(int c, struct bench *b)
{
	switch (c) {
	case O_REAL:
		b->real = true;
		return true;
	case O_KEEP:
		b->keep = true;
		return true;
	case O_FRESH:
		b->fresh = true;
		return true;
	case O_SKIPS:
		b->skips = optarg;
		return true;
	case O_KERNEL:
		b->kernel = optarg;
		return true;
	default:
		return false;
	}
}

/* Returns the number of jobs: one for each processor, and for each GiB of memory. */
static int jobs_of(int wanted)
{
	long long memory = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) >> 30;
	int n = sysconf(_SC_NPROCESSORS_ONLN);

	if (wanted > 0)
		return wanted;
	if (n > memory)
		n = memory;
	return n > 1 ? n : 1;
}

static void set_option(int c, struct bench *b, struct job *job, const char **build)
{
	if (set_guest(c, b) || set_suite(c, b))
		return;
	switch (c) {
	case O_BUILD:
		*build = optarg;
		break;
	case O_HARNESS:
		b->harness = optarg;
		break;
	case O_CASES:
		b->cases = optarg;
		break;
	case O_PAYLOAD:
		b->payload = optarg;
		break;
	case O_VGPU:
		job->vgpu = strcmp(optarg, "none") ? optarg : NULL;
		/* The default by another name. */
		if (!strcmp(optarg, "gpus=1"))
			job->vgpu = "";
		break;
	case O_GPREEMPT:
		job->gpreempt = strcmp(optarg, "no") != 0;
		break;
	case O_TIMEOUT:
		job->timeout = atoi(optarg);
		break;
	case O_JOBS:
		b->jobs = jobs_of(atoi(optarg));
		break;
	case O_PLAIN:
		b->plain = true;
		break;
	case O_APPEND:
		b->append = optarg;
		b->plain = true;
		break;
	case O_FILE:
		if (job->files < JOB_FILES)
			job->file[job->files++] = optarg;
		break;
	case O_IMAGE:
		b->image = optarg;
		break;
	case O_HELP:
		fputs(usage, stdout);
		exit(0);
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

static void check_kernel(const struct bench *b)
{
	char path[PATH_MAX];
	char *argv[] = { path, (char *)b->build, (char *)b->image, NULL };

	snprintf(path, sizeof(path), "%s/verify-kernel", b->harness);
	if (spawn_wait(argv))
		die("the kernel is not used as it is");
}

/* Directories of runners that were killed. */
static void sweep(const char *all)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir = opendir(all);
	pid_t pid;

	while (dir && (e = readdir(dir))) {
		pid = atoi(e->d_name);
		if (pid <= 0 || !kill(pid, 0) || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), "%s/%s", all, e->d_name);
		remove_tree(path);
	}
	if (dir)
		closedir(dir);
}

/* Use the QEMU of fetch-qemu, which emulates faster. */
static void own_qemu(struct bench *b)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/qemu/usr/bin/qemu-system-x86_64", b->build);
	if (!access(path, X_OK))
		b->qemu = path;
}

/* The engine of waves needs a QEMU that knows plugins. */
static void find_engine(struct bench *b)
{
	char command[PATH_MAX + 32];

	snprintf(b->engine, sizeof(b->engine), "%s/wave/engine.so", b->build);
	snprintf(command, sizeof(command), "'%s' -help | grep -q '^-plugin '", b->qemu);
	if (!access(b->engine, R_OK) && !system(command))
		return;
	complain("no engine, so no shader code is executed: %s",
		 access(b->engine, R_OK) ? "it was not built (build/wave/tools says why)" :
					   "this QEMU has no plugins");
	b->engine[0] = '\0';
}

/*
 * The payload may be made again while we run; all our guests get the one that
 * was there when we started.
 */
static void pin_payload(struct bench *b)
{
	static char pinned[PATH_MAX];
	static char made[PATH_MAX];

	snprintf(made, sizeof(made), "%s/vm/payload.tar", b->build);
	snprintf(pinned, sizeof(pinned), "%s/payload.tar", b->run);
	if (!b->payload)
		b->payload = made;
	b->payload_name = b->payload;
	if (!link(b->payload, pinned))
		b->payload = pinned;
	else if (errno != EXDEV)
		die("%s: %s", b->payload, strerror(errno));
}

static void prepare(struct bench *b, const char *build)
{
	char all[PATH_MAX - 300], real[PATH_MAX];

	if (!realpath(build, real) || strlen(real) >= sizeof(b->build) - 64)
		die("%s: %s", build, strerror(errno));
	memcpy(b->build, real, strlen(real) + 1);
	if (!b->cases)
		b->cases = b->harness;
	snprintf(all, sizeof(all), "%s/vm/run", b->build);
	sweep(all);
	snprintf(b->run, sizeof(b->run), "%s/%d", all, (int)getpid());
	if (make_dirs(b->run))
		die("%s: %s", b->run, strerror(errno));
	b->pace = pace_measure();
	pin_payload(b);
	check_kernel(b);
	own_qemu(b);
	accel_choose(b);
	if (bench_keys(b))
		b->plain = true;
}

static int dispatch(struct bench *b, struct job *job, int argc, char **argv)
{
	const char *what = argc ? argv[0] : "";

	job->output = stdout;
	job->error = stderr;
	if (!strcmp(what, "save"))
		return !snapshot_boot(b);
	find_engine(b);
	if (!strcmp(what, "command") && argc == 2) {
		job->command = argv[1];
		return single_run(b, job);
	}
	if (!strcmp(what, "shell") && argc == 1) {
		job->command = "";
		job->tty = true;
		job->timeout = 0;
		return single_run(b, job);
	}
	if (!strcmp(what, "test") && argc > 1)
		return suite_run(b, argv + 1, argc - 1);
	return 0;
}

static bool known(int argc, char **argv)
{
	if (argc == 1)
		return !strcmp(argv[0], "shell") || !strcmp(argv[0], "save");
	return argc > 1 && (!strcmp(argv[0], "test") || (argc == 2 && !strcmp(argv[0], "command")));
}

int main(int argc, char **argv)
{
	static struct bench b = {
		.harness = "tests/vm",
		.qemu = "qemu-system-x86_64",
		.image = "boot",
		.memory = "768",
		.processors = "2",
		.kernel = "",
		.seed = 1,
		.slow = 1,
		.pace = 1,
		.jobs = 1,
	};
	struct job job = { .vgpu = "", .gpreempt = true, .timeout = 600 };
	const char *build = "build";
	int c, status;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1)
		set_option(c, &b, &job, &build);
	if (!known(argc - optind, argv + optind)) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	prepare(&b, build);
	status = dispatch(&b, &job, argc - optind, argv + optind);
	remove_tree(b.run);
	return status;
}
