// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-ctl trial: its pure parts, its state file, and the command on a host without ROCm. */
#include <sys/mman.h>
#include <unistd.h>

#include "trial/runtime.h"
#include "trial/trial.h"

#include "unit-command.h"

static int stages_of(const char *text)
{
	unsigned int stages;

	return trial_parse_stages(text, &stages) ? -1 : (int)stages;
}

TEST(stages)
{
	static const char *const bad[] = { "",	 "9",  "-",    "-3", "0-",    "3-0", "0-9", "1,",
					   ",1", "1 ", "1,,2", "a",  "0-3-4", "10",  "0x1" };
	size_t i;

	ck_assert_int_eq(stages_of("0"), 1);
	ck_assert_int_eq(stages_of("0-3"), 15);
	ck_assert_int_eq(stages_of("8,0-1,1"), 256 + 3);
	ck_assert_int_eq(stages_of("2-2"), 4);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(stages_of(bad[i]) == -1, "\"%s\" was taken", bad[i]);
}

/* The header stands at the end of a page that cannot be written. */
TEST(packet_without_header)
{
	struct runtime_packet packet = { .workgroup = { 64, 1, 1 }, .signal = 7 };
	size_t page = getpagesize(), header = sizeof(packet.header);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *place = pages + page - header;

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages, page, PROT_READ), 0);
	runtime_fill(place, &packet);
	ck_assert_mem_eq(place + header, (char *)&packet + header, sizeof(packet) - header);
	munmap(pages, 2 * page);
}

static const char *verdict_of(int64_t tried, int64_t held)
{
	struct trial_gpu gpu = { 0 };

	trial_count(&gpu, 0, tried, held);
	return gpu.claims[0].verdict;
}

TEST(verdicts)
{
	ck_assert_str_eq(verdict_of(0, 0), "not tried");
	ck_assert_str_eq(verdict_of(-1, -1), "not tried");
	ck_assert_str_eq(verdict_of(5, 5), "holds");
	ck_assert_str_eq(verdict_of(5, 4), "does not hold");
}

/* Each stage and each claim has all that is printed of it. */
TEST(tables_are_whole)
{
	static struct trial_gpu gpu;
	struct trial_line line;
	size_t i;

	trial_begin(&gpu);
	for (i = 0; i < TRIAL_STAGES; i++) {
		ck_assert_ptr_nonnull(gpu.stages[i].name);
		ck_assert_str_eq(gpu.stages[i].result, "left out");
		ck_assert_ptr_nonnull(trial_stages[i].what);
		ck_assert_uint_gt(trial_stages[i].limit_s, 0);
		/* A stage that suspends asks before. */
		ck_assert_int_eq(trial_stages[i].asks, i > 1);
		json_object_put(gpu.stages[i].runs);
	}
	for (i = 0; i < TRIAL_CLAIMS; i++) {
		ck_assert_str_eq(gpu.claims[i].verdict, "not tried");
		ck_assert_ptr_nonnull(gpu.claims[i].claim);
		ck_assert_ptr_nonnull(gpu.claims[i].how);
	}
	for (i = 0; i < TRIAL_RESULTS; i++) {
		trial_set_result(&line, i);
		ck_assert_ptr_nonnull(line.result);
	}
}

#define HEAD "gpreempt-trial - version: 1.0\n"

static int state_of(const char *text)
{
	unsigned int open;

	return trial_state_parse(text, strlen(text), &open) ? -1 : (int)open;
}

TEST(state_text)
{
	static const char *const bad[] = { "",
					   "gpreempt-trial",
					   HEAD,
					   HEAD "\n",
					   HEAD "9\n",
					   HEAD "3",
					   HEAD " 3\n",
					   HEAD "3,\n",
					   HEAD "3\n0\n",
					   "gpreempt-trial - version: 2.0\n3\n" };
	size_t i;

	ck_assert_int_eq(state_of(HEAD "3\n"), 8);
	ck_assert_int_eq(state_of(HEAD "0,3\n"), 9);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(state_of(bad[i]) == -1, "\"%s\" was taken", bad[i]);
}

TEST(state_file)
{
	unsigned int open = 99;

	ck_assert_int_eq(trial_state_read(&open), 0);
	ck_assert_uint_eq(open, 0);
	ck_assert_int_eq(mkdir(TRIAL_DIR, 0700), 0);
	ck_assert_int_eq(trial_state_write(0x12), 0);
	ck_assert_int_eq(trial_state_read(&open), 0);
	ck_assert_uint_eq(open, 0x12);
	ck_assert_int_eq(trial_state_write(0), 0);
	ck_assert_int_ne(access(TRIAL_STATE, F_OK), 0);
	ck_assert_int_eq(trial_state_write(0), 0);
}

/* A link is not followed: the directory may have been another user's. */
TEST(state_is_no_link)
{
	unsigned int open;

	ck_assert_int_eq(mkdir(TRIAL_DIR, 0700), 0);
	ck_assert_int_eq(symlink("/dev/null", TRIAL_STATE), 0);
	ck_assert_int_eq(trial_state_read(&open), -ELOOP);
	ck_assert_int_eq(trial_state_write(1), -ENOTSUP);
}

/* Figures of AMD's data sheets, in GB/s: MI210, MI300X, RX 7900 XTX, RX 9070 XT. */
TEST(bandwidth)
{
	ck_assert_uint_eq(trial_bandwidth("gfx90a", 4096, 1600) / 1000000000, 1638);
	ck_assert_uint_eq(trial_bandwidth("gfx942", 8192, 1300) / 1000000000, 5324);
	ck_assert_uint_eq(trial_bandwidth("gfx1100", 384, 1249) / 1000000000, 959);
	ck_assert_uint_eq(trial_bandwidth("gfx1201", 256, 1258) / 1000000000, 644);
	ck_assert_uint_eq(trial_bandwidth("gfx942", 0, 1300), 0);
	ck_assert_uint_eq(trial_bandwidth("gfx1103", 128, 1000), 0);
}

TEST(numbers)
{
	struct json_object *o = json_tokener_parse(
		"{ \"n\": 7, \"ring\": \"0x7f0000001000\", \"none\": null, \"active\": true }");

	ck_assert_int_eq(trial_int(o, "n"), 7);
	ck_assert_int_eq(trial_int(o, "ring"), 0x7f0000001000);
	ck_assert_int_eq(trial_int(o, "active"), 1);
	ck_assert_int_eq(trial_int(o, "none"), GPREEMPT_UNKNOWN);
	ck_assert_int_eq(trial_int(o, "other"), GPREEMPT_UNKNOWN);
	ck_assert_int_eq(trial_int(NULL, "n"), GPREEMPT_UNKNOWN);
	json_object_put(o);
}

/* The last whole line counts: the load may be at its next one. */
TEST(last_line)
{
	struct ctl_child p = { .out = open("out", O_RDWR | O_CREAT, 0600) };
	struct json_object *o;

	ck_assert_ptr_null(trial_last(&p));
	ck_assert_int_eq(write(p.out, "{\"n\":1}", 7), 7);
	ck_assert_ptr_null(trial_last(&p));
	ck_assert_int_eq(write(p.out, "\n{\"n\":2}\n{\"n", 13), 13);
	o = trial_last(&p);
	ck_assert_int_eq(trial_int(o, "n"), 2);
	json_object_put(o);
	close(p.out);
}

TEST_FIXTURE(command_setup, command_teardown)

/* The GPU on which a process has a queue. */
static void use_gpu(const char *gpu_id)
{
	set_view(PID, unit_text("gpreempt-queues - version: 1.4\n# qid gpu_id\n0 %s\n", gpu_id));
}

static void host_setup(void)
{
	system_setup();
	unit_one_gpu("gfx_target_version 90402\nlocation_id 768\ndomain 0\n");
	set_file("/sys/class/kfd/kfd/proc/4194242/vram_63420", "0\n");
	use_gpu("0x1");
}

/* Refused before a stage begins, and without a file. */
TEST_AS_ROOT(refused)
{
	static const struct {
		const char *words, *why;
		int status;
	} wrong[] = {
		{ "--stages 9", "numbers from 0 to 8", GPREEMPT_CLASS_USAGE },
		{ "--gpu 7", "there is no GPU 7", GPREEMPT_CLASS_NO_TARGET },
		{ "--yes", "process 4194242 uses this GPU, or may use it", GPREEMPT_CLASS_BUSY },
		{ "--yes --output none/result", "the result none/result", GPREEMPT_CLASS_FAILED },
	};
	size_t i;
	int lock;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		use_gpu(wrong[i].status == GPREEMPT_CLASS_BUSY ? "0xf7bc" : "0x1");
		CTL(wrong[i].status, "trial %s", wrong[i].words);
		ERR_HAS(wrong[i].why);
	}
	/* Memory alone, or an answer that does not come, is a use. */
	for (i = 0; i < 2; i++) {
		set_file("/sys/class/kfd/kfd/proc/4194242/vram_63420", i ? "4096\n" : "");
		CTL(GPREEMPT_CLASS_BUSY, "trial --yes");
	}
	lock = shr_lock_file(TRIAL_STATE ".lock");
	CTL(GPREEMPT_CLASS_BUSY, "trial --yes");
	ERR_HAS("another gpreempt-ctl trial is at work");
	close(lock);
	make_text(TRIAL_STATE, "damaged");
	CTL(GPREEMPT_CLASS_FAILED, "trial --yes");
	ERR_HAS("it is none of ours, or damaged");
	ck_assert_str_eq(ctl_out, "");
}

/* The commands that it runs are ours, and gpreempt-load is not installed. */
TEST_AS_ROOT(without_load)
{
	CTL(0, "trial --dry-run --minutes 1");
	OUT_HAS("stage 2, idle: suspend and resume a process without waves, 100 times; ");
	CTL(GPREEMPT_CLASS_PARTIAL, "trial --yes --stages 0-2 --minutes 1 --output result --json");
	expect_text("gpus.0.stages.0.result", "done");
	expect_text("gpus.0.stages.1.result", "not possible here");
	HAS(json_text("gpus.0.stages.1.why"), "gpreempt-load: No such file or directory");
	expect_text("gpus.0.stages.3.result", "left out");
	expect_text("gpus.0.claims.0.verdict", "not tried");
	expect_text("gpus.0.claims.11.verdict", "holds");
	expect_number("status", GPREEMPT_CLASS_PARTIAL);
	expect_schema("trial", unit_file("result"));
	ck_assert_int_ne(access(TRIAL_STATE, F_OK), 0);
	/* No terminal, and no --yes. */
	CTL(0, "trial --stages 2 --gpu all");
	OUT_HAS("not agreed to: --yes");
}

/* A stage that the host did not survive. */
TEST_AS_ROOT(hung)
{
	make_text(TRIAL_STATE, HEAD "0\n");
	CTL(0, "trial --dry-run");
	OUT_HAS("the kernel's log; at most 60 s; it hung before: left out without --again");
	CTL(GPREEMPT_CLASS_PARTIAL, "trial --stages 0");
	OUT_HAS("0\tlook\thung before\t");
	CTL(0, "trial --stages 0 --again");
	OUT_HAS("0\tlook\tdone\t");
	ck_assert_int_ne(access(TRIAL_STATE, F_OK), 0);
}

TEST_FIXTURE(host_setup, system_teardown)

/* A trial runs the commands of its own program, which is this one. */
int main(int argc, char **argv)
{
	return argc > 1 ? printf("{\"command\":\"%s\"}\n", argv[1]) < 0 : unit_run();
}
