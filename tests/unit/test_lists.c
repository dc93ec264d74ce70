// SPDX-License-Identifier: GPL-2.0-only
/* Processes, GPUs, slots and facts, from the module and from sysfs; a program's own queues. */
#include <gpreempt/view.h>

#include "lib/see/words.h"
#include "unit.h"

#define DIR "/sys/kernel/debug/gpreempt/"
#define KFD "/sys/class/kfd/kfd/"

static struct gpreempt_error err;

/* Texts in the module's form: see docs/abi.md. */
#define PROCESSES                                                       \
	"gpreempt-processes - version: 1.1\n"                           \
	"# pid ns_pid comm gpus queues aql pm4 sdma xgmi active slots " \
	"suspended evicted debugged age_ms paused\n"

TEST(processes)
{
	struct gpreempt_process_list *list;

	set_file(DIR "processes", PROCESSES "4194300 1 python3 8 5 4 0 1 0 - 20 0 0 1 0 1\n"
					    "4194242 4194242 a\\040b - - - - - - - - - - - - -\n");
	ck_assert_int_eq(gpreempt_processes_read(g, &list, &err), 0);
	ck_assert_int_eq(list->source, GPREEMPT_SOURCE_MODULE);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->processes[0].pid, 4194242);
	ck_assert_str_eq(list->processes[0].comm, "a\\040b");
	ck_assert_int_eq(list->processes[0].queues, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->processes[1].ns_pid, 1);
	ck_assert_str_eq(list->processes[1].comm, "python3");
	ck_assert_int_eq(list->processes[1].sdma, 1);
	ck_assert_int_eq(list->processes[1].active, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->processes[1].debugged, 1);
	ck_assert_int_eq(list->processes[1].paused, 1);
	ck_assert_int_eq(list->processes[0].paused, GPREEMPT_UNKNOWN);
	gpreempt_list_free(list);
	gpreempt_list_free(NULL);
}

TEST(processes_from_sysfs)
{
	struct gpreempt_process_list *list;

	set_file(KFD "proc/", "4194300\n4194242\nnonsense");
	set_file(KFD "proc/4194300/", "pasid\nqueues\nvram_1\nsdma_1\nvram_2\nsdma_2");
	set_file(KFD "proc/4194300/queues/", "0\n1\n2");
	set_file(KFD "proc/4194300/queues/0/type", "0");
	set_file(KFD "proc/4194300/queues/1/type", "1");
	set_file(KFD "proc/4194300/queues/2/type", "4");
	set_file("/proc/4194300/comm", "my job(1)\n");
	set_file("/proc/4194300/status", "Name:\tx\nState:\tS\nNSpid:\t4300\t17\nThreads:\t1\n");
	ck_assert_int_eq(gpreempt_processes_read(g, &list, &err), 0);
	ck_assert_int_eq(list->source, GPREEMPT_SOURCE_SYSFS);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->processes[0].pid, 4194242);
	ck_assert_int_eq(list->processes[0].ns_pid, GPREEMPT_UNKNOWN);
	ck_assert_str_eq(list->processes[0].comm, "");
	ck_assert_int_eq(list->processes[0].gpus, 1);
	ck_assert_int_eq(list->processes[0].queues, 0);
	ck_assert_int_eq(list->processes[1].ns_pid, 17);
	ck_assert_str_eq(list->processes[1].comm, "my\\040job\\0501\\051");
	ck_assert_int_eq(list->processes[1].gpus, 2);
	ck_assert_int_eq(list->processes[1].queues, 3);
	ck_assert_int_eq(list->processes[1].sdma, 1);
	ck_assert_int_eq(list->processes[1].xgmi, 1);
	ck_assert_int_eq(list->processes[1].active, GPREEMPT_UNKNOWN);
	gpreempt_list_free(list);
}

TEST(nodes)
{
	struct gpreempt_nodes *list;

	set_file(DIR "nodes", "gpreempt-nodes - version: 1.0\n"
			      "# gpu_id node device gfx xccs xcc_mask scheduler "
			      "hardware slots_used slots hiq processes queues "
			      "mapped oversubscribed\n"
			      "0xf7bc 1 0000:03:00.0 90403 4 0xf hws read 5 24 1 2 "
			      "9 9 0\n"
			      "0x1234 2 - 90403 4 0xf0 new asleep - 24 - 0 0 0 0\n");
	ck_assert_int_eq(gpreempt_nodes_read(g, &list, &err), 0);
	ck_assert_int_eq(list->source, GPREEMPT_SOURCE_MODULE);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->nodes[0].gpu_id, 0xf7bc);
	ck_assert_str_eq(list->nodes[0].device, "0000:03:00.0");
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_SCHEDULER, list->nodes[0].scheduler), "hws");
	ck_assert_int_eq(list->nodes[0].slots_used, 5);
	ck_assert_str_eq(list->nodes[1].device, "");
	ck_assert_int_eq(list->nodes[1].scheduler, GPREEMPT_UNKNOWN);
	ck_assert_str_eq(gpreempt_word(GPREEMPT_WORD_HARDWARE, list->nodes[1].hardware), "asleep");
	gpreempt_list_free(list);
}

#define NODES KFD "topology/nodes/"

TEST(nodes_from_sysfs)
{
	struct gpreempt_nodes *list;

	set_file(NODES, "0\n10\n2");
	set_file(NODES "0/gpu_id", "0\n");
	set_file(NODES "2/gpu_id", "63420\n");
	set_file(NODES "2/properties", "cpu_cores_count 0\nlocation_id 778\ndomain 1\n"
				       "gfx_target_version 90402\nnum_xcc 6\n");
	set_file(NODES "10/gpu_id", "4660\n");
	ck_assert_int_eq(gpreempt_nodes_read(g, &list, &err), 0);
	ck_assert_int_eq(list->source, GPREEMPT_SOURCE_SYSFS);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->nodes[0].node, 2);
	ck_assert_int_eq(list->nodes[0].gpu_id, 63420);
	/* 778 is 0x30a: bus 3, device 1, function 2. */
	ck_assert_str_eq(list->nodes[0].device, "0001:03:01.2");
	ck_assert_int_eq(list->nodes[0].gfx, 90402);
	ck_assert_int_eq(list->nodes[0].xccs, 6);
	ck_assert_int_eq(list->nodes[0].slots, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->nodes[1].node, 10);
	ck_assert_str_eq(list->nodes[1].device, "");
	gpreempt_list_free(list);
}

TEST(hqds)
{
	struct gpreempt_hqds *list;

	set_file(DIR "pid/4194242/hqds", "gpreempt-hqds - version: 1.0\n"
					 "# gpu_id type xcc pipe queue engine rlc qid active "
					 "vmid rptr wptr unit doorbell age_ms\n"
					 "0xf7bc compute-aql 3 1 2 - - 0 1 8 64 128 dwords "
					 "0x800 0\n");
	ck_assert_int_eq(gpreempt_hqds_read(g, PID, &list, &err), 0);
	ck_assert_uint_eq(list->count, 1);
	ck_assert_int_eq(list->hqds[0].xcc, 3);
	ck_assert_int_eq(list->hqds[0].queue, 2);
	ck_assert_int_eq(list->hqds[0].engine, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->hqds[0].vmid, 8);
	ck_assert_int_eq(list->hqds[0].doorbell, 0x800);
	gpreempt_list_free(list);
}

/* A queue whose slots were not read has a line, which is no slot. */
TEST(hqds_not_read)
{
	struct gpreempt_hqds *list;

	set_file(DIR "pid/4194242/hqds",
		 "gpreempt-hqds - version: 2.0\n#" GP_VIEW_HQDS_COLUMNS(
			 GP_VIEW_COLUMN_NAME) "\n"
					      "0 0xf7bc compute-aql 3 1 2 - - 1 5 read 0 8 64 128 dwords "
					      "0x800\n"
					      "1 0xf7bd compute-aql - - - - - - - lost 0 - - - dwords -\n");
	ck_assert_int_eq(gpreempt_hqds_read(g, PID, &list, &err), 0);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->hqds[0].waves, 5);
	ck_assert_int_eq(list->hqds[0].hardware, GP_VIEW_HARDWARE_READ);
	ck_assert_int_eq(list->hqds[1].qid, 1);
	ck_assert_int_eq(list->hqds[1].active, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->hqds[1].xcc, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->hqds[1].hardware, GP_VIEW_HARDWARE_LOST);
	gpreempt_list_free(list);
}

/* Version 1.1, with the pid behind, and 2.0. */
static const char *const usages[] = {
	"gpreempt-usage - version: 1.1\n# gpu_id context hardware waves waves_max "
	"evicted_ms evicted age_ms pid queues suspended busy\n"
	"0xf7bc - read 12 9728 8589934592 1 0 4194242 3 - 1\n"
	"0xf7bd 1 idle - - 0 0 7 4194242 1 1 -\n",
	"gpreempt-usage - version: 2.0\n#" GP_VIEW_USAGE_COLUMNS(
		GP_VIEW_COLUMN_NAME) "\n"
				     "4194242 0xf7bc 3 1 12 9728 read   0 - 1 8589934592 -\n"
				     "4194242 0xf7bd 1 -  -    - unused 7 1 0          0 1\n",
};

TEST_EACH(usage, ARRAY_SIZE(usages))
{
	struct gpreempt_usages *list;

	set_file(DIR "pid/4194242/usage", usages[_i]);
	ck_assert_int_eq(gpreempt_usage_read(g, PID, &list, &err), 0);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->usages[0].gpu_id, 0xf7bc);
	ck_assert_int_eq(list->usages[0].context, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->usages[0].waves, 12);
	ck_assert_int_eq(list->usages[0].waves_max, 9728);
	ck_assert_int_eq(list->usages[0].evicted_ms, 8589934592);
	ck_assert_int_eq(list->usages[0].evicted, 1);
	ck_assert_int_eq(list->usages[0].busy, 1);
	ck_assert_int_eq(list->usages[1].hardware, GP_VIEW_HARDWARE_UNUSED);
	ck_assert_int_eq(list->usages[1].waves, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->usages[1].age_ms, 7);
	ck_assert_int_eq(list->usages[1].context, 1);
	ck_assert_int_eq(list->usages[0].queues, 3);
	ck_assert_int_eq(list->usages[0].suspended, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->usages[1].pid, PID);
	gpreempt_list_free(list);
}

/* Version 1.0 had no PID: the GPU names a line. */
TEST(first_usage)
{
	struct gpreempt_usages *list;

	set_file(DIR "pid/4194242/usage",
		 "gpreempt-usage - version: 1.0\n# gpu_id waves\n0xf7bc 12\n");
	ck_assert_int_eq(gpreempt_usage_read(g, PID, &list, &err), 0);
	ck_assert_int_eq(list->usages[0].gpu_id, 0xf7bc);
	ck_assert_int_eq(list->usages[0].pid, GPREEMPT_UNKNOWN);
	gpreempt_list_free(list);
	set_file(DIR "pid/4194242/usage", "gpreempt-usage - version: 2.0\n# pid waves\n7 12\n");
	ck_assert_int_eq(gpreempt_usage_read(g, PID, &list, &err), -EINVAL);
}

/* No module, one that is too old, and no process. */
TEST(no_usage)
{
	struct gpreempt_usages *list;
	char text[256];

	ck_assert_int_eq(gpreempt_usage_read(g, PID, &list, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MODULE);
	set_file(DIR "pid/4194242/", "queues\ngpus\nhqds");
	ck_assert_int_eq(gpreempt_usage_read(g, PID, &list, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_OLD_MODULE);
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "reading the usage of the GPUs takes a newer "
			       "gpreempt.ko than the one that is loaded");
	ck_assert_int_eq(gpreempt_usage_read(g, 1, &list, &err), -ESRCH);
}

#define MINE KFD "proc/4194242/"
#define BOTH (GPREEMPT_FIGURE_VRAM | GPREEMPT_FIGURE_EVICTED)

/* The driver's counts are read; other files are not even opened. */
TEST(process_gpus)
{
	struct gpreempt_process_gpus *list;

	set_file(MINE, "pasid\nqueues\nvram_11\nsdma_11\nstats_11\nvram_22");
	set_file(MINE "vram_11", "206158430208\n");
	set_file(MINE "stats_11/evicted_ms", "1500\n");
	set_file(MINE "vram_22", "nonsense\n");
	ck_assert_int_eq(gp_process_gpus_read(g, PID, BOTH, &list, &err), 0);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->gpus[0].gpu_id, 11);
	ck_assert_int_eq(list->gpus[0].vram, 206158430208);
	ck_assert_int_eq(list->gpus[0].evicted_ms, 1500);
	ck_assert_int_eq(list->gpus[1].vram, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(list->gpus[1].evicted_ms, GPREEMPT_UNKNOWN);
	gpreempt_list_free(list);
	ck_assert_int_eq(gp_process_gpus_read(g, PID, GPREEMPT_FIGURE_VRAM, &list, &err), 0);
	ck_assert_int_eq(list->gpus[0].vram, 206158430208);
	ck_assert_int_eq(list->gpus[0].evicted_ms, GPREEMPT_UNKNOWN);
	gpreempt_list_free(list);
	ck_assert_int_eq(gp_process_gpus_read(g, 1, BOTH, &list, &err), -ESRCH);
}

TEST(facts)
{
	struct gpreempt_facts *list;

	set_file(DIR "version", "gpreempt-version - version: 1.1\n# key value\n"
				"module 0.1.0\nfeature_hiq off:kgd_x\n");
	ck_assert_int_eq(gp_module_version(g, &list, &err), 0);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_str_eq(gp_facts_find(list, "module")->value, "0.1.0");
	ck_assert_int_eq(gp_facts_find(list, "module")->number, GPREEMPT_UNKNOWN);
	ck_assert_str_eq(gp_facts_find(list, "feature_hiq")->value, "off:kgd_x");
	ck_assert_ptr_null(gp_facts_find(list, "feature"));
	gpreempt_list_free(list);
	set_file(DIR "stats", "gpreempt-stats - version: 1.0\n# key value\n"
			      "registers 8589934592\n");
	ck_assert_int_eq(gpreempt_module_stats(g, &list, &err), 0);
	ck_assert_int_eq(gp_facts_find(list, "registers")->number, 8589934592);
	gpreempt_list_free(list);
}

/* The first number of a version may be an older module's, or ours, and none that is newer. */
TEST(versions)
{
	struct gpreempt_facts *list;
	int i;

	for (i = 0; i < 5; i++) {
		bool known = i >= 1 && i <= GP_VIEW_STATS_VERSION[0] - '0';

		set_file(DIR "stats",
			 unit_text("gpreempt-stats - version: %d.7\n# key value\nnew 3\n", i));
		list = NULL;
		ck_assert_int_eq(gpreempt_module_stats(g, &list, &err), known ? 0 : -EPROTO);
		gpreempt_list_free(list);
	}
}

/* Facts that need the module name it; facts that the process lacks do not. */
TEST(no_module)
{
	struct gpreempt_facts *list;
	struct gpreempt_hqds *slots;

	ck_assert_int_eq(gp_module_version(g, &list, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MODULE);
	ck_assert_int_eq(gpreempt_module_stats(g, &list, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MODULE);
	ck_assert_int_eq(gpreempt_hqds_read(g, PID, &slots, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MODULE);
	ck_assert_int_eq(gpreempt_hqds_read(g, 77, &slots, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_PROCESS);
}

TEST(no_driver)
{
	struct gpreempt_process_list *processes;
	struct gpreempt_nodes *list;

	set_file(KFD "proc/", NULL);
	set_file(KFD "topology/nodes/", NULL);
	ck_assert_int_eq(gpreempt_processes_read(g, &processes, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_KFD);
	ck_assert_int_eq(gpreempt_nodes_read(g, &list, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_KFD);
}

TEST(broken)
{
	struct gpreempt_process_list *processes;
	struct gpreempt_nodes *list;
	struct gpreempt_facts *some;

	set_file(DIR "processes", PROCESSES "4194300 1\n");
	ck_assert_int_eq(gpreempt_processes_read(g, &processes, &err), -EINVAL);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	set_file(DIR "nodes", PROCESSES);
	ck_assert_int_eq(gpreempt_nodes_read(g, &list, &err), -EPROTO);
	set_file(DIR "stats", "");
	ck_assert_int_eq(gpreempt_module_stats(g, &some, &err), -EPROTO);
}

TEST_FIXTURE(unit_setup, unit_teardown)

#define STAT " (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "

static struct gpreempt_view *view;

static void self_setup(void)
{
	unit_setup();
	set_file("/proc/4194242/stat", "4194242" STAT "777 20\n");
	set_file("/sys/kernel/debug/gpreempt/pid/4194242/queues",
		 "gpreempt-queues - version: 1.0\n# qid\n9\n");
}

static void self_teardown(void)
{
	gpreempt_list_free(view);
	unit_teardown();
}

TEST(on_the_host)
{
	set_file("/proc/self/stat", "4194242" STAT "777 20\n");
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), 0);
	ck_assert_uint_eq(view->count, 1);
	ck_assert_int_eq(view->queues[0].qid, 9);
}

/* Number 17 in there is 4194242 here, by its start. */
TEST(by_start_time)
{
	set_file("/proc/self/stat", "17" STAT "777 20\n");
	set_file("/proc/17/stat", "17" STAT "777 20\n");
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), 0);
	ck_assert_uint_eq(view->count, 1);
	ck_assert_int_eq(view->queues[0].qid, 9);
}

/* The host's process of that number is another one. */
TEST(not_to_be_known)
{
	set_file("/proc/self/stat", "17" STAT "888 20\n");
	set_file("/proc/17/stat", "17" STAT "888 20\n");
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), -ENODATA);
	ck_assert_int_eq(err.reason, GPREEMPT_PID_NAMESPACE);
}

/* self without its own number has a reason, and not that it is no GPU process. */
TEST(empty_stat)
{
	set_file("/proc/self/stat", "");
	ck_assert_int_lt(gpreempt_self_queues(g, &view, &err), 0);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	set_file("/proc/self/stat", NULL);
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
}

TEST(no_gpu_process)
{
	const char *own = unit_text("%d" STAT "999 20\n", getpid());

	set_file("/proc/self/stat", own);
	set_file(unit_text("/proc/%d/stat", getpid()), own);
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), -ENODATA);
	ck_assert_int_eq(err.reason, GPREEMPT_NOT_GPU);
}

TEST_FIXTURE(self_setup, self_teardown)
