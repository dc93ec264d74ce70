// SPDX-License-Identifier: GPL-2.0-only
/* Words that name targets, cmd: among them. */
#include <regex.h>

#include "lib/see/words.h"
#include "shared/cgroup.h"
#include "unit-host.h"
#include "unit-select.h"

static bool skip_200(void *data, pid_t pid)
{
	(void)data;
	return pid == 200;
}

static const struct {
	const char *word;
	const char *pids;
	enum gpreempt_reason reason; /* when there are none */
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
	{ "cgroup:/batch", "4194242", 0 },
	{ "cgroup:batch/low", "4194242", 0 },
	{ "cgroup:/batch/low/", "4194242", 0 },
	{ "cgroup:/batch/lo", "", GPREEMPT_NO_MATCH },
	{ "cgroup:/sys/fs/cgroup/batch", "4194242", 0 },
	{ "cgroup:/system.slice", "100", 0 },
	{ "cgroup:/", "100 200 300 4194242", 0 },
	{ "cgroup:/docker", "200", 0 },
	{ "cgroup:/sys/fs/cgroup/memory/docker", "200", 0 },
	{ "cgroup:/memory/docker", "", GPREEMPT_NO_MATCH },
	{ "role:offline", "100 4194242", 0 },
	{ "role:online", "300", 0 },
	{ "role:none", "", GPREEMPT_BAD_TARGET },
	{ "role:off", "", GPREEMPT_BAD_TARGET },
	{ "role:", "", GPREEMPT_BAD_TARGET },
	{ "container:" ID_A, "100", 0 },
	{ "container:aaaaaaaaaaaa1", "100", 0 },
	{ "container:aaaaaaaaaaaa", "", GPREEMPT_MANY_CONTAINERS },
	{ "container:c0f", "300", 0 },
	{ "container:train", "100", 0 },
	{ "container:infer", "", GPREEMPT_NO_MATCH },
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
	{ "user:ann", "100 300", 0 },
	{ "user:1000", "100 300", 0 },
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

TEST_EACH(one_word, ARRAY_SIZE(picks))
{
	ck_assert_str_eq(pick(picks[_i].word), picks[_i].pids);
	ck_assert_int_eq(err.reason, picks[_i].reason);
	if (picks[_i].reason == GPREEMPT_NO_MATCH)
		ck_assert_str_eq(err.word, picks[_i].word);
}

static char insides[1024];

static void note_own(void *data, pid_t pid, const struct gp_role_own *own)
{
	ck_assert_ptr_eq(data, insides);
	sprintf(insides + strlen(insides), "%d %s %s;", pid, own->cgroup, own->words);
}

static const char *with_words(const char *word)
{
	const struct gp_select_how how = { .own = note_own, .data = insides };

	*insides = '\0';
	gpreempt_list_free(found);
	found = NULL;
	gp_select(g, &how, &word, 1, &found, &err);
	return insides;
}

/* The nearest cgroup with a role counts, with its words or without. */
TEST(role_with_words)
{
	char words[GP_ROLE_WORDS] = "";

	ck_assert_str_eq(with_words("role:offline"), "");
	unit_cgroup_role("/batch", "offline weight=200 max=50%");
	ck_assert_str_eq(with_words("role:offline"), "4194242 /batch weight=200 max=50%;");
	ck_assert_uint_eq(found->count, 2);
	ck_assert_str_eq(with_words("role:online"), "");
	ck_assert_str_eq(with_words("cgroup:/batch"), "");
	unit_cgroup_role("/system.slice/docker-" ID_A ".scope", "offline gang");
	ck_assert_str_eq(with_words("role:offline"), "100 /system.slice/docker-" ID_A ".scope gang;"
						     "4194242 /batch weight=200 max=50%;");
	unit_cgroup_role("/batch/low", "offline");
	ck_assert_str_eq(with_words("role:offline"),
			 "100 /system.slice/docker-" ID_A ".scope gang;");
	ck_assert_uint_eq(found->count, 2);
	/* The role stays where the words are too long, or no plain text. */
	memset(words, 'w', sizeof(words) - 1);
	unit_cgroup_role("/batch/low", unit_text("online %s", words));
	ck_assert_str_eq(with_words("role:online"), unit_text("4194242 /batch/low %s;", words));
	unit_cgroup_role("/batch/low", unit_text("online %sw", words));
	ck_assert_str_eq(with_words("role:online"), "4194242 /batch/low ?;");
	unit_cgroup_role("/batch/low", "online weight=2\n");
	ck_assert_str_eq(with_words("role:online"), "4194242 /batch/low ?;");
	unit_cgroup_role("/batch/low", "online ");
	ck_assert_str_eq(pick("role:online"), "300");
}

static struct gp_backend_ops ops;
static int refused; /* for the cgroup of 300 */

static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	if (refused && !strcmp(path, "/proc/300/cgroup"))
		return -refused;
	return gp_backend_loop.read_file(be, path, buf, size);
}

static void refuse(int code)
{
	ops = gp_backend_loop;
	ops.read_file = read_file;
	g->ops = &ops;
	refused = code;
}

/* A path that the kernel does not print: it can be any, and the process is held in doubt. */
TEST(in_doubt)
{
	refuse(ENAMETOOLONG);
	ck_assert_str_eq(pick("role:offline"), "100 300 4194242");
	ck_assert_str_eq(pick("role:online"), "");
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MATCH);
	ck_assert_str_eq(pick("cgroup:/batch"), "300 4194242");
	ck_assert_str_eq(pick("container:train"), "100 300");
	ck_assert_str_eq(pick("container:c0f"), "300");
	/* Its user is known. */
	ck_assert_str_eq(pick("user:70000"), "300");
	/* A caller that releases the process, or has others make way for it, does not mean it. */
	ck_assert_str_eq(pick_sure("role:offline"), "100 4194242");
	ck_assert_str_eq(pick_sure("cgroup:/batch"), "4194242");
	ck_assert_str_eq(pick_sure("container:c0f"), "");
	ck_assert_str_eq(pick_sure("300"), "300");
}

/* Errors of our own give no answer; a process that is gone is in no cgroup. */
TEST(not_readable)
{
	static const char *const words[] = { "role:offline", "role:online", "cgroup:/batch",
					     "container:train" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		refuse(EMFILE);
		ck_assert_str_eq(pick(words[i]), "");
		ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
		ck_assert_int_eq(err.code, -EMFILE);
	}
	refuse(ESRCH);
	ck_assert_str_eq(pick("role:offline"), "100 4194242");
}

static void move(const char *group)
{
	set_file("/proc/200/cgroup", unit_text("0::%s\n", group));
}

/* However long the path is that its user makes, a role above stays. */
TEST_EACH(long_path, 4)
{
	static const size_t lengths[] = { 4000, 4032, 4094, 8000 };
	char path[2 * SHR_CGROUP_PATH] = "/batch";

	unit_cgroup_long(path, lengths[_i], 190);
	/* The kernel's form in newer versions. */
	path[SHR_CGROUP_CUT] = '\0';
	move(path);
	ck_assert_str_eq(pick("role:offline"), "100 200 4194242");
	ck_assert_str_eq(pick("cgroup:/batch"), "200 4194242");
	ck_assert_str_eq(pick_sure("cgroup:/batch"), "200 4194242");
	/* A path that is too long names no cgroup. */
	unit_cgroup_role("/batch/low", "offline");
	path[6 + 2 * 191] = '\0';
	unit_cgroup_role(path, "offline weight=2");
	ck_assert_str_eq(with_words("role:offline"), unit_text("200 %s weight=2;", path));
	path[6 + 2 * 191] = '/';
	path[6 + 3 * 191] = '\0';
	unit_cgroup_role(path, "offline weight=3");
	ck_assert_str_eq(with_words("role:offline"), "200  weight=3;");
}

/* However deep it is, a look takes a few calls a level, of 32 levels. */
TEST(deep_path)
{
	char path[SHR_CGROUP_PATH] = "/batch";

	unit_cgroup_long(path, 4090, 1);
	move(path);
	unit_attributes_read = 0;
	ck_assert_str_eq(pick("role:offline"), "100 200 4194242");
	/* The other cgroups are 4, 7 and 2 levels deep. */
	ck_assert_uint_le(unit_attributes_read, SHR_CGROUP_LEVELS + 4 + 7 + 2);
	/* The role of level 32 is that of all levels below. */
	path[strlen("/batch") + 2 * (SHR_CGROUP_LEVELS - 1)] = '\0';
	unit_cgroup_role(path, "online");
	ck_assert_str_eq(pick("role:online"), "200 300");
	unit_cgroup_role(strcat(path, "/m"), "offline");
	ck_assert_str_eq(pick("role:online"), "200 300");
}

/* A level that is not there, as while it moves: the role above is the last word on holds. */
TEST(not_there)
{
	move("/batch/gone/x");
	ck_assert_str_eq(pick("role:offline"), "100 200 4194242");
	unit_cgroup_role("/batch", "online");
	ck_assert_str_eq(pick("role:online"), "300 4194242");
	ck_assert_str_eq(pick("role:offline"), "100 200");
	ck_assert_str_eq(pick_sure("role:offline"), "100");
	/* A cgroup out of sight of our cgroup namespace has no role, and is below no cgroup. */
	move("/../batch");
	ck_assert_str_eq(pick("role:offline"), "100");
	move("/..batch");
	ck_assert_str_eq(pick("role:offline"), "100 200");
}

/*
 * A process has written a command line on which a pattern that may begin anywhere is looked for
 * from each "train" to the end. The measure is what that takes of this processor, for 8 KiB of
 * it: some 20 ms; ours are 100,000 bytes, of which 8 KiB are looked at once each: some 0.1 ms.
 */
TEST(long_commands)
{
	uint64_t quadratic, ours = UINT64_MAX, start;
	static char text[100001];
	regex_t regex;
	size_t i;

	for (i = 0; i < sizeof(text) - 1; i++)
		text[i] = "train "[i % 6];
	set_file("/proc/100/cmdline", text);
	for (i = 0; i < 3; i++) {
		start = shr_thread_cpu_ns();
		ck_assert_str_eq(pick("cmd:train.*--job=18"), "");
		start = shr_thread_cpu_ns() - start;
		ours = start < ours ? start : ours;
	}
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MATCH);
	text[8192] = '\0';
	regcomp(&regex, "train.*--job=18", REG_EXTENDED | REG_NOSUB);
	start = shr_thread_cpu_ns();
	ck_assert_int_eq(regexec(&regex, text, 0, NULL, 0), REG_NOMATCH);
	quadratic = shr_thread_cpu_ns() - start;
	regfree(&regex);
	printf("%llu us, and %llu us for the measure\n", (unsigned long long)ours / 1000,
	       (unsigned long long)quadratic / 1000);
	ck_assert_uint_lt(ours, quadratic / 4);
}

/* Text beyond the first 8 KiB is not looked at. */
TEST(end_of_command)
{
	static char text[8300];

	memset(text, 'x', 8190);
	strcpy(text + 8190, "yz");
	set_file("/proc/100/cmdline", text);
	ck_assert_str_eq(pick("cmd:xyz$"), "100");
	memset(text, 'x', 8191);
	strcpy(text + 8191, "yz");
	ck_assert_str_eq(pick("cmd:xyz$"), "");
	ck_assert_str_eq(pick("cmd:xy$"), "100");
}

TEST(users)
{
	struct gpreempt_description d;
	char name[16];

	ck_assert_int_eq(gp_user_name(g, 1000, name, sizeof(name)), 0);
	ck_assert_str_eq(name, "ann");
	ck_assert_int_eq(gp_user_name(g, 7, name, sizeof(name)), -ENOENT);
	ck_assert_int_eq(gpreempt_describe(g, 300, &d), 0);
	ck_assert_uint_eq(d.uid, 70000);
	ck_assert_int_eq(gp_select_check("user:a-name", &err), 0);
	set_file("/etc/passwd", NULL);
	ck_assert_int_eq(gp_user_name(g, 0, name, sizeof(name)), -ENOENT);
	ck_assert_str_eq(pick("user:root"), "");
	ck_assert_int_eq(err.reason, GPREEMPT_NO_USER);
	ck_assert_str_eq(pick("user:1000"), "100 300");
}

static const struct {
	const char *subuid;
	const char *pids;
} subordinates[] = {
	{ NULL, "100" },
	{ "", "100" },
	{ "ann:65536:65536\n", "100 300" },
	{ "bob:1:9\n1000:70000:1\n", "100 300" },
	{ "ann:1:1\nann:69999:2\n", "100 300" },
	{ "ann:70001:65536\nann:69000:1000\n", "100" },
	{ "bob:65536:65536\n1001:65536:65536\nan:65536:65536\n", "100" },
	{ "ann\nann:\nann:65536\nann:65536:\nann:-1:99999999\n:::\n", "100" },
	{ "ann:0:4294967296\n", "100" },
	{ "ann:4294967295:4294967295\n", "100" },
};

/* Ids that newuidmap gives to a container of its user, outside of the user's slice. */
TEST_EACH(subordinate_ids, ARRAY_SIZE(subordinates))
{
	set_file("/proc/300/cgroup", "0::/system.slice/batch.service\n");
	set_file("/etc/subuid", subordinates[_i].subuid);
	ck_assert_str_eq(pick("user:ann"), subordinates[_i].pids);
	ck_assert_str_eq(pick("user:1000"), subordinates[_i].pids);
	ck_assert_str_eq(pick("user:root"), "200");
}

static const struct {
	const char *cgroup;
	const char *subuid;
	const char *tenant;
} tenants[] = {
	{ "0::/user.slice/user-1000.slice/a/libpod-" ID_C ".scope\n", NULL, "user 1000" },
	{ "0::/system.slice/docker-" ID_A ".scope/docker-" ID_B ".scope\n", "ann:65536:65536\n",
	  "container " ID_A },
	{ "0::/batch\n", NULL, "user 70000" },
	{ "0::/batch\n", "bob:1:9\nann:65536:65536\n", "user 1000" },
	{ "0::/batch\n", "7:65536:65536\n", "user 7" },
	/* A name that is none, and no cgroup. */
	{ "0::/batch\n", "half:65536:65536\n", "user 70000" },
	{ NULL, NULL, "user 70000" },
};

TEST_EACH(tenant, ARRAY_SIZE(tenants))
{
	char text[GP_TENANT];

	set_file("/proc/300/cgroup", tenants[_i].cgroup);
	set_file("/etc/subuid", tenants[_i].subuid);
	gp_tenant(g, 300, text, sizeof(text));
	ck_assert_str_eq(text, tenants[_i].tenant);
	ck_assert_uint_eq(gp_loop_reads(&loop, "/proc/300/cgroup"), 1);
	gp_tenant(g, 999, text, sizeof(text));
	ck_assert_str_eq(text, "unknown");
}

TEST(queues)
{
	ck_assert(!gp_may_have_queues(g, 300));
	set_file("/sys/class/kfd/kfd/proc/300/queues/", "");
	ck_assert(!gp_may_have_queues(g, 300));
	set_file("/sys/class/kfd/kfd/proc/300/queues/", "0\n1");
	ck_assert(gp_may_have_queues(g, 300));
}

TEST(several_words)
{
	static const char *const words[] = { "comm:python3", "4194242", "100" };
	static const char *const half[] = { "100", "comm:none" };

	ck_assert_int_eq(gpreempt_select(g, words, 3, NULL, NULL, &found, &err), 0);
	ck_assert_uint_eq(found->count, 3);
	ck_assert_int_eq(found->targets[0].pid, 100);
	ck_assert_uint_eq(found->targets[0].start, 1111);
	ck_assert_int_eq(found->targets[2].pid, 4194242);
	ck_assert_uint_eq(found->targets[2].start, 777);
	gpreempt_list_free(found);
	found = NULL;
	ck_assert_int_eq(gpreempt_select(g, half, 2, NULL, NULL, &found, &err), -ESRCH);
	ck_assert_str_eq(err.word, "comm:none");
}

TEST(skipped)
{
	static const char *const word = "comm:python3", *const pid = "200";

	ck_assert_int_eq(gpreempt_select(g, &word, 1, skip_200, NULL, &found, &err), 0);
	ck_assert_uint_eq(found->count, 1);
	ck_assert_int_eq(found->targets[0].pid, 100);
	gpreempt_list_free(found);
	found = NULL;
	set_file("/proc/200/status", "Name:\tb\nState:\tS\n"
				     "Tgid:\t200\nTracerPid:\t0\nThreads:\t1\n");
	set_file("/sys/class/kfd/kfd/proc/200/queues/", "");
	ck_assert_int_eq(gpreempt_select(g, &pid, 1, skip_200, NULL, &found, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_IS_HOLDER);
	ck_assert_int_eq(err.pid, 200);
}

/* No word means this process, which uses the GPU, too. */
TEST(not_ourselves)
{
	set_file("/sys/class/kfd/kfd/proc/", unit_text("%d\n4194242", getpid()));
	set_file(unit_text("/proc/%d/stat", getpid()), "1 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 "
						       "14 15 16 17 18 4444 20\n");
	ck_assert_str_eq(pick("comm:job"), "4194242");
	gpreempt_list_free(found);
	ck_assert_int_eq(gpreempt_processes(g, &found, &err), 0);
	ck_assert_uint_eq(found->count, 2);
}

TEST(no_driver)
{
	set_file("/sys/class/kfd/kfd/proc/", NULL);
	ck_assert_str_eq(pick("100"), "");
	ck_assert_int_eq(err.reason, GPREEMPT_NO_KFD);
}

/* The kind of the word alone decides; a bad word reads none. */
TEST(which_read_memory)
{
	ck_assert(gp_select_reads_memory("cmd:x"));
	ck_assert(!gp_select_reads_memory("cmd:"));
	ck_assert(!gp_select_reads_memory("comm:cmd:x"));
	ck_assert(!gp_select_reads_memory("container:x"));
	ck_assert(!gp_select_reads_memory("4711"));
	ck_assert(!gp_select_reads_memory(""));
}

TEST(checked)
{
	ck_assert_int_eq(gp_select_check("cmd:^a|b$", NULL), 0);
	ck_assert_int_eq(gp_select_check("4711", NULL), 0);
	ck_assert_int_eq(gp_select_check("cmd:[", &err), -EINVAL);
	ck_assert_int_eq(err.reason, GPREEMPT_BAD_PATTERN);
	ck_assert_str_ne(err.name, "");
	ck_assert_int_eq(gp_select_check("4194305", NULL), -EINVAL);
}

TEST(description)
{
	struct gpreempt_description d;

	set_file("/proc/4194242/status", "Name:\tjob\nState:\tS (sleeping)\nTgid:\t4194242\n"
					 "TracerPid:\t77\nNSpid:\t4194242\t31\t7\nThreads:\t3\n");
	set_file("/proc/77/comm", "gdb\n");
	set_file("/proc/4194242/cmdline", "python3 -m vllm");
	ck_assert_int_eq(gpreempt_describe(g, PID, &d), 0);
	ck_assert_uint_eq(d.start, 777);
	ck_assert_int_eq(d.ns_pid, 7);
	ck_assert_int_eq(d.tracer, 77);
	ck_assert_str_eq(d.tracer_comm, "gdb");
	ck_assert_str_eq(d.comm, "job");
	ck_assert_str_eq(d.command, "python3 -m vllm");
	ck_assert_int_eq(gpreempt_describe(g, 99, &d), -ESRCH);
	/* An old kernel reports no namespaces. */
	set_file("/proc/4194242/status", "Name:\tjob\nState:\tS (sleeping)\nTgid:\t4194242\n"
					 "TracerPid:\t0\nThreads:\t3\n");
	ck_assert_int_eq(gpreempt_describe(g, PID, &d), 0);
	ck_assert_int_eq(d.ns_pid, PID);
	ck_assert_int_eq(d.tracer, 0);
}

TEST_FIXTURE(select_setup, select_teardown)

static struct gp_backend_ops cmd_ops;
static const char *line;
static size_t line_len;

static ssize_t read_cmdline(void *be, const char *path, char *buf, size_t size)
{
	if (strcmp(path, "/proc/4194242/cmdline"))
		return gp_backend_loop.read_file(be, path, buf, size);
	size = size < line_len ? size : line_len;
	memcpy(buf, line, size);
	return size;
}

static void cmd_setup(void)
{
	unit_setup();
	cmd_ops = gp_backend_loop;
	cmd_ops.read_file = read_cmdline;
	g->ops = &cmd_ops;
}

static bool cmd_picks(const char *word)
{
	struct gpreempt_targets *found = NULL;
	struct gpreempt_error err = { 0 };
	int ret = gpreempt_select(g, &word, 1, NULL, NULL, &found, &err);

	ck_assert(!ret || err.reason == GPREEMPT_NO_MATCH);
	gpreempt_list_free(found);
	return !ret;
}

#define BYTES(text) text, sizeof(text) - 1

/* Each argument ends with a zero, and is followed by a space for the pattern. */
static const struct {
	const char *line;
	size_t len;
	const char *pattern;
	bool matches;
} rows[] = {
	{ BYTES("train\0--job\0"), "cmd:^train --job$", true },
	{ BYTES("train\0--job\0"), "cmd:--job $", false },
	{ BYTES("train\0b\0"), "cmd: b$", true },
	{ BYTES("train\0\0\0"), "cmd:^train$", true },
	/* The program has overwritten it, without any zero. */
	{ BYTES("train: step 7"), "cmd:^train: step 7$", true },
	/* An empty argument is one, too. */
	{ BYTES("\0train\0"), "cmd:^ train$", true },
	{ BYTES("\0train\0"), "cmd:^train$", false },
	{ BYTES("a\0\0b\0"), "cmd:^a  b$", true },
	/* A kernel thread has none, and a program can have an empty one. */
	{ BYTES(""), "cmd:^$", true },
	{ BYTES("\0"), "cmd:^$", true },
	{ BYTES("\0"), "cmd: ", false },
	{ BYTES("\0\0"), "cmd:^$", true },
	/* The pattern has a backslash, and a reference to a group's match. */
	{ BYTES("a\\1b\0"), "cmd:a\\\\1b$", true },
	{ BYTES("abab\0"), "cmd:^(ab)\\1$", true },
	{ BYTES("abba\0"), "cmd:^(ab)\\1$", false },
};

TEST_EACH(bytes, ARRAY_SIZE(rows))
{
	line = rows[_i].line;
	line_len = rows[_i].len;
	ck_assert_int_eq(cmd_picks(rows[_i].pattern), rows[_i].matches);
}

TEST_FIXTURE(cmd_setup, unit_teardown)
