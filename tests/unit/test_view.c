// SPDX-License-Identifier: GPL-2.0-only
/* The text of the module's queues file: good, changed, cut and hostile. */

#include <linux/kfd_ioctl.h>

#include <gpreempt/view.h>

#include "lib/see/words.h"
#include "unit.h"

#define HEAD  "gpreempt-queues - version: 1.0\n"
#define NAMES "# qid gpu_id type priority suspended evicted active slots age_ms\n"

static struct gpreempt_view *view;

static int parse(const char *text)
{
	/* A copy of its own, so that a read behind its end is caught. */
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	int ret;

	gpreempt_list_free(view);
	view = NULL;
	memcpy(copy, text, len);
	ret = gp_view_parse(copy, len, &view);
	free(copy);
	return ret;
}

static void drop_view(void)
{
	gpreempt_list_free(view);
	view = NULL;
	unit_teardown();
}

TEST(good)
{
	ck_assert_int_eq(parse(HEAD NAMES "0 0xf7bc compute-aql 7 1 0 4 4 0\n"
					  "1 0x1A2b sdma-xgmi 0 0 1 - 1 250\n"),
			 0);
	ck_assert_int_eq(view->source, GPREEMPT_SOURCE_MODULE);
	ck_assert_uint_eq(view->count, 2);
	ck_assert_int_eq(view->queues[0].gpu_id, 0xf7bc);
	ck_assert_int_eq(view->queues[0].type, GPREEMPT_QUEUE_COMPUTE_AQL);
	ck_assert_int_eq(view->queues[0].priority, 7);
	ck_assert_int_eq(view->queues[0].suspended, 1);
	ck_assert_int_eq(view->queues[0].active, 4);
	ck_assert_int_eq(view->queues[1].gpu_id, 0x1a2b);
	ck_assert_int_eq(view->queues[1].type, GPREEMPT_QUEUE_SDMA_XGMI);
	ck_assert_int_eq(view->queues[1].evicted, 1);
	ck_assert_int_eq(view->queues[1].active, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(view->queues[1].slots, 1);
	ck_assert_int_eq(view->queues[1].age_ms, 250);
}

/* The text of version 1: another order, one blank, and words of its own. */
#define VERSION_1                                                           \
	"gpreempt-queues - version: 1.4\n"                                  \
	"# qid gpu_id type priority suspended evicted active slots age_ms " \
	"hardware state percent doorbell engine rlc rptr wptr unit ring "   \
	"ring_size rptr_addr wptr_addr mqd cwsr cwsr_size exception "       \
	"context waves\n"                                                   \
	"3 0xf7bc sdma 7 1 0 1 1 0 idle "                                   \
	"suspended,percent=0,stuck,new-word 100 0x400 2 5 4096 8589934592 " \
	"bytes 0x7f12345678ab 65536 0x7f0000000010 0x7f0000000018 "         \
	"0x80012345000 - - 0x40000010 - 17\n"

#define VERSION_2_LINE                                           \
	"3     0xf7bc sdma        suspended,wants=0,stuck,new  " \
	"1      1     17    unused      0      7        1      " \
	"0     100   0x400 2      5     4096       8589934592 "  \
	"bytes       0x7f12345678ab 65536      0x7f0000000010 "  \
	"0x7f0000000018 0x80012345000  - - "                     \
	"wave-memory-violation -\n"

#define HEAD_2	  "gpreempt-queues - version: 2.0\n#"
#define VERSION_2 HEAD_2 GP_VIEW_QUEUES_COLUMNS(GP_VIEW_COLUMN_NAME) "\n" VERSION_2_LINE

static const char *const versions[] = {
	VERSION_1,
	VERSION_2,
	/* Another order, columns that are new or missing, words of today. */
	"gpreempt-queues - version: 2.7\n# new qid active priority gpu_id type "
	"hardware state wants slots waves suspended evicted engine rlc wptr "
	"unit ring ring_size mqd exception\n"
	"- 3 1 7 0xf7bc sdma unused wants=0,suspended,stuck 100 1 17 1 0 2 5 "
	"8589934592 bytes 0x7f12345678ab 65536 0x80012345000 wave-memory-violation\n",
};

/* Each version says the same of a queue. */
TEST_EACH(all_columns, ARRAY_SIZE(versions))
{
	const struct gpreempt_queue *queue;
	char text[64];

	ck_assert_int_eq(parse(versions[_i]), 0);
	queue = gp_view_find(view, 3);
	ck_assert_int_eq(queue->gpu_id, 0xf7bc);
	ck_assert_int_eq(queue->type, GPREEMPT_QUEUE_SDMA);
	ck_assert_int_eq(queue->priority, 7);
	ck_assert_int_eq(queue->suspended, 1);
	ck_assert_int_eq(queue->evicted, 0);
	ck_assert_int_eq(queue->active, 1);
	ck_assert_int_eq(queue->slots, 1);
	ck_assert_int_eq(queue->wants, 100);
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_HARDWARE, queue->hardware), "unused");
	ck_assert_int_eq(queue->state, 1 << GP_VIEW_STATE_SUSPENDED | 1 << GP_VIEW_STATE_WANTS |
					       1 << GP_VIEW_STATE_STUCK);
	gpreempt_state_text(queue->state, text, sizeof(text));
	ck_assert_str_eq(text, "suspended,wants=0,stuck");
	ck_assert_int_eq(queue->engine, 2);
	ck_assert_int_eq(queue->wptr, 8589934592);
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_UNIT, queue->unit), "bytes");
	ck_assert_int_eq(queue->ring, 0x7f12345678ab);
	ck_assert_int_eq(queue->mqd, 0x80012345000);
	ck_assert_int_eq(queue->cwsr, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(queue->exception, KFD_EC_MASK(EC_QUEUE_WAVE_MEMORY_VIOLATION));
	ck_assert_int_eq(queue->context, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(queue->waves, 17);
}

#define SAME(name, code, word) _Static_assert(EC_QUEUE_##name == (code), "as linux/kfd_ioctl.h");
GP_VIEW_EXCEPTIONS(SAME)
_Static_assert(EC_QUEUE_NEW == GP_VIEW_EXCEPTION_NEW, "as linux/kfd_ioctl.h");

/* cell, bits, words. EC_QUEUE_NEW, which each healthy queue has, is none. */
static const struct {
	const char *cell;
	int64_t bits;
	const char *words;
} exceptions[] = {
	{ "-", GPREEMPT_UNKNOWN, "-" },
	{ "none", 0, "none" },
	{ "0x0", 0, "none" },
	{ "0x40000000", 0, "none" },
	{ "wave-abort", 1, "wave-abort" },
	{ "0x60000001", 0x20000001, "wave-abort,preemption-error" },
	{ "preemption-error,wave-abort", 0x20000001, "wave-abort,preemption-error" },
	{ "ec-24,wave-abort,ec-40", 0x8000800001, "wave-abort,ec-24,ec-40" },
	{ "ec-31,ec-0,ec-64,ec-,ec-x,ec-99999999999,new", 0, "none" },
};

TEST_EACH(exception, ARRAY_SIZE(exceptions))
{
	char text[128];

	snprintf(text, sizeof(text), HEAD "# qid exception\n0 %s\n", exceptions[_i].cell);
	ck_assert_int_eq(parse(text), 0);
	ck_assert_int_eq(view->queues[0].exception, exceptions[_i].bits);
	ck_assert_uint_eq(gpreempt_exception_text(exceptions[_i].bits, text, sizeof(text)),
			  strlen(exceptions[_i].words));
	ck_assert_str_eq(text, exceptions[_i].words);
}

/* The driver wants it in hardware that was not read; an older module: no waves. */
TEST(wanted)
{
	const struct gpreempt_queue *queue;
	char text[64];

	ck_assert_int_eq(parse("gpreempt-queues - version: 1.4\n"
			       "# qid active hardware state\n"
			       "0 - idle wanted\n"),
			 0);
	queue = gp_view_find(view, 0);
	ck_assert_int_eq(queue->hardware, GP_VIEW_HARDWARE_UNUSED);
	ck_assert_int_eq(queue->state, 1 << GP_VIEW_STATE_WANTED);
	ck_assert_int_eq(queue->waves, GPREEMPT_UNKNOWN);
	gpreempt_state_text(queue->state, text, sizeof(text));
	ck_assert_str_eq(text, "wanted");
}

TEST(words)
{
	char text[8];

	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_HARDWARE, GPREEMPT_UNKNOWN), "-");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_UNIT + 1, 0), "-");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_HARDWARE, GP_VIEW_HARDWARE_COUNT), "-");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_HARDWARE, GP_VIEW_HARDWARE_GFXOFF), "gfxoff");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_SCHEDULER, GP_VIEW_SCHEDULER_MES), "mes");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_SCHEDULER, -5), "-");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_UNIT, GP_VIEW_UNIT_COUNT), "-");
	ck_assert_int_eq(gpreempt_state_text(GPREEMPT_UNKNOWN, text, 8), 1);
	ck_assert_str_eq(text, "-");
	/* The result is snprintf()'s: the length of the whole, and the text that fits. */
	ck_assert_int_eq(gpreempt_state_text(1 << GP_VIEW_STATE_SUSPENDED |
						     1 << GP_VIEW_STATE_EVICTED,
					     text, sizeof(text)),
			 17);
	ck_assert_str_eq(text, "suspend");
	ck_assert_int_eq(gpreempt_state_text(1 << GP_VIEW_STATE_STUCK, NULL, 0), 5);
}

TEST(no_queues)
{
	ck_assert_int_eq(parse(HEAD NAMES), 0);
	ck_assert_uint_eq(view->count, 0);
	ck_assert_ptr_null(gp_view_find(view, 0));
}

TEST(sorted)
{
	ck_assert_int_eq(parse(HEAD "# qid\n10\n2\n7\n"), 0);
	ck_assert_int_eq(view->queues[0].qid, 2);
	ck_assert_int_eq(view->queues[1].qid, 7);
	ck_assert_int_eq(view->queues[2].qid, 10);
	ck_assert_int_eq(gp_view_find(view, 7)->qid, 7);
}

TEST(reordered_columns)
{
	ck_assert_int_eq(parse(HEAD "# active qid slots\n3 5 4\n"), 0);
	ck_assert_int_eq(view->queues[0].qid, 5);
	ck_assert_int_eq(view->queues[0].active, 3);
	ck_assert_int_eq(view->queues[0].slots, 4);
	ck_assert_int_eq(view->queues[0].suspended, GPREEMPT_UNKNOWN);
}

TEST(unknown_columns)
{
	ck_assert_int_eq(parse("gpreempt-queues - version: 1.7\n"
			       "# new qid destroying active other\n"
			       "x/y 5 maybe 2 0x\n"),
			 0);
	ck_assert_int_eq(view->queues[0].qid, 5);
	ck_assert_int_eq(view->queues[0].active, 2);
}

TEST(unknown_type)
{
	ck_assert_int_eq(parse(HEAD "# qid type\n0 quantum\n1 sdma\n"), 0);
	ck_assert_int_eq(view->queues[0].type, GPREEMPT_UNKNOWN);
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_TYPE, view->queues[0].type), "-");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_TYPE, view->queues[1].type), "sdma");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_TYPE, 1000), "-");
}

static const struct {
	const char *text;
	int ret;
} bad[] = {
	{ "", -EPROTO },
	{ "gpreempt-queues - version: 1.0", -EPROTO },
	{ "gpreempt-queues - version: 3.0\n" NAMES, -EPROTO },
	{ "gpreempt-queues - version: 0.9\n" NAMES, -EPROTO },
	{ "gpreempt-queues - version: 10.0\n" NAMES, -EPROTO },
	{ "gpreempt-queues - version: 1\n" NAMES, -EPROTO },
	{ "gpreempt-queues - version: 1.x\n" NAMES, -EPROTO },
	{ "gpreempt-version - version: 1.0\n" NAMES, -EPROTO },
	{ "slabinfo - version: 2.1\n", -EPROTO },
	{ "\n", -EPROTO },
	{ HEAD, -EINVAL },
	{ HEAD "\n", -EINVAL },
	{ HEAD "qid active\n", -EINVAL },
	{ HEAD "#\n", -EINVAL },
	{ HEAD "# gpu_id active\n", -EINVAL },	   /* no qid */
	{ HEAD "# qid qid\n0 0\n", -EINVAL },	   /* twice */
	{ HEAD "# qid active\n0 4", -EINVAL },	   /* cut */
	{ HEAD "# qid active\n0\n", -EINVAL },	   /* a cell missing */
	{ HEAD "# qid active\n0 4 4\n", -EINVAL }, /* one too many */
	{ HEAD "# qid active\n\n", -EINVAL },
	{ HEAD "# qid active\n- 4\n", -EINVAL },
	{ HEAD "# qid active\n0 x\n", -EINVAL },
	{ HEAD "# qid active\n0 -1\n", -EINVAL },
	{ HEAD "# qid active\n0 0x4\n", -EINVAL },
	{ HEAD "# qid active\n4294967296 4\n", -EINVAL },
	{ HEAD "# qid active\n99999999999999999999999 4\n", -EINVAL },
	{ HEAD "# qid ring\n0 0x8000000000000000\n", -EINVAL },
	{ HEAD "# qid active\n0 9223372036854775808\n", -EINVAL },
	{ HEAD "# qid gpu_id\n0 f7bc\n", -EINVAL },
	{ HEAD "# qid gpu_id\n0 0x\n", -EINVAL },
	{ HEAD "# qid gpu_id\n0 0xg\n", -EINVAL },
	{ HEAD "# qid exception\n0 0xg\n", -EINVAL },
	{ HEAD "# qid percent wants\n0 1 1\n", -EINVAL },
	{ HEAD "# qid suspended\n0 2\n", -EINVAL },
	{ HEAD "# qid suspended\n0 01\n", -EINVAL },
};

TEST_EACH(refused, ARRAY_SIZE(bad))
{
	ck_assert_int_eq(parse(bad[_i].text), bad[_i].ret);
	ck_assert_ptr_null(view);
}

/* Whatever is cut off: no crash, and no line that is not whole. */
TEST(every_cut)
{
	static const char text[] = HEAD NAMES "0 0xf7bc compute-aql 7 1 0 4 4 0\n"
					      "1 0xf7bc sdma 7 0 0 - 1 0\n";
	size_t len, lines;

	for (len = 0; len < sizeof(text) - 1; len++) {
		char *copy = malloc(len + 1);
		int ret;

		memcpy(copy, text, len);
		copy[len] = '\0';
		ret = parse(copy);
		for (lines = 0; strchr(copy, '\n'); lines++)
			*strchr(copy, '\n') = ' ';
		if (!ret)
			ck_assert_uint_eq(view->count, lines - 2);
		else
			ck_assert(len == 0 || text[len - 1] != '\n' || lines < 2);
		free(copy);
	}
}

TEST(zero_bytes)
{
	static const char text[] = HEAD "# qid\n\0\n";

	ck_assert_int_eq(gp_view_parse(text, sizeof(text) - 1, &view), -EINVAL);
}

TEST(many_columns)
{
	char text[1024] = HEAD "# qid";
	int i;

	for (i = 0; i < 100; i++)
		strcat(text, " c");
	strcat(text, "\n");
	ck_assert_int_eq(parse(text), -EINVAL);
}

TEST(paused)
{
	ck_assert_int_eq(parse("gpreempt-queues - version: 1.3\n"
			       "# qid state\n0 active\n1 evicted,paused\n"),
			 0);
	ck_assert(gp_view_paused(view));
	view->queues[1].state = GPREEMPT_UNKNOWN;
	ck_assert(!gp_view_paused(view));
	view->count = 0;
	ck_assert(!gp_view_paused(view));
}

TEST(read_from_module)
{
	set_view(PID, HEAD "# qid active\n3 4\n");
	ck_assert_int_eq(gpreempt_view_read(g, PID, &view, NULL), 0);
	ck_assert_int_eq(view->source, GPREEMPT_SOURCE_MODULE);
	ck_assert_int_eq(view->queues[0].qid, 3);
}

TEST(read_long)
{
	char *text = malloc(40000), *at = text;
	int i;

	at += sprintf(at, HEAD "# qid active\n");
	for (i = 0; i < 1000; i++)
		at += sprintf(at, "%d %d\n", i, i % 5);
	set_view(PID, text);
	ck_assert_int_eq(gpreempt_view_read(g, PID, &view, NULL), 0);
	ck_assert_uint_eq(view->count, 1000);
	ck_assert_int_eq(view->queues[999].active, 4);
	free(text);
}

TEST(read_from_sysfs)
{
#define QUEUES "/sys/class/kfd/kfd/proc/4194242/queues/"
	set_file(QUEUES, "11\n2\n3\nnonsense");
	set_file(QUEUES "2/gpuid", "63420");
	set_file(QUEUES "2/type", "0");
	set_file(QUEUES "3/gpuid", "63420\n");
	set_file(QUEUES "3/type", "4\n");
	set_file(QUEUES "11/type", "3\n");
	ck_assert_int_eq(gpreempt_view_read(g, PID, &view, NULL), 0);
	ck_assert_int_eq(view->source, GPREEMPT_SOURCE_SYSFS);
	ck_assert_uint_eq(view->count, 3);
	ck_assert_int_eq(view->queues[0].qid, 2);
	ck_assert_int_eq(view->queues[0].gpu_id, 0xf7bc);
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_TYPE, view->queues[0].type), "compute");
	ck_assert_int_eq(view->queues[0].suspended, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(view->queues[1].type, GPREEMPT_QUEUE_SDMA_XGMI);
	ck_assert_int_eq(view->queues[2].gpu_id, GPREEMPT_UNKNOWN);
	/* Drivers from Linux 7.0 on have one type less before it. */
	ck_assert_int_eq(view->queues[2].type, GPREEMPT_QUEUE_SDMA_XGMI);
}

TEST(read_broken)
{
	struct gpreempt_error err;

	set_view(PID, HEAD "# qid\n1");
	ck_assert_int_eq(gpreempt_view_read(g, PID, &view, &err), -EINVAL);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	ck_assert_ptr_null(view);
}

TEST(read_nothing)
{
	struct gpreempt_error err;

	ck_assert_int_eq(gpreempt_view_read(g, 99, &view, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_PROCESS);
	set_file("/sys/class/kfd/kfd/proc/4194242/queues/", NULL);
	ck_assert_int_eq(gpreempt_view_read(g, PID, &view, &err), -ENODATA);
	ck_assert_int_eq(err.reason, GPREEMPT_NOT_GPU);
	set_file("/sys/class/kfd/kfd/proc/", NULL);
	ck_assert_int_eq(gpreempt_view_read(g, PID, &view, &err), -ENODEV);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_KFD);
}

TEST_FIXTURE(unit_setup, drop_view)
