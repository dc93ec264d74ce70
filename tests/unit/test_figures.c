// SPDX-License-Identifier: GPL-2.0-only
/* Figures of GPUs and processes, by looks at the module's files. */
#include "ctl/figures.h"
#include "unit.h"

#define DIR   "/sys/kernel/debug/gpreempt/"
#define KFD   "/sys/class/kfd/kfd/"
#define OTHER (PID + 1)
#define MS    NSEC_PER_MSEC

static struct gp_figures f;
static struct gpreempt_error err;

#define USAGE                                                             \
	"gpreempt-usage - version: 1.1\n# gpu_id context hardware waves " \
	"waves_max evicted_ms evicted age_ms pid queues suspended busy\n"
/* hardware, waves, evicted, pid, queues, suspended, busy */
#define LINE "0x7d63 - %s %s 2560 0 %d 0 %d %d %s %s\n"

static void setup(void)
{
	unit_setup();
	gp_figures_init(&f, g);
	set_file(DIR "nodes", "gpreempt-nodes - version: 1.2\n"
			      "# gpu_id node device xccs slots_used slots\n"
			      "0x7d63 1 0000:03:00.0 4 2 32\n0x1d67 2 - 4 0 32\n");
	set_file(KFD "topology/nodes/1/mem_banks/0/properties",
		 "heap_type 1\nsize_in_bytes 1000\n");
	set_file(DIR "processes", "gpreempt-processes - version: 1.1\n"
				  "# pid queues active slots paused debugged\n"
				  "4194242 2 4 8 0 1\n");
	unit_make_process(OTHER);
	set_file(KFD "proc/", "4194242\nnonsense");
	set_file(KFD "proc/4194242/", "vram_32099\nsdma_32099\nqueues");
	set_file(KFD "proc/4194242/vram_32099", "300\n");
	ck_assert_int_eq(gp_figures_refresh(&f, MS, &err), 0);
}

static void teardown(void)
{
	gp_figures_clear(&f);
	unit_teardown();
}

static void look_at(uint64_t ms, const char *lines)
{
	set_file(DIR "usage", unit_text("%s%s", USAGE, lines));
	ck_assert_int_eq(gp_figures_look(&f, ms * MS, &err), 0);
}
#define look(ms, ...) look_at(ms, unit_text(__VA_ARGS__))

static struct ctl_process *process(pid_t pid)
{
	size_t i;

	for (i = 0; i < f.processes.count; i++)
		if (f.processes.items[i].pid == pid)
			return &f.processes.items[i];
	return NULL;
}

/* Figures of the process on its first GPU. */
static struct gp_figure *figure(pid_t pid)
{
	return &process(pid)->gpus.items[0];
}

TEST(waves)
{
	look(10, LINE LINE, "read", "12", 0, PID, 2, "0", "1", "read", "0", 0, OTHER, 1, "0", "0");
	look(20, LINE LINE, "read", "0", 0, PID, 2, "0", "0", "read", "1", 0, OTHER, 1, "0", "1");
	look(30, LINE LINE, "read", "3", 0, PID, 2, "0", "1", "idle", "-", 0, OTHER, 1, "0", "-");
	look(40, LINE LINE, "read", "0", 0, PID, 2, "0", "0", "read", "0", 0, OTHER, 1, "0", "0");
	ck_assert_int_eq(figure(PID)->share.method, GP_BUSY_BY_WAVES);
	ck_assert_uint_eq(figure(PID)->share.looks, 4);
	ck_assert_uint_eq(figure(PID)->share.busy, 2);
	ck_assert_uint_eq(figure(OTHER)->share.looks, 4);
	ck_assert_uint_eq(figure(OTHER)->share.busy, 1);
	ck_assert(gp_share_percent(&figure(OTHER)->share) == 25.0);
	/* One of both processes was busy in three looks. */
	ck_assert_uint_eq(f.gpus.items[0].share.looks, 4);
	ck_assert_uint_eq(f.gpus.items[0].share.busy, 3);
	ck_assert_int_eq(f.gpus.items[0].waves_max, 2560);
	/* No process uses the other GPU. */
	ck_assert_uint_eq(f.gpus.items[1].share.looks, 4);
	ck_assert_uint_eq(f.gpus.items[1].share.busy, 0);
	gp_figures_begin(&f);
	ck_assert(gp_share_percent(&figure(PID)->share) < 0);
	ck_assert_uint_eq(figure(PID)->all.looks, 4);
	ck_assert_uint_eq(figure(PID)->all.busy, 2);
}

/* A look that does not know is none. */
TEST(unknown)
{
	look(10, LINE, "-", "-", 0, PID, 2, "-", "-");
	look(20, LINE, "reset", "-", 0, PID, 2, "0", "-");
	ck_assert_uint_eq(figure(PID)->share.looks, 0);
	ck_assert_uint_eq(f.gpus.items[0].share.looks, 0);
	look(30, LINE LINE, "reset", "-", 0, PID, 2, "0", "-", "read", "5", 0, OTHER, 1, "0", "1");
	ck_assert_uint_eq(figure(PID)->share.looks, 0);
	/* A busy process makes its GPU busy. */
	ck_assert_uint_eq(f.gpus.items[0].share.looks, 1);
	ck_assert_uint_eq(f.gpus.items[0].share.busy, 1);
	ck_assert_int_eq(f.gpus.items[0].waves, GPREEMPT_UNKNOWN);
}

/* A process without a line has no queue, and is not busy. */
TEST(no_line)
{
	look(10, LINE, "read", "5", 0, PID, 2, "0", "1");
	look(20, "%s", "");
	ck_assert_uint_eq(figure(PID)->share.looks, 2);
	ck_assert_uint_eq(figure(PID)->share.busy, 1);
	ck_assert_int_eq(figure(PID)->queues, 0);
}

/* Two contexts of a process are one. */
TEST(contexts)
{
	look(10, LINE LINE, "read", "0", 0, PID, 2, "0", "0", "read", "7", 0, PID, 1, "0", "1");
	ck_assert_uint_eq(figure(PID)->share.looks, 1);
	ck_assert_uint_eq(figure(PID)->share.busy, 1);
	ck_assert_int_eq(figure(PID)->waves, 7);
	ck_assert_int_eq(figure(PID)->queues, 3);
}

TEST(suspended)
{
	look(100, LINE, "read", "5", 0, PID, 2, "0", "1");
	look(150, LINE, "read", "0", 0, PID, 2, "2", "0");
	look(200, LINE, "read", "2", 0, PID, 2, "1", "1");
	look(270, LINE, "read", "0", 1, PID, 2, "2", "0");
	ck_assert_uint_eq(figure(PID)->suspended_ns, (50 + 70) * MS);
	ck_assert_int_eq(figure(PID)->evicted, 1);
	ck_assert_uint_eq(figure(PID)->holds, 2);
}

/* A packet that waits in a slot's queue counts where waves cannot be counted. */
TEST(packets)
{
	static const char columns[] =
		"gpreempt-queues - version: 1.4\n# qid gpu_id type active rptr wptr\n";

	set_view(PID, unit_text("%s0 0x7d63 compute-aql 1 64 128\n", columns));
	look(10, LINE, "read", "-", 0, PID, 1, "0", "-");
	set_view(PID, unit_text("%s0 0x7d63 compute-aql 1 128 128\n"
				"1 0x7d63 sdma 1 0 64\n"
				"2 0x7d63 compute-aql 0 - -\n"
				"3 0x1d67 compute-aql 1 0 64\n",
				columns));
	look(20, LINE, "read", "-", 0, PID, 1, "0", "-");
	ck_assert_int_eq(figure(PID)->share.method, GP_BUSY_BY_PACKETS);
	ck_assert_str_eq(gp_busy_by_names[figure(PID)->share.method], "packets");
	ck_assert_uint_eq(figure(PID)->share.looks, 2);
	ck_assert_uint_eq(figure(PID)->share.busy, 1);
}

TEST(refresh)
{
	struct ctl_process *p = process(PID);

	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(p->slots, 8);
	ck_assert_int_eq(p->debugged, 1);
	ck_assert_uint_eq(p->slots_held, 4);
	ck_assert_uint_eq(p->slots_taken, 8);
	ck_assert_int_eq(figure(PID)->vram, 300);
	ck_assert_uint_eq(f.gpus.count, 2);
	ck_assert_int_eq(f.gpus.items[0].vram, 300);
	ck_assert_int_eq(f.gpus.items[0].vram_size, 1000);
	ck_assert_int_eq(f.gpus.items[1].vram_size, GPREEMPT_UNKNOWN);
	/* Slots are not read again at once, memory is. */
	f.slow_ns = UINT64_MAX;
	set_file(KFD "proc/4194242/vram_32099", "400\n");
	ck_assert_int_eq(gp_figures_refresh(&f, 2 * MS, &err), 0);
	ck_assert_int_eq(figure(PID)->vram, 400);
	ck_assert_uint_eq(process(PID)->slots_taken, 8);
}

/* A refresh without more time reads the memory of one process, in turn. */
TEST(memory_in_turn)
{
	set_file(KFD "proc/", "4194242\n4194243");
	set_file(KFD "proc/4194243/", "vram_32099");
	set_file(KFD "proc/4194243/vram_32099", "7\n");
	ck_assert_int_eq(gp_figures_refresh(&f, 2 * MS, &err), 0);
	/* A new one is read at once. */
	ck_assert_int_eq(figure(OTHER)->vram, 7);
	set_file(KFD "proc/4194242/vram_32099", "301\n");
	set_file(KFD "proc/4194243/vram_32099", "8\n");
	ck_assert_int_eq(gp_figures_refresh(&f, 2 * MS, &err), 0);
	ck_assert_int_eq(figure(PID)->vram + figure(OTHER)->vram, 308);
	ck_assert_int_eq(gp_figures_refresh(&f, 2 * MS, &err), 0);
	ck_assert_int_eq(figure(PID)->vram, 301);
	ck_assert_int_eq(figure(OTHER)->vram, 8);
}

TEST(ended)
{
	set_file(KFD "proc/", "4194243");
	ck_assert_int_eq(gp_figures_refresh(&f, 2 * MS, &err), 0);
	ck_assert_ptr_null(process(PID));
	ck_assert_ptr_nonnull(process(OTHER));
}

/* A module of before, or none, is named. */
TEST(cannot_look)
{
	ck_assert_int_eq(gp_figures_look(&f, 10 * MS, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MODULE);
	set_file(DIR, "version");
	ck_assert_int_eq(gp_figures_look(&f, 10 * MS, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_OLD_MODULE);
	set_file(KFD "proc/", NULL);
}

TEST_FIXTURE(setup, teardown)
