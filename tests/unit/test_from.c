// SPDX-License-Identifier: GPL-2.0-only
/*
 * --from: the commands print of a directory with a host's files what they print on that host,
 * and act neither there nor here.
 */
#include "lib/preempt/pause.h"
#include "unit-command.h"

#define KFD   "/sys/class/kfd/kfd/"
#define VIEW  "/sys/kernel/debug/gpreempt/"
#define SHORT "b1946ac92492"
#define ID    SHORT "d2347c6235b4d2611184e6ca3d9ab6a9c0d2e8f1a4a7d5b0c3e2"
#define POD   "591785b794601e212b260e25925636fd591785b794601e212b260e25925636fd"

/* A path that ends with "/" is a directory, and its text the names in it. */
static const struct {
	const char *path, *text;
} host[] = {
	{ KFD "proc/", "4194242\n4194243" },
	{ KFD "proc/4194242/", "pasid\nqueues\nvram_63420" },
	{ KFD "proc/4194242/vram_63420", "0\n" },
	{ KFD "proc/4194242/queues/", "0" },
	{ KFD "proc/4194242/queues/0/gpuid", "63420\n" },
	{ KFD "proc/4194242/queues/0/type", "0\n" },
	{ KFD "proc/4194243/", "queues" },
	{ KFD "proc/4194243/queues/", "" },
	{ KFD "topology/nodes/", "0\n1" },
	{ KFD "topology/nodes/0/gpu_id", "0\n" },
	{ KFD "topology/nodes/1/gpu_id", "63420\n" },
	{ KFD "topology/nodes/1/properties",
	  "capability 746095232\ngfx_target_version 90402\ndrm_render_minor 128\n" },
	{ VIEW "version", "gpreempt-version - version: 1.0\n# key value\n"
			  "module 0.1.0\nfeature_hqds off\n" },
	{ VIEW "nodes",
	  "gpreempt-nodes - version: 1.2\n# gpu_id node hardware device xccs slots_used "
	  "slots processes queues oversubscribed\n"
	  "0xf7bc 1 asleep 0000:03:00.0 4 2 32 2 3 0\n" },
	{ VIEW "pid/4194242/queues", "gpreempt-queues - version: 1.0\n"
				     "# qid gpu_id type active slots suspended evicted priority\n"
				     "0 0xf7bc compute-aql 4 4 0 0 7\n1 0xf7bc sdma 0 1 1 0 3\n" },
	{ VIEW "pid/4194243/queues", "gpreempt-queues - version: 1.0\n# qid\n" },
	{ VIEW "pid/4194242/gpus", "gpreempt-gpus - version: 1.0\n"
				   "# gpu_id vm\n0xf7bc 1\n" },
	{ "/proc/4194242/stat",
	  "4194242 (job) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 3 0 777 1 2 3\n" },
	{ "/proc/4194242/status",
	  "Name:\tjob\nState:\tS (sleeping)\nTgid:\t4194242\nPid:\t4194242\n"
	  "TracerPid:\t4194250\nUid:\t1000\t0\t0\t0\nNSpid:\t4194242\t17\n"
	  "Threads:\t3\n" },
	{ "/proc/4194242/comm", "job\n" },
	{ "/proc/4194242/cmdline", "train --steps 7" },
	{ "/proc/4194242/cgroup", "0::/system.slice/docker-" ID ".scope\n" },
	{ "/proc/4194242/fd/", "5\n6" },
	{ "/proc/4194243/stat", "4194243 (b) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 3 0 778 1 2 3\n" },
	{ "/proc/4194243/status", "Name:\tb\nState:\tS (sleeping)\nTgid:\t4194243\nPid:\t4194243\n"
				  "TracerPid:\t0\nUid:\t77\t0\t0\t0\nThreads:\t1\n" },
	{ "/proc/4194243/comm", "b\n" },
	{ "/proc/4194243/cgroup", "0::/machine.slice/libpod-" POD ".scope\n" },
	{ "/var/lib/containers/storage/", "overlay-containers" },
	{ "/var/lib/containers/storage/overlay-containers/containers.json",
	  "[{\"id\":\"" POD "\",\"names\":[\"pod\"]}]" },
	{ "/proc/4194250/comm", "gdb\n" },
	{ "/proc/4194250/status", "Name:\tgdb\nState:\tS (sleeping)\nTgid:\t4194250\n" },
	{ "/proc/self/ns/pid", "pid:[4026531836]" },
	{ "/proc/self/mounts", "none /sys/kernel/debug debugfs rw 0 0\n" },
	{ "/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n" },
	{ "/proc/sys/kernel/osrelease", "6.12.117\n" },
	{ "/proc/sys/kernel/yama/ptrace_scope", "1\n" },
	{ "/sys/module/amdgpu/", "parameters" },
	{ "/sys/module/amdgpu/parameters/cwsr_enable", "1\n" },
	{ "/sys/kernel/security/lockdown", "[none] integrity\n" },
	{ "/sys/module/vgpu/initstate", "live\n" },
	{ "/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1:::\n" },
	{ "/etc/docker/daemon.json", "{\"data-root\":\"/data\"}" },
	{ "/data/containers/" ID "/config.v2.json", "{\"Name\":\"/model\"}" },
	{ "/dev/kfd", "510:0\n" },
	{ "/proc/4194242/fd/5", "510:0\n" },
	{ "/proc/4194242/fd/6", "226:128\n" },
};

#define CHANGED 5

/* Make the same files for a host, and below "made", where --from and snapshot read them. */
static void setup(void)
{
	char path[256];
	size_t i, len;

	system_setup();
	for (i = 0; i < ARRAY_SIZE(host); i++) {
		set_file(host[i].path, host[i].text);
		len = snprintf(path, sizeof(path), "made%s", host[i].path);
		if (path[len - 1] != '/')
			make_text(path, host[i].text);
		else if (!*host[i].text)
			make_text(strcat(path, ".x"), "");
	}
}

static void make_link(const char *path, const char *to)
{
	unlink(path);
	ck_assert_int_eq(symlink(to, path), 0);
}

/* The user who made the directory is not trusted. */
TEST(hostile)
{
	/* A link, a pipe, a directory in place of a file, and a way out. */
	make_link("made/proc/4194242/cmdline", "stat");
	ck_assert_int_eq(unlink("made/proc/4194242/comm"), 0);
	ck_assert_int_eq(mkfifo("made/proc/4194242/comm", 0600), 0);
	ck_assert_int_eq(unlink("made/etc/passwd"), 0);
	ck_assert_int_eq(mkdir("made/etc/passwd", 0700), 0);
	make_text("made/etc/docker/daemon.json", "{\"data-root\":\"/../out\"}");
	make_text("out/containers/" ID "/config.v2.json", "{\"Name\":\"/secret\"}");
	CTL(0, "list --from made");
	OUT_HAS("\n4194242\t" SHORT "\t" ID "\tdocker\t17\t1000\t1000\t0\t0xf7bc\t2\t4\t5\t"
		"-\t0\tpartly-suspended\t4194250\tgdb\tdebug\t-\t-\t-\t-\t-\n");
}

/* Its contents are not trusted: a cgroup has no path. */
TEST(no_cgroup)
{
	make_text("made/proc/4194242/cgroup", "0::abc\n");
	CTL(0, "list --from made");
	OUT_HAS("\n4194242\t-\t-\t-\t17\tann\t");
	CTL(0, "list --from made --json");
	expect_number("processes.0.ns_pid", 17);
	CTL(GPREEMPT_CLASS_NO_TARGET, "list --from made role:offline");
}

/* Check that the text is that of the host's file, and is for its owner. */
static void expect_saved(const char *path, const char *text)
{
	const char *saved = unit_text("day%s", path);

	ck_assert_str_eq(unit_file(saved), text);
	ck_assert_uint_eq(mode_of(saved), 0600);
}

/* Files of a snapshot of a host. */
TEST_AS_ROOT(snapshot)
{
	size_t i;

	make_link("made/proc/self/ns/pid", "pid:[4026531836]");
	make_link("made/dev/kfd", "/dev/null");
	make_link("made/proc/4194242/fd/5", "/dev/null");
	make_link("made/proc/4194242/fd/6", "/dev/zero");
	make_text("made/data/containers/" ID "/config.v2.json",
		  "{\"Config\":{\"Env\":[\"TOKEN=x\"]},\"Name\":\"a\\nb\"}");
	make_text("made/kfd/mqds", "");
	make_text("made/kfd/hqds", "Node 1, gpu_id 2a:\n Device is stopped\n");
	LAB(0, "snapshot -o day");
	/* The last ones are not saved as they are. */
	for (i = 0; i < ARRAY_SIZE(host) - CHANGED; i++)
		if (host[i].path[strlen(host[i].path) - 1] != '/')
			expect_saved(host[i].path, host[i].text);
	ck_assert_uint_eq(mode_of("day" KFD "proc/4194243/queues"), 0700);
	expect_saved("/dev/kfd", "1:3\n");
	/* Only the GPUs' descriptors are saved. */
	expect_saved("/proc/4194242/fd/5", "1:3\n");
	ck_assert_int_ne(access("day/proc/4194242/fd/6", F_OK), 0);
	/* Only names are saved of an engine's files. */
	expect_saved("/etc/docker/daemon.json", "{\"data-root\":\"\\/data\"}\n");
	expect_saved("/data/containers/" ID "/config.v2.json", "{\"Name\":\"a\\nb\"}\n");
	CTL(0, "list --from day");
	OUT_HAS("\n4194242\ta\\012b\t" ID "\tdocker\t");
}

/* report runs gpreempt-ctl of PATH. Output of another program, or none, is unknown. */
TEST(report_without_ctl)
{
	char dir[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
	make_text("made/info",
		  "gpreempt-snapshot - version: 1.0\n# key value\n"
		  "time 2026-01-02T03:04:05Z\nhost a\033b\nkernel 6.12\ngpreempt 0.1\n");
	make_text("bin/gpreempt-ctl", "#!/bin/sh\necho no JSON\n");
	ck_assert_int_eq(chmod("bin/gpreempt-ctl", 0755), 0);
	setenv("PATH", unit_text("%s/bin:%s", dir, getenv("PATH")), 1);
	LAB(GPREEMPT_CLASS_PARTIAL, "report made --json");
	expect_null("states.0.gpus");
	expect_text("states.0.host", "a\033b");
	expect_null("states.0.processes");
	expect_null("states.0.checks");
	setenv("PATH", "/nowhere", 1);
	LAB(GPREEMPT_CLASS_PARTIAL, "report made --json");
	ERR_HAS("cannot run gpreempt-ctl: No such file or directory\n"
		"next: is it installed, and in PATH?\n");
}

/* Calls of a program on a snapshot. */
TEST(nothing_is_done)
{
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.from = "made",
	};
	struct gpreempt_session *s;
	struct gpreempt *lib;

	ck_assert_int_eq(gpreempt_new(&options, &lib), 0);
	ck_assert(gpreempt_simulated(lib));
	ck_assert_int_eq(gpreempt_check(lib, 4194243, NULL), 0);
	ck_assert_int_eq(gpreempt_session_open(lib, 4194243, &s, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(gp_pause(lib, 4194243, 0, NULL, NULL, NULL), -EOPNOTSUPP);
	gpreempt_free(lib);
}

TEST_FIXTURE(setup, system_teardown)
