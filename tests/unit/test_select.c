// SPDX-License-Identifier: GPL-2.0-only
/* Words that name targets, and the containers that processes are in. */
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shared/clock.h"
#include "unit.h"

#define ID_A "aaaaaaaaaaaa1111111111111111111111111111111111111111111111111111"
#define ID_B "aaaaaaaaaaaa2222222222222222222222222222222222222222222222222222"
#define ID_C "c0ffee0000000000000000000000000000000000000000000000000000000000"
#define ID_D "dddd000000000000000000000000000000000000000000000000000000000000"
#define DOCKER "/var/lib/docker/containers/"
#define STORAGE "/var/lib/containers/storage/"
#define PODMAN "tests/unit/fixtures/podman-4.3.1/containers.json"

static struct gpreempt_targets *found;
static struct gpreempt_error err;

static void add_process(const char *stat, const char *comm_path,
			const char *comm, const char *stat_path)
{
	gp_loop_set_file(&loop, stat_path, stat);
	gp_loop_set_file(&loop, comm_path, comm);
}

/* Four processes: in two Docker containers, in Podman's, and in none. */
static void setup(void)
{
	unit_setup();
	gp_loop_set_file(&loop, "/sys/class/kfd/kfd/proc/",
			 "300\n100\n4242\n200");
	add_process("100 (train) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 "
		    "18 1111 20\n", "/proc/100/comm", "python3\n",
		    "/proc/100/stat");
	add_process("200 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
		    "2222 20\n", "/proc/200/comm", "python3\n",
		    "/proc/200/stat");
	add_process("300 (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
		    "3333 20\n", "/proc/300/comm", "a-very-long-nam\n",
		    "/proc/300/stat");
	gp_loop_set_file(&loop, "/proc/4242/comm", "job\n");
	gp_loop_set_file(&loop, "/proc/100/cgroup",
			 "0::/system.slice/docker-" ID_A ".scope/sub\n");
	gp_loop_set_file(&loop, "/proc/200/cgroup",
			 "12:memory:/docker/" ID_B "\n0::/x\n");
	gp_loop_set_file(&loop, "/proc/300/cgroup",
			 "0::/user.slice/user-1000.slice/user@1000.service/"
			 "user.slice/libpod-" ID_C ".scope/container\n");
	gp_loop_set_file(&loop, "/proc/4242/cgroup",
			 "0::/batch/low\n");
	gp_loop_set_file(&loop, DOCKER ID_A "/config.v2.json",
			 "{\"Args\":[],\"HostConfig\":{\"Name\":\"/no\"},"
			 "\"Name\":\"/train\"}");
	gp_loop_set_file(&loop, "/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
			 "half:x:7\nold:x:-3:1::/x:/x\n"
			 "ann:x:1000:1000::/home/ann:/bin/sh\n");
	gp_loop_set_file(&loop, "/proc/100/status", "Name:\tann\nState:\tS\n"
			 "Uid:\t1000\t0\t0\t0\n");
	gp_loop_set_file(&loop, "/proc/200/status", "Name:\tUid:\t7\n"
			 "State:\tS\nUid:\t0\t1000\t1000\t1000\n");
	gp_loop_set_file(&loop, "/proc/300/status", "Name:\tx\nState:\tS\n"
			 "Uid:\t70000\t70000\t70000\t70000\n");
	gp_loop_set_file(&loop, "/proc/100/cmdline",
			 "/usr/bin/python3 -m train --job=17");
	gp_loop_set_file(&loop, "/home/ann/.local/share/containers/storage/",
			 "overlay-containers\nlibpod\noverlay");
	gp_loop_set_file(&loop, "/home/ann/.local/share/containers/storage/"
			 "overlay-containers/containers.json",
			 "[{\"id\":\"x\",\"names\":[\"no\"]},"
			 "{\"id\":\"" ID_C "\",\"names\":[\"infer\"]}]");
	found = NULL;
	memset(&err, 0, sizeof(err));
}

static void teardown(void)
{
	gpreempt_targets_free(found);
	unit_teardown();
}

static bool skip_200(void *data, pid_t pid)
{
	(void)data;
	return pid == 200;
}

/* The PIDs that a word names, or the reason in err. */
static const char *pick(const char *word)
{
	static char text[128];
	size_t i, used = 0;

	gpreempt_targets_free(found);
	found = NULL;
	text[0] = '\0';
	if (gpreempt_select(g, &word, 1, NULL, NULL, &found, &err))
		return "";
	for (i = 0; i < found->count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%d",
				 i ? " " : "", found->targets[i].pid);
	return text;
}

static const struct {
	const char *word;
	const char *pids;
	enum gpreempt_reason reason;	/* when there are none */
} picks[] = {
	{ "100", "100", 0 },
	{ "999", "", GPREEMPT_NO_PROCESS },
	{ "0", "", GPREEMPT_BAD_TARGET },
	{ "-7", "", GPREEMPT_BAD_TARGET },
	{ "python3", "", GPREEMPT_BAD_TARGET },
	{ "comm:", "", GPREEMPT_BAD_TARGET },
	{ "", "", GPREEMPT_BAD_TARGET },
	{ "comm:python3", "100 200", 0 },
	{ "comm:python", "", GPREEMPT_NO_MATCH },
	{ "comm:a-very-long-name-indeed", "300", 0 },
	{ "cgroup:/batch", "4242", 0 },
	{ "cgroup:batch/low", "4242", 0 },
	{ "cgroup:/batch/low/", "4242", 0 },
	{ "cgroup:/batch/lo", "", GPREEMPT_NO_MATCH },
	{ "cgroup:/sys/fs/cgroup/batch", "4242", 0 },
	{ "cgroup:/system.slice", "100", 0 },
	{ "cgroup:/", "100 200 300 4242", 0 },
	{ "cgroup:/docker", "200", 0 },
	{ "cgroup:/sys/fs/cgroup/memory/docker", "200", 0 },
	{ "cgroup:/memory/docker", "", GPREEMPT_NO_MATCH },
	{ "container:" ID_A, "100", 0 },
	{ "container:aaaaaaaaaaaa1", "100", 0 },
	{ "container:aaaaaaaaaaaa", "", GPREEMPT_MANY_CONTAINERS },
	{ "container:c0f", "300", 0 },
	{ "container:train", "100", 0 },
	{ "container:infer", "300", 0 },
	{ "container:no", "", GPREEMPT_NO_MATCH },
	{ "container:d", "", GPREEMPT_NO_MATCH },
	{ "cmd:(", "", GPREEMPT_BAD_PATTERN },
	{ "cmd:nothing", "", GPREEMPT_NO_MATCH },
	{ "cmd:python3 .*train", "100", 0 },
	{ "cmd:^/usr", "100", 0 },
	{ "cmd:^usr", "", GPREEMPT_NO_MATCH },
	{ "cmd:^usr|job=17$", "100", 0 },
	{ "cmd:^(usr|/usr)", "100", 0 },
	{ "cmd:job=1$", "", GPREEMPT_NO_MATCH },
	{ "cmd:--job=(1|2)7", "100", 0 },
	{ "cmd:(s)[r/]*b.*\\1", "", GPREEMPT_NO_MATCH },
	{ "cmd:(n) -m trai\\1", "", GPREEMPT_NO_MATCH },
	{ "cmd:(t).*\\1rain", "100", 0 },
	{ "cmd:(-).*\\1job", "100", 0 },
	{ "cmd:\\.|\\\\|y", "100", 0 },
	{ "cmd:\\", "", GPREEMPT_BAD_PATTERN },
	{ "cmd:train)", "", GPREEMPT_NO_MATCH },
	{ "cmd:train)|x", "", GPREEMPT_NO_MATCH },
	{ "cmd:x|train)", "", GPREEMPT_NO_MATCH },
	{ "cmd:x)|train", "100", 0 },
	{ "cmd:x)|(train", "", GPREEMPT_BAD_PATTERN },
	{ "user:ann", "100", 0 },
	{ "user:1000", "100", 0 },
	{ "user:root", "200", 0 },
	{ "user:0", "200", 0 },
	{ "user:70000", "300", 0 },
	{ "user:7", "", GPREEMPT_NO_MATCH },
	{ "user:half", "", GPREEMPT_NO_USER },
	{ "user:an", "", GPREEMPT_NO_USER },
	{ "user:-3", "", GPREEMPT_NO_USER },
	{ "user:4294967295", "", GPREEMPT_NO_USER },
	{ "user:", "", GPREEMPT_BAD_TARGET },
};

START_TEST(one_word)
{
	ck_assert_str_eq(pick(picks[_i].word), picks[_i].pids);
	ck_assert_int_eq(err.reason, picks[_i].reason);
	if (picks[_i].reason == GPREEMPT_NO_MATCH)
		ck_assert_str_eq(err.word, picks[_i].word);
}
END_TEST

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/*
 * A process has written a command line on which a pattern that may begin
 * anywhere is looked for from each "train" to the end. The measure is what
 * that takes of this processor, for 8 KiB of it: some 20 ms; ours are 100,000
 * bytes, of which 8 KiB are looked at once each: some 0.1 ms.
 */
START_TEST(long_commands)
{
	uint64_t quadratic, ours = UINT64_MAX, start;
	static char text[100001];
	regex_t regex;
	size_t i;

	for (i = 0; i < sizeof(text) - 1; i++)
		text[i] = "train "[i % 6];
	gp_loop_set_file(&loop, "/proc/100/cmdline", text);
	for (i = 0; i < 3; i++) {
		start = cpu_ns();
		ck_assert_str_eq(pick("cmd:train.*--job=18"), "");
		start = cpu_ns() - start;
		ours = start < ours ? start : ours;
	}
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MATCH);
	text[8192] = '\0';
	regcomp(&regex, "train.*--job=18", REG_EXTENDED | REG_NOSUB);
	start = cpu_ns();
	ck_assert_int_eq(regexec(&regex, text, 0, NULL, 0), REG_NOMATCH);
	quadratic = cpu_ns() - start;
	regfree(&regex);
	printf("%llu us, and %llu us for the measure\n",
	       (unsigned long long)ours / 1000,
	       (unsigned long long)quadratic / 1000);
	ck_assert_uint_lt(ours, quadratic / 4);
}
END_TEST

/* What is beyond the first 8 KiB is not looked at. */
START_TEST(end_of_command)
{
	static char text[8300];

	memset(text, 'x', 8190);
	strcpy(text + 8190, "yz");
	gp_loop_set_file(&loop, "/proc/100/cmdline", text);
	ck_assert_str_eq(pick("cmd:xyz$"), "100");
	memset(text, 'x', 8191);
	strcpy(text + 8191, "yz");
	ck_assert_str_eq(pick("cmd:xyz$"), "");
	ck_assert_str_eq(pick("cmd:xy$"), "100");
}
END_TEST

START_TEST(users)
{
	struct gpreempt_description d;
	char name[16];

	ck_assert_int_eq(gpreempt_user_name(g, 1000, name, sizeof(name)), 0);
	ck_assert_str_eq(name, "ann");
	ck_assert_int_eq(gpreempt_user_name(g, 7, name, sizeof(name)),
			 -ENOENT);
	ck_assert_int_eq(gpreempt_describe(g, 300, &d), 0);
	ck_assert_uint_eq(d.uid, 70000);
	ck_assert_int_eq(gpreempt_select_check("user:a-name", &err), 0);
	gp_loop_set_file(&loop, "/etc/passwd", NULL);
	ck_assert_int_eq(gpreempt_user_name(g, 0, name, sizeof(name)),
			 -ENOENT);
	ck_assert_str_eq(pick("user:root"), "");
	ck_assert_int_eq(err.reason, GPREEMPT_NO_USER);
	ck_assert_str_eq(pick("user:1000"), "100");
}
END_TEST

START_TEST(several_words)
{
	static const char *const words[] = { "comm:python3", "4242", "100" };
	static const char *const half[] = { "100", "comm:none" };

	ck_assert_int_eq(gpreempt_select(g, words, 3, NULL, NULL, &found,
					 &err), 0);
	ck_assert_uint_eq(found->count, 3);
	ck_assert_int_eq(found->targets[0].pid, 100);
	ck_assert_uint_eq(found->targets[0].start, 1111);
	ck_assert_int_eq(found->targets[2].pid, 4242);
	ck_assert_uint_eq(found->targets[2].start, 777);
	gpreempt_targets_free(found);
	found = NULL;
	ck_assert_int_eq(gpreempt_select(g, half, 2, NULL, NULL, &found,
					 &err), -ESRCH);
	ck_assert_str_eq(err.word, "comm:none");
}
END_TEST

START_TEST(skipped)
{
	static const char *const word = "comm:python3", *const pid = "200";

	ck_assert_int_eq(gpreempt_select(g, &word, 1, skip_200, NULL, &found,
					 &err), 0);
	ck_assert_uint_eq(found->count, 1);
	ck_assert_int_eq(found->targets[0].pid, 100);
	gpreempt_targets_free(found);
	found = NULL;
	gp_loop_set_file(&loop, "/proc/200/status", "Name:\tb\nState:\tS\n"
			 "Tgid:\t200\nTracerPid:\t0\nThreads:\t1\n");
	gp_loop_set_file(&loop, "/sys/class/kfd/kfd/proc/200/queues/", "");
	ck_assert_int_eq(gpreempt_select(g, &pid, 1, skip_200, NULL, &found,
					 &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_IS_HOLDER);
	ck_assert_int_eq(err.pid, 200);
}
END_TEST

/* This process uses the GPU, too, and is meant by no word. */
START_TEST(not_ourselves)
{
	char dir[64], stat[32];

	snprintf(dir, sizeof(dir), "%d\n4242", getpid());
	snprintf(stat, sizeof(stat), "/proc/%d/stat", getpid());
	gp_loop_set_file(&loop, "/sys/class/kfd/kfd/proc/", dir);
	gp_loop_set_file(&loop, stat, "1 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 "
			 "14 15 16 17 18 4444 20\n");
	ck_assert_str_eq(pick("comm:job"), "4242");
	gpreempt_targets_free(found);
	ck_assert_int_eq(gpreempt_processes(g, &found, &err), 0);
	ck_assert_uint_eq(found->count, 2);
}
END_TEST

START_TEST(no_driver)
{
	gp_loop_set_file(&loop, "/sys/class/kfd/kfd/proc/", NULL);
	ck_assert_str_eq(pick("100"), "");
	ck_assert_int_eq(err.reason, GPREEMPT_NO_KFD);
}
END_TEST

START_TEST(checked)
{
	ck_assert_int_eq(gpreempt_select_check("cmd:^a|b$", NULL), 0);
	ck_assert_int_eq(gpreempt_select_check("4711", NULL), 0);
	ck_assert_int_eq(gpreempt_select_check("cmd:[", &err), -EINVAL);
	ck_assert_int_eq(err.reason, GPREEMPT_BAD_PATTERN);
	ck_assert_str_ne(err.name, "");
	ck_assert_int_eq(gpreempt_select_check("4194305", NULL), -EINVAL);
}
END_TEST

/* Any user can make a cgroup of any name in its own slice. */
static const struct {
	const char *cgroup;	/* of process 4242 */
	const char *word;
	const char *pids;
	enum gpreempt_reason reason;
} impostors[] = {
	/* With the id of another's container. */
	{ "0::/user.slice/user-1000.slice/docker-" ID_A ".scope\n",
	  "container:train", "100", 0 },
	{ "0::/user.slice/user-1000.slice/docker-" ID_A ".scope\n",
	  "container:" ID_A, "", GPREEMPT_SAME_CONTAINER },
	/* Another's, in a container of its own, as root of that. */
	{ "0::/docker/" ID_B "/docker-" ID_A ".scope\n",
	  "container:" ID_A, "", GPREEMPT_SAME_CONTAINER },
	/* With the name of another's, in the file of its home. */
	{ "0::/user.slice/user-1000.slice/libpod-" ID_D ".scope\n",
	  "container:train", "", GPREEMPT_SAME_CONTAINER },
	{ "0::/user.slice/user-1000.slice/libpod-" ID_D ".scope\n",
	  "container:dddd", "4242", 0 },
	/* This path is not of user 1000: a user could have made it. */
	{ "0::/x/user-1000.slice/libpod-" ID_D ".scope\n",
	  "container:train", "100", 0 },
	{ "0::/user.slice/user-1000.slicex/libpod-" ID_D ".scope\n",
	  "container:train", "100", 0 },
	{ "0::/user.slice/user-99999999999.slice/libpod-" ID_D ".scope\n",
	  "container:train", "100", 0 },
};

START_TEST(impostor)
{
	char text[300];
	int class;

	gp_loop_set_file(&loop, "/home/ann/.local/share/containers/storage/"
			 "overlay-containers/volatile-containers.json",
			 "[{\"id\":\"" ID_D "\",\"names\":[\"train\"]}]");
	gp_loop_set_file(&loop, "/proc/4242/cgroup", impostors[_i].cgroup);
	ck_assert_str_eq(pick(impostors[_i].word), impostors[_i].pids);
	ck_assert_int_eq(err.reason, impostors[_i].reason);
	if (!err.reason)
		return;
	/* Not a mistake about the beginning of an id, and told apart. */
	class = gpreempt_error_class(&err);
	ck_assert_int_eq(class, GPREEMPT_CLASS_USAGE);
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, impostors[_i].word));
	ck_assert_ptr_null(strstr(text, "beginning"));
}
END_TEST

static int count_reads(void)
{
	const char *at = loop.trace;
	int n = 0;

	while ((at = strstr(at, "place "))) {
		at++;
		n++;
	}
	return n;
}

/* guard looks 25 times a second. */
START_TEST(looks_again)
{
	int once, i;

	ck_assert_str_eq(pick("container:infer"), "300");
	once = count_reads();
	ck_assert_int_gt(once, 0);
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(pick("container:infer"), "300");
	ck_assert_int_lt(count_reads(), 2 * once);
}
END_TEST

/* Files that do not answer any more do not take away the name. */
START_TEST(goes_quiet)
{
	ck_assert_str_eq(pick("container:infer"), "300");
	gp_loop_fail(&loop, "place", 0, -ETIMEDOUT);
	shr_sleep_ns(1100 * NSEC_PER_MSEC);
	ck_assert_str_eq(pick("container:infer"), "300");
}
END_TEST

#define CRI "/kubepods.slice/kubepods-burstable.slice/pod1.slice/"

static const struct {
	const char *cgroup;
	const char *engine;	/* NULL: no container */
	const char *id;
	const char *name;
} containers[] = {
	{ "0::/system.slice/docker-" ID_A ".scope\n", "docker", ID_A, "train" },
	{ "0::/docker/" ID_A "/x\n", "docker", ID_A, "train" },
	{ "0::/machine.slice/libpod-" ID_C ".scope/container\n",
	  "podman", ID_C, "root-infer" },
	{ "0::/machine.slice/libpod-conmon-" ID_C ".scope\n", NULL, "", "" },
	{ "0::/libpod_parent/libpod-" ID_C "\n", "podman", ID_C,
	  "root-infer" },
	{ "0::" CRI "cri-containerd-" ID_B ".scope\n", "containerd", ID_B, "" },
	{ "0::" CRI "crio-" ID_B ".scope\n", "cri-o", ID_B, "" },
	{ "0::" CRI "crio-conmon-" ID_B ".scope\n", NULL, "", "" },
	{ "0::/kubepods/besteffort/pod1/" ID_B "\n", "kubernetes", ID_B, "" },
	{ "0::/lxc.payload.box/init.scope\n", "lxc", "box", "box" },
	{ "0::/a/" ID_A "\n", "container", ID_A, "train" },
	{ "0::/docker/" ID_A CRI "crio-" ID_B ".scope\n", "docker", ID_A,
	  "train" },
	{ "0::/docker/" ID_A "0\n", NULL, "", "" },
	{ "0::/x" ID_A "\n", NULL, "", "" },
	{ "0::/\n", NULL, "", "" },
	{ "", NULL, "", "" },
	{ "nonsense\n", NULL, "", "" },
};

START_TEST(container)
{
	struct gpreempt_container c;
	int ret;

	gp_loop_set_file(&loop, STORAGE, "overlay-containers");
	gp_loop_set_file(&loop, STORAGE "overlay-containers/"
			 "volatile-containers.json",
			 "[{\"id\":\"" ID_C "\",\"names\":[\"root-infer\"]}]");
	gp_loop_set_file(&loop, "/proc/100/cgroup", containers[_i].cgroup);
	ret = gpreempt_container(g, 100, &c);
	if (!containers[_i].engine) {
		ck_assert_int_eq(ret, -ENOENT);
		return;
	}
	ck_assert_int_eq(ret, 0);
	ck_assert_str_eq(c.engine, containers[_i].engine);
	ck_assert_str_eq(c.id, containers[_i].id);
	ck_assert_str_eq(c.name, containers[_i].name);
}
END_TEST

START_TEST(docker_elsewhere)
{
	struct gpreempt_container c;

	gp_loop_set_file(&loop, "/etc/docker/daemon.json",
			 "{\"data-root\":\"/data/docker\"}");
	gp_loop_set_file(&loop, "/data/docker/containers/" ID_A
			 "/config.v2.json", "{\"Name\":\"/moved\"}");
	ck_assert_int_eq(gpreempt_container(g, 100, &c), 0);
	ck_assert_str_eq(c.name, "moved");
	ck_assert_int_eq(gpreempt_container(g, 77, &c), -ENOENT);
}
END_TEST

/* By name, by the name after "podman rename", and a container of --rm. */
static const struct {
	const char *word;
	const char *id;
} podman[] = {
	{ "web", "5360f50aee9bc02c0b932c915c035cf0a3f7814d3c12185e331ce6a0384aa7e1" },
	{ "renamed", "f2d9db7f486d5f28fb3d6b86e4feeceac36389de3ba857425cfbcf18edc50bcc" },
	{ "brief", "c18297ba2588" },
	{ "lone", NULL },
};

START_TEST(podman_wrote)
{
	static char text[8192], cgroup[160], word[80];
	const char *id = podman[_i].id;
	FILE *f = fopen(PODMAN, "r");
	const char *at;
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	/* In the file the id is whole. */
	at = id ? strstr(text, id) : text;
	ck_assert_ptr_nonnull(at);
	snprintf(cgroup, sizeof(cgroup), "0::/machine.slice/libpod-%.64s.scope\n",
		 id ? at : ID_C);
	gp_loop_set_file(&loop, "/proc/100/cgroup", cgroup);
	gp_loop_set_file(&loop, STORAGE, "libpod\nvfs\nvfs-containers");
	gp_loop_set_file(&loop, STORAGE "vfs-containers/containers.json", text);
	snprintf(word, sizeof(word), "container:%s", podman[_i].word);
	if (gpreempt_select(g, (const char *[]){ word }, 1, NULL, NULL, &found,
			    &err)) {
		ck_assert_ptr_null(id);
		return;
	}
	ck_assert_ptr_nonnull(id);
	ck_assert_uint_eq(found->count, 1);
	ck_assert_int_eq(found->targets[0].pid, 100);
}
END_TEST

/* An engine's file that is broken tells no name, and does no harm. */
START_TEST(broken_files)
{
	static const char *const texts[] = {
		"", "{", "[]", "null", "{\"Name\":7}", "{\"Name\":\"\"}",
		"{\"Name\":null}", "\"Name\"",
	};
	struct gpreempt_container c;

	gp_loop_set_file(&loop, DOCKER ID_A "/config.v2.json", texts[_i]);
	ck_assert_int_eq(gpreempt_container(g, 100, &c), 0);
	ck_assert_str_eq(c.name, "");
	gp_loop_set_file(&loop, "/home/ann/.local/share/containers/storage/"
			 "overlay-containers/containers.json", texts[_i]);
	ck_assert_int_eq(gpreempt_container(g, 300, &c), 0);
	ck_assert_str_eq(c.name, "");
}
END_TEST

START_TEST(description)
{
	struct gpreempt_description d;

	gp_loop_set_file(&loop, "/proc/4242/status",
			 "Name:\tjob\nState:\tS (sleeping)\nTgid:\t4242\n"
			 "TracerPid:\t77\nNSpid:\t4242\t31\t7\nThreads:\t3\n");
	gp_loop_set_file(&loop, "/proc/77/comm", "gdb\n");
	gp_loop_set_file(&loop, "/proc/4242/cmdline", "python3 -m vllm");
	ck_assert_int_eq(gpreempt_describe(g, PID, &d), 0);
	ck_assert_uint_eq(d.start, 777);
	ck_assert_int_eq(d.ns_pid, 7);
	ck_assert_int_eq(d.tracer, 77);
	ck_assert_str_eq(d.tracer_comm, "gdb");
	ck_assert_str_eq(d.comm, "job");
	ck_assert_str_eq(d.command, "python3 -m vllm");
	ck_assert_int_eq(gpreempt_describe(g, 99, &d), -ESRCH);
	/* An old kernel reports no namespaces. */
	gp_loop_set_file(&loop, "/proc/4242/status",
			 "Name:\tjob\nState:\tS (sleeping)\nTgid:\t4242\n"
			 "TracerPid:\t0\nThreads:\t3\n");
	ck_assert_int_eq(gpreempt_describe(g, PID, &d), 0);
	ck_assert_int_eq(d.ns_pid, PID);
	ck_assert_int_eq(d.tracer, 0);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, one_word, 0, ARRAY_SIZE(picks));
	tcase_add_test(tc, several_words);
	tcase_add_test(tc, long_commands);
	tcase_add_test(tc, end_of_command);
	tcase_add_test(tc, users);
	tcase_add_loop_test(tc, impostor, 0, ARRAY_SIZE(impostors));
	tcase_add_test(tc, looks_again);
	tcase_add_test(tc, goes_quiet);
	tcase_add_test(tc, skipped);
	tcase_add_test(tc, not_ourselves);
	tcase_add_test(tc, no_driver);
	tcase_add_test(tc, checked);
	tcase_add_loop_test(tc, container, 0, ARRAY_SIZE(containers));
	tcase_add_test(tc, docker_elsewhere);
	tcase_add_loop_test(tc, podman_wrote, 0, ARRAY_SIZE(podman));
	tcase_add_loop_test(tc, broken_files, 0, 8);
	tcase_add_test(tc, description);
	return unit_run("select");
}
