// SPDX-License-Identifier: GPL-2.0-only
/*
 * experiment: its runs with shells as models, on a made-up driver that gives each
 * of them queues, and its plan.
 */
#include <sys/file.h>

#include "unit-command.h"
#include "unit-text.h"

#define MODELS_MAX 4
#define VIEW_HEAD                          \
	"gpreempt-queues - version: 1.1\n" \
	"# qid gpu_id type priority suspended evicted active slots ring mqd\n"

static bool driver;   /* the driver is there: children have queues */
static bool two_of_b; /* the second model has one more */

static size_t find_children(pid_t *pids)
{
	FILE *file = fopen("/proc/thread-self/children", "r");
	size_t n = 0;

	ck_assert_ptr_nonnull(file);
	while (n < MODELS_MAX && fscanf(file, "%d", &pids[n]) == 1)
		n += getsid(pids[n]) == pids[n];
	fclose(file);
	return n;
}

#define KFD_PROC "/sys/class/kfd/kfd/proc"

/* Add the view of a new process, for the library and the snapshot. */
static void show_view(pid_t pid, const char *view)
{
	const char *path = unit_text("/sys/kernel/debug/gpreempt/pid/%d/queues", pid);
	const char *stat = unit_text("%d (sh) S 1 %d %d 0 -1 4194560 1 2 3 4 5 "
				     "6 7 8 20 0 1 0 777 100 200 1844\n",
				     pid, pid, pid);

	make_text(unit_text("made" KFD_PROC "/%d/queues/.none", pid), "");
	if (!access(unit_text("made%s", path), F_OK))
		return;
	make_text(unit_text("made%s", path), view);
	set_file(path, unit_text("%s", view));
	set_file(unit_text("/proc/%d/stat", pid), stat);
	make_text(unit_text("made/proc/%d/stat", pid), stat);
	make_text(unit_text("made/proc/%d/status", pid), "Name:\tsh\nState:\tS\n");
}

static void show_model(pid_t pid, size_t nth)
{
	size_t i, count = nth && two_of_b ? 2 : 1;
	char view[512];
	int n = sprintf(view, VIEW_HEAD);

	say("Process %d PASID %d:\n", pid, pid);
	for (i = 0; i < count; i++) {
		uint64_t ring = 0x10000000ull * pid + 0x100000 * i;

		n += sprintf(view + n,
			     "%zu 0x2a compute-aql %d 0 0 1 1 0x%llx "
			     "0x%zx\n",
			     i, nth ? 9 : 7, (unsigned long long)ring, 0x1000 * (1 + 2 * nth + i));
		say("  Compute queue on device 2a\n");
		say_ring_mqd(0x1000 * (1 + 2 * nth + i), ring);
	}
	show_view(pid, view);
}

static void show_slots(const pid_t *pids, size_t count)
{
	size_t i, j;

	say("Node 1, gpu_id 2a:\n");
	for (i = 0; i < count; i++)
		for (j = 0; j < (i && two_of_b ? 2 : 1); j++)
			say_ring_slot(0, i, 2 + j, 0x1000 * (1 + 2 * i + j),
				      0x10000000ull * pids[i] + 0x100000 * j);
	say_slot(0, 3, 7, 0, false);
}

/* Each process that runs now has queues, and is in the driver's text. */
static void update(struct gp_loop *l)
{
	static char list[256];
	static unsigned int times;
	pid_t pids[MODELS_MAX];
	size_t i, count, n = 0;

	if (!driver)
		return;
	driver = false; /* the calls below ask the system, too */
	count = find_children(pids);
	made_len = 0;
	*list = '\0';
	rename("made" KFD_PROC, unit_text("made/away-%u", times++));
	for (i = 0; i < count; i++) {
		n += sprintf(list + n, "%d\n", pids[i]);
		show_model(pids[i], i);
	}
	make_file("made/kfd/mqds", made, made_len);
	made_len = 0;
	show_slots(pids, count);
	make_file("made/kfd/hqds", made, made_len);
	gp_loop_set_file(l, KFD_PROC "/", list);
	driver = true;
}

static void setup(void)
{
	system_setup();
	driver = false;
	two_of_b = false;
	loop.before_list = update;
	make_text("made/kfd/mqds", "");
	make_text("made/kfd/hqds", "Node 1, gpu_id 2a:\n Device is stopped\n");
	make_text("made/kfd/rls", "");
}

static void teardown(void)
{
	driver = false;
	system_teardown();
}

TEST_AS_ROOT(both_models)
{
	struct stat st;

	driver = true;
	/* Both models run until their queues were looked at. */
	make_text("model", "dir=$(readlink /proc/$$/fd/1)\n"
			   "until [ -e ${dir%/*}/during ]; do sleep 0.1; done\n");
	LAB(0, "experiment --a 'echo out; echo err >&2; exec sh model' "
	       "--b 'exec sh model' --runs 2 --concurrent 1 -o e --json");
	expect_rows("runs", 5);
	expect_number("a.same_ids", 1);
	expect_number("a.same_number", 1);
	expect_number("a.slots_right", 1);
	expect_number("runs.0.a.queues", 1);
	expect_number("runs.0.a.slots_active", 1);
	expect_number("runs.4.common_ids", 1);
	expect_number("runs.4.common_slots", 0);
	expect_number("runs.4.a_before_b", 1);
	/* Both models have the same ids, and MQDs of the same priority. */
	expect_text("strategy", "pid");
	ck_assert_uint_eq(mode_of("e"), 0700);
	ck_assert_uint_eq(mode_of("e/experiment"), 0600);
	ck_assert_uint_eq(mode_of("e/report.md"), 0600);
	ck_assert_uint_eq(mode_of("e/a-1/a.out"), 0600);
	ck_assert_uint_eq(mode_of("e/both-1/a-alone/mqds"), 0600);
	ck_assert_int_eq(stat("e/a-1/a.out", &st), 0);
	ck_assert_int_eq(st.st_size, 4);
	/* Finished runs are not made again; a run that was cut off is. */
	ck_assert_int_eq(unlink("e/b-2/result"), 0);
	LAB(0, "experiment --resume e");
	ck_assert_str_eq(ctl_err, "run b-2\n");
	OUT_HAS("\nSame queue ids every run: yes (overlap with the first: "
		"1.00, consistent)\n");
	OUT_HAS("\nboth-1: 1 ids in common (overlap 1.00), 0 slots in common\n");
	OUT_HAS("both-1: queues of A before B came, and with it: the same");
	OUT_HAS("\nChoose queues by pid: ");
}

TEST_AS_ROOT(no_queue)
{
	LAB(1, "experiment --a true -o e --runs 1");
	ERR_HAS("model A ended before its queues were seen");
	LAB(1, "experiment --report-only e");
	ERR_HAS("e has no complete run of A alone");
}

/* A limit of time ends the models; then a status by a signal is no failure. */
TEST_AS_ROOT(limited)
{
	driver = true;
	LAB(0, "experiment --a 'exec sleep 60' --runs 1 --duration 900ms "
	       "--amd-log 4 -o e");
	OUT_HAS("Same queue ids every run: not known, it ran alone only once");
	OUT_HAS("| run | pid | queues | ids (gpu:queue) | slots | active | "
		"dispatches | hardware queues | run ms |");
	ck_assert_ptr_null(strstr(ctl_out, "the command ended with"));
}

TEST_AS_ROOT(interrupted)
{
	pid_t us = getpid(), other;

	driver = true;
	other = fork();
	if (!other) {
		setpgid(0, 0);
		UNIT_WAIT(!access("e/a-1/a.out", F_OK));
		kill(us, SIGTERM);
		_exit(0);
	}
	LAB(143, "experiment --a 'exec sleep 60' --runs 1 -o e");
	ERR_HAS("interrupted; to go on: gpreempt-lab experiment --resume e");
	ck_assert_int_ne(access("e/a-1/result", F_OK), 0);
}

TEST_AS_ROOT(arguments)
{
	LAB(2, "experiment");
	LAB(2, "experiment --a x --resume e");
	LAB(2, "experiment --a a\nb");
	ERR_HAS("of one line");
	LAB(2, "experiment --a x --runs 101");
	ERR_HAS("more than 100 runs");
	LAB(1, "experiment --a x -o none/e");
	make_text("e/experiment", "x\n");
	LAB(1, "experiment --a x -o e");
	ERR_HAS("--resume goes on with one");
}

static const struct {
	const char *path;
	mode_t mode;
	uid_t owner;
	int status;
} trusts[] = {
	{ "e", 0755, 0, 0 },
	{ "e", 0777, 0, 4 },
	{ "e", 0770, 0, 4 },
	{ "e", 0755, 12, 4 },
	{ "e/experiment", 0644, 0, 0 },
	{ "e/experiment", 0664, 0, 4 },
	{ "e/experiment", 0646, 0, 4 },
	{ "e/experiment", 0600, 12, 4 },
};

TEST_EACH(whose_commands, unit_as_root("whose_commands") * ARRAY_SIZE(trusts))
{
	write_plan(PLAN);
	ck_assert_int_eq(chmod(trusts[_i].path, trusts[_i].mode), 0);
	ck_assert_int_eq(chown(trusts[_i].path, trusts[_i].owner, 0), 0);
	if (!trusts[_i].status) {
		LAB(1, "experiment --resume e");
		ERR_HAS("run a-1\n");
		return;
	}
	LAB(4, "experiment --resume e");
	ERR_HAS("its commands would be run");
	ck_assert_int_ne(access("ran", F_OK), 0);
	ck_assert_int_ne(access("e/a-1", F_OK), 0);
}

TEST_AS_ROOT(a_link_is_no_plan)
{
	write_plan(PLAN);
	ck_assert_int_eq(rename("e/experiment", "plan"), 0);
	ck_assert_int_eq(symlink("../plan", "e/experiment"), 0);
	LAB(4, "experiment --resume e");
	LAB(1, "experiment --report-only e");
	ERR_HAS("it is a link");
	LAB(1, "experiment --resume nothing");
	ERR_HAS("nothing is no experiment");
}

TEST_AS_ROOT(one_at_a_time)
{
	int fd;

	write_plan(PLAN);
	fd = open("e/experiment", O_RDONLY);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	LAB(7, "experiment --resume e");
	ERR_HAS("is at work there");
	close(fd);
}

static const char *const damaged[] = {
	"", "runs 2\n", "runs 101\na x\n", "a x\nruns 0\n", "runs 1\na x\nconcurrent 101\n",
};

TEST_EACH(damaged_plan, ARRAY_SIZE(damaged))
{
	write_plan(damaged[_i]);
	LAB(1, "experiment --report-only e");
	ERR_HAS("e/experiment is damaged");
}

TEST_FIXTURE(setup, teardown)
