// SPDX-License-Identifier: GPL-2.0-only
/* Check whether a session can be opened at all, and the sentences for the reasons. */
#include "unit.h"

static struct gpreempt_error err;

static void expect(int code, enum gpreempt_reason reason)
{
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(gpreempt_check(g, PID, &err), code);
	ck_assert_int_eq(err.reason, reason);
	/* The result is the same without a place for the reason. */
	ck_assert_int_eq(gpreempt_check(g, PID, NULL), code);
}

TEST(good)
{
	ck_assert_int_eq(gpreempt_check(g, PID, &err), 0);
	ck_assert_str_eq(loop.trace, "");
}

TEST(not_root)
{
	loop.root = false;
	expect(-EPERM, GPREEMPT_NOT_ROOT);
}

TEST(no_device)
{
	loop.kfd = false;
	expect(-ENOENT, GPREEMPT_NO_KFD);
}

#define KFD_PROC "/sys/class/kfd/kfd/proc/"

static const struct {
	const char *path, *text;
	int code;
	enum gpreempt_reason reason;
} refusals[] = {
	{ "/proc/self/ns/pid", "pid:[4026532199]", -ENOTSUP, GPREEMPT_PID_NAMESPACE },
	{ KFD_PROC, NULL, -ENODEV, GPREEMPT_NO_KFD },
	{ "/proc/4194242/status", NULL, -ESRCH, GPREEMPT_NO_PROCESS },
	{ KFD_PROC "4194242/queues/", NULL, -ENODATA, GPREEMPT_NOT_GPU },
};

TEST_EACH(refused, ARRAY_SIZE(refusals))
{
	set_file(refusals[_i].path, refusals[_i].text);
	expect(refusals[_i].code, refusals[_i].reason);
}

/* The state of a process that is none, has ended, or is traced, in that order. */
static const struct {
	const char *state;
	int tgid, tracer, threads, code;
	enum gpreempt_reason reason;
	int other;
	const char *name;
} states[] = {
	{ "S (sleeping)", 4200, 0, 3, -ESRCH, GPREEMPT_THREAD, 4200, "" },
	{ "Z (zombie)", PID, 0, 2, -ENOTSUP, GPREEMPT_LEADER_GONE, 0, "" },
	{ "Z (zombie)", PID, 0, 1, -ESRCH, GPREEMPT_ENDED, 0, "" },
	{ "t (tracing stop)", PID, 77, 3, -EBUSY, GPREEMPT_TRACED, 77, "gdb" },
	/* The tracer is a thread; users know its process. */
	{ "S (sleeping)", PID, 78, 3, -EBUSY, GPREEMPT_TRACED, 77, "gdb" },
};

TEST_EACH(state, ARRAY_SIZE(states))
{
	set_file("/proc/78/status", "Name:\tx\nState:\tS (sleeping)\n"
				    "Tgid:\t77\nTracerPid:\t0\nThreads:\t2\n");
	set_file("/proc/77/comm", "gdb\n");
	set_file("/proc/4194242/status",
		 unit_text("Name:\tState:\nUmask:\t0022\nState:\t%s\nTgid:\t%d\nTracerPid:\t%d\n"
			   "Threads:\t%d\n",
			   states[_i].state, states[_i].tgid, states[_i].tracer,
			   states[_i].threads));
	expect(states[_i].code, states[_i].reason);
	ck_assert_int_eq(err.other, states[_i].other);
	ck_assert_str_eq(err.name, states[_i].name);
}

#define GPUS_FILE "/sys/kernel/debug/gpreempt/pid/4194242/gpus"
#define GPUS_HEAD "gpreempt-gpus - version: 1.0\n# gpu_id vm\n"
#define GPUS_1_1  "gpreempt-gpus - version: 1.1\n# gpu_id vm context\n"

static const struct {
	const char *text;
	int ret;
	const char *missing;
} gpus[] = {
	{ GPUS_HEAD "0x1 1\n", 0, "" },
	{ GPUS_HEAD "0x1 0\n", 0, "" }, /* then it has no queues */
	{ GPUS_HEAD "0x1 1\n0x2 1\n", 0, "" },
	{ GPUS_HEAD, 0, "" },
	{ GPUS_HEAD "0x1 1\n0xf7bc 0\n0x3 1\n", -EOPNOTSUPP, "0xf7bc" },
	{ GPUS_HEAD "0x1 0\n0x2 1\n0x3 0\n", -EOPNOTSUPP, "0x1 0x3" },
	{ GPUS_HEAD "0x1 1\n0x2 -\n", -EOPNOTSUPP, "0x2" },
	/* Queues of further contexts are never suspended. */
	{ GPUS_1_1 "0x1 1 -\n0x1 0 0\n0x1 0 1\n", 0, "" },
	{ GPUS_1_1 "0x1 1 0\n0x2 1 0\n0x1 1 -\n0x2 0 -\n", -EOPNOTSUPP, "0x2" },
};

/* The driver of some kernels crashes when such a process is suspended. */
TEST_EACH(no_address_space, ARRAY_SIZE(gpus))
{
	set_file(GPUS_FILE, gpus[_i].text);
	if (!gpus[_i].ret) {
		ck_assert_int_eq(gpreempt_check(g, PID, &err), 0);
		return;
	}
	expect(gpus[_i].ret, GPREEMPT_NO_ADDRESS_SPACE);
	ck_assert_str_eq(err.name, gpus[_i].missing);
	ck_assert_int_eq(gpreempt_error_class(&err), GPREEMPT_CLASS_UNSUPPORTED);
}

/* Its queues are where the driver's debugger does not reach; then not all of them. */
TEST(further_contexts)
{
#define KFD_DIR KFD_PROC "4194242/"
	set_file(KFD_DIR, "pasid\nqueues\ncontext_0\ncontext_1");
	ck_assert_int_eq(gpreempt_check(g, PID, &err), 0);
	set_file(KFD_DIR "context_1/queues/", "0");
	expect(-EOPNOTSUPP, GPREEMPT_CONTEXTS);
	ck_assert_int_eq(gpreempt_error_class(&err), GPREEMPT_CLASS_UNSUPPORTED);
	set_file(KFD_DIR "queues/", "0");
	ck_assert_int_eq(gpreempt_check(g, PID, &err), 0);
}

TEST(many_without_address_space)
{
	set_file(GPUS_FILE, GPUS_HEAD "0x11111 0\n0x22222 0\n"
				      "0x33333 0\n0x44444 0\n0x55555 0\n0x66666 0\n");
	expect(-EOPNOTSUPP, GPREEMPT_NO_ADDRESS_SPACE);
	ck_assert_uint_eq(strlen(err.name), sizeof(err.name) - 1);
}

/* The render nodes count if there is no module: which has it open? Device 226:128 is e280. */
TEST(render_nodes)
{
#define NODES "/sys/class/kfd/kfd/topology/nodes/"
	set_file(KFD_DIR, "pasid\nvram_11\nvram_22\nqueues\nvram_x");
	set_file(NODES, "0\n1\n2");
	set_file(NODES "0/gpu_id", "0\n");
	set_file(NODES "1/gpu_id", "11\n");
	set_file(NODES "1/properties", "cpu_cores_count 0\ndrm_render_minor 128\n");
	set_file(NODES "2/gpu_id", "22\n");
	set_file(NODES "2/properties", "drm_render_minor 129\nsimd_count 80\n");
	set_file("/proc/4194242/fd/", "0\n3\n7");
	set_file("/proc/4194242/fd/3", "0xe280");
	expect(-EOPNOTSUPP, GPREEMPT_NO_ADDRESS_SPACE);
	ck_assert_str_eq(err.name, "0x16");
	set_file("/proc/4194242/fd/7", "0xe281");
	ck_assert_int_eq(gpreempt_check(g, PID, &err), 0);
	/* A node that cannot be found is none that it has open. */
	set_file(NODES "2/gpu_id", "33\n");
	expect(-EOPNOTSUPP, GPREEMPT_NO_ADDRESS_SPACE);
}

TEST(start_time)
{
	uint64_t ticks;

	ck_assert_int_eq(gpreempt_start_time(g, PID, &ticks), 0);
	ck_assert_uint_eq(ticks, 777);
	ck_assert_int_eq(gpreempt_start_time(g, 99, &ticks), -ESRCH);
	set_file("/proc/4194242/stat", "4194242 (x) S 1 2 3");
	ck_assert_int_eq(gpreempt_start_time(g, PID, &ticks), -EPROTO);
}

/* Each reason has a sentence without a hole, and a next step. */
TEST_EACH(sentences, GPREEMPT_REASON_COUNT - 1)
{
	char text[256], next[256];

	err = (struct gpreempt_error){
		.code = -EIO,
		.reason = _i + 1,
		.pid = 4711,
		.other = 815,
		.major = 1,
		.minor = 9,
		.step = "looking",
		.name = "gdb",
	};
	gpreempt_error_text(&err, text, sizeof(text));
	gpreempt_error_next(&err, next, sizeof(next));
	ck_assert_msg(strlen(text) > 10, "%s", text);
	ck_assert_msg(strlen(next) > 10, "%s", next);
	ck_assert_ptr_null(strchr(text, '{'));
	ck_assert_ptr_null(strchr(next, '{'));
	ck_assert_int_ne(gpreempt_error_class(&err), GPREEMPT_CLASS_DONE);
}

TEST(values_in_sentences)
{
	char text[256];

	err = (struct gpreempt_error){
		.reason = GPREEMPT_TRACED,
		.pid = 4711,
		.other = 815,
		.name = "gdb",
	};
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "process 4711 is traced by process 815 (gdb)");
	ck_assert_int_eq(gpreempt_error_class(&err), GPREEMPT_CLASS_BUSY);
	err = (struct gpreempt_error){
		.reason = GPREEMPT_SYSTEM,
		.code = -ENOSPC,
		.step = "writing",
	};
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "writing failed: No space left on device");
	err.reason = 999;
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_int_eq(gpreempt_error_class(&err), GPREEMPT_CLASS_FAILED);
}

TEST(short_buffer)
{
	char text[8] = "1234567";
	int len;

	err = (struct gpreempt_error){
		.reason = GPREEMPT_NOT_GPU,
		.pid = 4711,
	};
	len = gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "process");
	ck_assert_int_eq(gpreempt_error_text(&err, NULL, 0), len);
	ck_assert_int_eq(len, strlen("process 4711 is not a GPU process"));
}

TEST_FIXTURE(unit_setup, unit_teardown)
