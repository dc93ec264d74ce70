// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's log: prefixes and messages in the forms of the driver's source, and what they add
 * up to. All numbers and names are made up.
 */
#include "ctl/klog.h"
#include "unit-command.h"

#define GPU    "amdgpu 0000:05:00.0: amdgpu: "
#define REMOVE "MES failed to respond to msg=REMOVE_QUEUE\n"
#define HIQ    "HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out\n"

static struct klog k;

static void read_log(const char *text)
{
	klog_free(&k);
	memset(&k, 0, sizeof(k));
	klog_feed(&k, text, strlen(text));
	klog_end(&k);
}

static const struct klog_event *event(const char *name)
{
	size_t i;

	for (i = 0; i < k.events.count; i++)
		if (!strcmp(k.events.items[i].event, name))
			return &k.events.items[i];
	ck_abort_msg("no event %s", name);
	return NULL;
}

static const struct klog_gpu *gpu(const char *name)
{
	size_t i;

	for (i = 0; i <= k.n_gpus; i++)
		if (!strcmp(k.gpus[i].gpu, name))
			return &k.gpus[i];
	ck_abort_msg("no GPU %s", name);
	return NULL;
}

static const struct {
	const char *prefix;
	const char *time;
	int64_t us;
} prefixes[] = {
	{ "[  950.818166] ", "950.818166", 950818166 },
	{ "[    0.000001] ", "0.000001", 1 },
	{ "[  950.818166][ T1234] ", "950.818166", 950818166 },
	{ "[  950.818166 <    0.000005>] ", "950.818166", 950818166 },
	{ "<3>[  950.818166] ", "950.818166", 950818166 },
	{ "kern  :err   : [  950.818166] ", "950.818166", 950818166 },
	{ "\033[32m[  950.818166] \033[0m\033[33m", "950.818166", 950818166 },
	{ "> [  950.818166] ", "950.818166", 950818166 },
	{ "[  950.818166] box kernel: ", "950.818166", 950818166 },
	{ "[Tue Sep 10 09:37:08 2024] ", "Tue Sep 10 09:37:08 2024", GPREEMPT_UNKNOWN },
	{ "Aug 05 09:01:44.316994 box kernel: ", "Aug 05 09:01:44.316994", GPREEMPT_UNKNOWN },
	{ "2025-08-10T19:55:33.635860+01:00 box kernel: ", "2025-08-10T19:55:33.635860+01:00",
	  GPREEMPT_UNKNOWN },
	{ "2025-08-10T19:55:33,635860+01:00 ", "2025-08-10T19:55:33,635860+01:00",
	  GPREEMPT_UNKNOWN },
	{ "kv\xc4\x9b 25 19:29:48 box kernel: ", "kv\xc4\x9b 25 19:29:48", GPREEMPT_UNKNOWN },
	{ "8\xe6\x9c\x88 05 09:01:44 box kernel: ", "8\xe6\x9c\x88 05 09:01:44", GPREEMPT_UNKNOWN },
	{ "ao\xc3\xbbt 05 09:01:44 amdgpu kernel: ", "ao\xc3\xbbt 05 09:01:44", GPREEMPT_UNKNOWN },
	{ "Sep 10 09:37:08 box kernel: [  950.818166] ", "Sep 10 09:37:08", 950818166 },
	{ "3,1234,950818166,-;", "950.818166", 950818166 },
	{ "3,1234,950818166,-,caller=T12;", "950.818166", 950818166 },
	{ "19:29:48 ", "19:29:48", GPREEMPT_UNKNOWN },
	{ "", "", GPREEMPT_UNKNOWN },
};

TEST_EACH(prefix, ARRAY_SIZE(prefixes))
{
	read_log(unit_text("%s" GPU REMOVE, prefixes[_i].prefix));
	ck_assert_uint_eq(k.events.count, 1);
	ck_assert_str_eq(event("preemption-failed")->first.text, prefixes[_i].time);
	ck_assert_int_eq(event("preemption-failed")->first.us, prefixes[_i].us);
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 1);
}

/* dmesg -H has a time, and then differences. */
TEST(differences)
{
	read_log("[Nov19 10:33] " GPU REMOVE "[  +0.000388] " GPU "Failed to evict queue 3\n");
	ck_assert_str_eq(event("evict-failed")->first.text, "Nov19 10:33");
	ck_assert_int_eq(event("evict-failed")->first.us, GPREEMPT_UNKNOWN);
}

/* Lines that are not the kernel's own. */
static const char *const others[] = {
	"Aug 05 09:01:44 box python3[712]: amdgpu: ",
	"amdgpu[712]: ",
	"12,1234,950818166,-;amdgpu: ",
	"<11>[  950.818166] amdgpu: ",
	"[  950.818166] nvidia: ",
	"[  950.818166] [drm:intel_x [i915]] *ERROR* ",
	"[  950.818166] xamdgpu: ",
	"he wrote: amdgpu: ",
	"Aug 05 09:01:44 box sh[9]: x kernel: amdgpu: ",
};

TEST_EACH(other, ARRAY_SIZE(others))
{
	read_log(unit_text("%s" REMOVE, others[_i]));
	ck_assert_uint_eq(k.events.count, 0);
	ck_assert_int_eq(k.driver_lines, 0);
	ck_assert_int_eq(k.lines, 1);
}

/* The driver's name before the address is that of the device, as of the simulated GPU. */
TEST(device_of_another_name)
{
	read_log("[  950.818166] vgpu 0001:00:00.0: amdgpu: " REMOVE
		 "\nAug 05 09:01:44 box 7b.c: amdgpu: " REMOVE);
	ck_assert_int_eq(k.driver_lines, 1);
	ck_assert_uint_eq(k.n_gpus, 1);
	ck_assert_str_eq(k.gpus[1].gpu, "0001:00:00.0");
}

#define U GPREEMPT_UNKNOWN

/* Messages of the driver's source, of several versions. */
static const struct {
	const char *line, *event;
	int64_t pid, pasid, queue, doorbell, lost;
} messages[] = {
	{ GPU "Queue preemption failed for queue with doorbell_id: 1a02", "preemption-failed", U, U,
	  U, 0x1a02, 1 },
	{ GPU "XCC 3: Queue preemption failed for queue with doorbell_id: 1002",
	  "preemption-failed", U, U, U, 0x1002, 1 },
	{ "amdgpu: " HIQ, "preemption-failed", U, U, U, U, 1 },
	{ "kfd kfd: qcm fence wait loop timeout expired", "preemption-failed", U, U, U, U, 1 },
	{ "amdgpu: cp queue pipe 1 queue 2 preemption failed", "preemption-failed", U, U, U, U, 1 },
	{ "[drm:mes_v11_0_submit [amdgpu]] *ERROR* MES failed to response msg=3",
	  "preemption-failed", U, U, U, U, 1 },
	{ "[drm:mes_v11_0_submit [amdgpu]] *ERROR* MES failed to response msg=14", "no-answer", U,
	  U, U, U, 0 },
	{ GPU "MES(1) failed to respond to msg=SUSPEND", "preemption-failed", U, U, U, U, 1 },
	{ GPU "MES failed to respond to msg=MISC (WAIT_REG_MEM)", "no-answer", U, U, U, U, 0 },
	{ "amdgpu 0000:05:00.0: MES(0) failed to respond to msg=REMOVE_QUEUE", "preemption-failed",
	  U, U, U, U, 1 },
	{ GPU "failed to remove hardware queue from MES, doorbell=0x1002", "not-removed", U, U, U,
	  0x1002, 1 },
	/* Its number is cut off. */
	{ GPU "failed to remove hardware queue from MES, doorbell=", "not-removed", U, U, U, U, 1 },
	{ GPU "failed to remove queue from MES, doorbell=0x1002", "not-removed", U, U, U, 0x1002,
	  1 },
	{ "kfd kfd: amdgpu: Process pid 4711 got unhandled exception", "exception", 4711, U, U, U,
	  0 },
	{ "kfd kfd: amdgpu: Sending SIGTERM to process pid 4711", "exception", 4711, U, U, U, 0 },
	{ "amdgpu: Started restoring process pasid 4711", "restoring", U, U, U, U, 0 },
	{ "amdgpu: Restore process pid 4711 failed during resume", "restore-failed", 4711, U, U, U,
	  0 },
	{ "amdgpu: Restore process 32770 failed during resume", "restore-failed", U, U, U, U, 0 },
	{ GPU "failed to add hardware queue to MES, doorbell=0x1c00", "create-failed", U, U, U,
	  0x1c00, 0 },
	{ GPU "remove_all_kfd_queues_mes: Failed to remove queue 4 for dev 4711", "not-removed", U,
	  U, 4, U, 1 },
	{ "amdgpu: Failed to evict queues of pasid 0x8002", "evict-failed", U, 0x8002, U, U, 1 },
	{ "amdgpu: Failed to evict queues of process pid 0x10", "evict-failed", 16, U, U, U, 1 },
	{ "amdgpu: Failed to suspend process pid 4711", "suspend-failed", 4711, U, U, U, 1 },
	{ "amdgpu: Failed to suspend process 0x8003", "suspend-failed", U, 0x8003, U, U, 1 },
	{ "amdgpu: Evicting PASID 0x8001 queues", "evicting", U, 0x8001, U, U, 0 },
	{ "amdgpu: Started evicting process pid 4711", "evicting", 4711, U, U, U, 0 },
	{ "amdgpu: Finished evicting pasid 0x8001", "evicted", U, 0x8001, U, U, 0 },
	{ "amdgpu: Restoring PASID 0x8001 queues", "restoring", U, 0x8001, U, U, 0 },
	{ "amdgpu: Pasid 0x8004 DQM create queue type 0 failed. ret -62", "create-failed", U,
	  0x8004, U, U, 0 },
	{ "amdgpu: process pid 4711 DQM create queue type 2 failed. ret -12", "create-failed", 4711,
	  U, U, U, 0 },
	{ "amdgpu: DQM create queue 0 failed. ret -62", "create-failed", U, U, U, U, 0 },
	{ GPU "No more SDMA queue to allocate", "create-failed", U, U, U, U, 0 },
	{ GPU "queue id 0x1f at pasid 0x8001 is reset", "queue-reset", U, 0x8001, 0x1f, U, 0 },
	{ "kfd kfd: amdgpu: Process 4711 (pasid 0x8001) got unhandled exception", "exception", 4711,
	  U, U, U, 0 },
	{ GPU "[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32770, for process a b "
	      "pid 7 thread a b pid 8)",
	  "page-fault", 7, 32770, U, U, 0 },
	/* The driver's own. */
	{ GPU "[gfxhub] page fault (src_id:0 ring:157 vmid:0 pasid:0, for process  pid 0 thread  "
	      "pid 0)",
	  "page-fault", U, 0, U, U, 0 },
	/* A process that calls itself "x pid 1 thread". */
	{ GPU "[gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:9, for process x pid 1 thread "
	      "pid 7 thread y pid 8)",
	  "page-fault", U, 9, U, U, 0 },
	{ "amdgpu: sq_intr: error, se 3, data 0x0, sh 0", "wave-error", U, U, U, U, 0 },
	{ "amdgpu: Freeing queue vital buffer 0x7e0000000000, queue evicted", "buffer-freed", U, U,
	  U, U, 0 },
};

TEST_EACH(message, ARRAY_SIZE(messages))
{
	const struct klog_event *e;

	read_log(unit_text("[   10.000001] %s\n", messages[_i].line));
	ck_assert_uint_eq(k.events.count, 1);
	e = event(messages[_i].event);
	ck_assert_int_eq(e->pid, messages[_i].pid);
	ck_assert_int_eq(e->pasid, messages[_i].pasid);
	ck_assert_int_eq(e->queue, messages[_i].queue);
	ck_assert_int_eq(e->doorbell, messages[_i].doorbell);
	ck_assert_int_eq(k.gpus[0].lost + k.gpus[1].lost, messages[_i].lost);
}

/* The process stands in the next line of the same GPU, in three forms, or not at all. */
static const struct {
	const char *next;
	int64_t pid;
} processes[] = {
	{ GPU " for process a b pid 77 thread c pid 78)\n", 77 },
	{ GPU " in process a pid 77 thread a pid 77)\n", 77 },
	{ GPU " Process a pid 77 thread a pid 77\n", 77 },
	{ GPU "  in page starting at address 0x0000700000000000 from client 10\n", U },
	{ "amdgpu 0000:06:00.0: amdgpu:  Process a pid 77 thread a pid 77\n", U },
	{ "", U },
};

TEST_EACH(process, ARRAY_SIZE(processes))
{
	read_log(unit_text(GPU "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:9)\n%s",
			   processes[_i].next));
	ck_assert_int_eq(event("page-fault")->pid, processes[_i].pid);
	ck_assert_int_eq(event("page-fault")->pasid, 9);
	ck_assert_int_eq(gpu("0000:05:00.0")->page_faults, 1);
}

#define INCIDENT                                                                                   \
	GPU REMOVE GPU "failed to remove hardware queue from MES, "                                \
		       "doorbell=0x1002\n" GPU "MES might be in unrecoverable state, issue a GPU " \
		       "reset\n" GPU "Failed to evict queue 1\n" GPU                               \
		       "Failed to evict process queues\namdgpu: Failed to suspend process pid 9\n"

/* One failure makes up to six lines. */
TEST(one_failure)
{
	char text[256];

	read_log(INCIDENT);
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 1);
	ck_assert_int_eq(k.gpus[0].lost, 0);
	ck_assert(klog_text(gpu("0000:05:00.0"), text, sizeof(text)));
	ck_assert_str_eq(text,
			 "GPU 0000:05:00.0: preemption failed 1 time, the last at a time that is not known; "
			 "it was not reset since: suspend is not safe there");
	read_log(INCIDENT "[   20.000000] " GPU "GPU reset(1) succeeded!\n" INCIDENT INCIDENT);
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 3);
	ck_assert_int_eq(gpu("0000:05:00.0")->resets, 1);
	ck_assert_int_eq(event("not-removed")->count, 3);
	/* In a reset the kernel's own queues are taken down, too. */
	read_log(INCIDENT GPU "GPU reset begin!. Source:  3\n" GPU REMOVE GPU REMOVE GPU
			      "GPU reset(1) succeeded!\n" GPU REMOVE);
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 2);
	ck_assert_int_eq(gpu("0000:05:00.0")->silent, 2);
	ck_assert_int_eq(event("preemption-failed")->count, 2);
	ck_assert_int_eq(event("no-answer")->count, 2);
	read_log("[   20.000000] " GPU HIQ "[   21.000000] " GPU "GPU reset(1) succeeded!\n");
	ck_assert(klog_text(gpu("0000:05:00.0"), text, sizeof(text)));
	ck_assert_str_eq(text,
			 "GPU 0000:05:00.0: preemption failed 1 time, the last at 20.000000 s after boot; it "
			 "was reset since: a suspend may fail there again");
	read_log(GPU HIQ GPU "GPU reset(1) failed\n");
	ck_assert(klog_text(gpu("0000:05:00.0"), text, sizeof(text)));
	ck_assert_ptr_nonnull(strstr(text, "its last reset failed: boot again"));
	/* The next boot in a journal resets all; a program's line does not. */
	read_log(GPU HIQ "Aug 05 09:01:44 box kernel: Linux version 6.12.1 (a@b)\n");
	ck_assert(!gpu("0000:05:00.0")->open);
	read_log(GPU HIQ "kern  :notice: [    0.000000] Linux version 6.12.1 (a@b)\n");
	ck_assert(!gpu("0000:05:00.0")->open);
	read_log(GPU HIQ "Aug 05 09:01:44 box sh[9]: Linux version 6.12.1 (a@b)\n");
	ck_assert(gpu("0000:05:00.0")->open);
	read_log(GPU "GPU reset(1) succeeded!\n");
	ck_assert(!klog_text(gpu("0000:05:00.0"), text, sizeof(text)));
}

#define XCC(n, time)                                                            \
	"[" time "] " GPU "XCC " #n ": Queue preemption failed for queue with " \
	"doorbell_id: 1002\n"

/* Each XCC has a line for one queue. */
TEST(xccs)
{
	read_log(XCC(0, "   20.000001") XCC(1, "   20.000002") XCC(2, "   20.000003"));
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 1);
	ck_assert_int_eq(event("preemption-failed")->count, 3);
	read_log(XCC(0, "   20.000001") XCC(0, "   25.000002"));
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 2);
}

/* Only the second line of an older driver names the GPU; another GPU has nothing to do with it. */
TEST(named_later)
{
	read_log("[drm:mes [amdgpu]] *ERROR* MES failed to response msg=3\n" GPU
		 "failed to remove hardware queue from MES, doorbell=0x1002\n");
	ck_assert_int_eq(k.gpus[0].lost, 0);
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 1);
	read_log(GPU HIQ "amdgpu 0000:06:00.0: amdgpu: Failed to evict process queues\n");
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 1);
	ck_assert_int_eq(gpu("0000:06:00.0")->lost, 1);
	read_log("[   20.000000] amdgpu: " HIQ "[   21.000000] " GPU "GPU reset begin!\n"
		 "[   22.000000] amdgpu: " HIQ "[   23.000000] " GPU "GPU reset(1) succeeded!\n");
	ck_assert_int_eq(gpu("0000:05:00.0")->lost, 1);
	ck_assert_int_eq(k.gpus[0].lost, 0);
	/* A reset of an hour later may be of another GPU. */
	read_log("[   20.000000] amdgpu: " HIQ "[ 3621.000000] " GPU "GPU reset begin!\n");
	ck_assert_int_eq(k.gpus[0].lost, 1);
	read_log("amdgpu: " HIQ GPU "GPU reset(1) succeeded!\namdgpu: Failed to quiesce KFD\n");
	ck_assert_int_eq(k.gpus[0].lost, 2);
}

/* Memory is bounded, and no piece of a text is lost. */
TEST(bounds)
{
	char text[256];
	size_t i, len;

	read_log("");
	for (i = 0; i < KLOG_MAX + 5; i++) {
		snprintf(text, sizeof(text),
			 "amdgpu 0000:%02zx:00.0: amdgpu: Failed to evict "
			 "queue %zu\r\n",
			 i % 200, i);
		len = strlen(text);
		klog_feed(&k, text, 30);
		klog_feed(&k, text + 30, len - 30);
	}
	klog_end(&k);
	ck_assert_int_eq(k.lines, KLOG_MAX + 5);
	ck_assert_uint_eq(k.events.count, KLOG_MAX);
	ck_assert_int_eq(k.left_out, 5);
	ck_assert_uint_eq(k.n_gpus, KLOG_GPUS);
}

/* The command. */

TEST(tables)
{
	make_text("log", "[   20.000000] " GPU HIQ "[   30.000000] " GPU HIQ);
	LAB(0, "klog log");
	OUT_HAS("\n0000:05:00.0\t2\t0\t0\t0\t0\t30.000000\t-\tGPU 0000:05:00.0: preemption ");
	OUT_HAS("\npreemption-failed\t2\t0000:05:00.0\t-\t-\t-\t-\t-\t-\t20.000000\t30.000000\t"
		"20000000\t30000000\t1\n");
	LAB(0, "klog log -o event,count --no-headers");
	ck_assert_str_eq(ctl_out, "preemption-failed\t2\n");
	LAB(0, "klog log --json");
	expect_text("gpus.0.gpu", "0000:05:00.0");
	expect_number("gpus.0.failed", 2);
	expect_number("events.0.last_us", 30000000);
	expect_null("events.0.owner");
	expect_number("driver_lines", 2);
	make_text("all", INCIDENT "[   21.000000] " GPU "GPU reset(1) succeeded!\n");
	LAB(0, "klog all --json");
	expect_text("gpus.0.last_reset", "21.000000");
	expect_text("events.1.doorbell", "0x1002");
	expect_number("events.3.queue", 1);
	expect_number("events.5.pid", 9);
	make_text("other", GPU "Fetched VBIOS from VFCT\n");
	LAB(0, "klog other");
	ERR_HAS("1 lines of the driver, none of them about queues");
}

TEST(refused)
{
	make_text("text", "[   20.000000] usb 1-1: new device\n");
	make_file("gz", "\x1f\x8b\x08", 3);
	ck_assert_int_eq(mkdir("empty", 0755), 0);
	LAB(1, "klog text");
	ERR_HAS("no line of amdgpu or KFD");
	ERR_HAS("dmesg");
	LAB(1, "klog gz --json");
	ERR_HAS("compressed (gzip), not the kernel's log");
	LAB(1, "klog nothing");
	LAB(1, "klog empty");
	LAB(2, "klog text -o nonsense");
}

/* The running kernel's log; without the right it is not known. */
TEST_AS_ROOT(running)
{
	LAB(1, "klog");
	ERR_HAS("/dev/kmsg");
	make_text("made/dev/kmsg", "3,1,20000000,-;" GPU HIQ " SUBSYSTEM=pci\n");
	LAB(0, "klog --json");
	expect_number("gpus.0.failed", 1);
	ck_assert_int_eq(chmod("made/dev/kmsg", 0600), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	LAB(4, "klog");
	ck_assert_int_eq(seteuid(0), 0);
}

/* Whose queue was it? By the doorbell, or the PASID. */
TEST(owners)
{
	make_text("now/kernel-log", "[   20.000000] " GPU "failed to remove hardware queue from "
				    "MES, doorbell=0x402\n[   21.000000] " GPU "failed to remove "
				    "hardware queue from MES, doorbell=0x1\namdgpu: Started "
				    "evicting pasid 0x2\n");
	LAB(0, "klog now --json");
	expect_number("events.0.owner", 144);
	expect_number("events.0.owner_queue", 1);
	expect_null("events.1.owner");
	expect_number("events.2.owner", 156);
	LAB(0, "klog now/kernel-log --json");
	expect_null("events.0.owner");
	LAB(0, "klog now/kernel-log --snapshot now --json");
	expect_number("events.0.owner", 144);
	LAB(0, "klog . --json");
	expect_number("events.0.owner", 144);
}

/* Moments whose files lie in one folder have one log, which is read once. */
TEST(one_folder)
{
	make_text("now/kernel-log", "[   20.000000] " GPU "failed to remove hardware queue from "
				    "MES, doorbell=0x402\n");
	ck_assert_int_eq(unlink("now/rls"), 0);
	ck_assert_int_eq(rename("now/mqds", "now/mqds_1.txt"), 0);
	ck_assert_int_eq(rename("now/hqds", "now/hqds_1.txt"), 0);
	ck_assert_int_eq(link("now/mqds_1.txt", "now/mqds_2.txt"), 0);
	ck_assert_int_eq(link("now/hqds_1.txt", "now/hqds_2.txt"), 0);
	LAB(0, "klog now --json");
	expect_number("events.0.count", 1);
	expect_number("events.0.owner", 144);
	ck_assert_int_eq(unlink("now/kernel-log"), 0);
	LAB(1, "klog now");
	ERR_HAS("now/kernel-log: No such file");
}

/* doctor reads the same, of this host and of a snapshot; it fails for other reasons here. */
static const struct {
	const char *log, *finding;
} findings[] = {
	{ "3,1,20000000,-;" GPU HIQ "3,1,30000000,-;" GPU HIQ,
	  "warning\tpreemptions\tGPU 0000:05:00.0: preemption failed 2 times, the last at "
	  "30.000000 s after boot; it was not reset since" },
	{ "3,1,20000000,-;amdgpu: " HIQ, "warning\tpreemptions\ta GPU: preemption failed 1 time" },
	{ "3,1,20000000,-;" GPU "MES failed to respond to msg=MISC (WRITE_REG)\n",
	  "note\tpreemptions\tGPU 0000:05:00.0: the firmware did not answer the driver 1 time" },
	{ "3,1,20000000,-;" GPU "GPU reset(1) failed\n",
	  "warning\tpreemptions\tGPU 0000:05:00.0: its last reset failed" },
	{ "3,1,20000000,-;" GPU "Fetched VBIOS from VFCT\n",
	  "ok\tpreemptions\tthe kernel's log has no preemption that failed" },
	{ "3,1,20000000,-;usb 1-1: new device\n",
	  "unknown\tpreemptions\tno line of amdgpu is in the kernel's log" },
	{ NULL, "unknown\tpreemptions\tthe kernel's log cannot be read: No such file" },
};

TEST_EACH(doctor, ARRAY_SIZE(findings))
{
	make_text("day/sys/class/kfd/kfd/proc/.keep", "");
	if (findings[_i].log) {
		make_text("made/dev/kmsg", findings[_i].log);
		make_text("day/kernel-log", findings[_i].log);
	}
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "doctor --color never");
	OUT_HAS(findings[_i].finding);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "doctor --from day");
	OUT_HAS(findings[_i].finding);
}

TEST_FIXTURE(snapshots_setup, command_teardown)
