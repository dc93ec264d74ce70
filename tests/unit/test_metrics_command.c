// SPDX-License-Identifier: GPL-2.0-only
/* Command metrics: AMD's names of GPUs, owners of processes, and series that are left out. */

#include <gpreempt/view.h>

#include "hold/run-dir.h"
#include "cli/metrics.h"
#include "unit-command.h"
#include "unit-holder.h"

#define DIR   "/sys/kernel/debug/gpreempt/"
#define KFD   "/sys/class/kfd/kfd/"
#define OTHER (PID + 1)
#define THIRD (PID + 2)

/* gpu_id, hardware, waves, evicted_ms, pid, queues, suspended */
#define LINE "0x%x - %s %s 2560 %d 0 0 %d %d %s %s\n"

#define UID "01234567_89ab_cdef_0123_456789abcdef"
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char usage_head[] = "gpreempt-usage - version: 1.1\n# gpu_id context hardware waves "
				 "waves_max evicted_ms evicted age_ms pid queues suspended busy\n";

#define FILE_NAME HOLD_DIR "/file.prom"

static void set_vram(pid_t pid, unsigned int gpu_id, const char *bytes)
{
	set_file(unit_text(KFD "proc/%d/", pid), unit_text("queues\nvram_%u", gpu_id));
	set_file(unit_text(KFD "proc/%d/vram_%u", pid, gpu_id), bytes);
}

static void add_process(pid_t pid, const char *comm, const char *cgroup)
{
	unit_make_process(pid);
	set_file(unit_text("/proc/%d/comm", pid), comm);
	set_file(unit_text("/proc/%d/cgroup", pid), cgroup);
	set_file(unit_text("/proc/%d/status", pid),
		 unit_text("Name:\tx\nState:\tS (sleeping)\nTgid:\t%d\n"
			   "Pid:\t%d\nTracerPid:\t0\nUid:\t1001\t0\t0\t0\n",
			   pid, pid));
}

static void setup(void)
{
	unit_setup();
	hold_dir_setup();
	set_file("/etc/passwd", "ann:x:1001:1001::/home/ann:/bin/sh\n");
	set_file(DIR "version", "gpreempt-version - version: 1.1\n"
				"# key value\nmodule 0.1.0\n");
	set_file(DIR "nodes", "gpreempt-nodes - version: 1.2\n"
			      "# gpu_id node device xccs slots_used slots processes queues\n"
			      "0x7d63 1 0000:83:00.0 4 2 32 2 3\n"
			      "0x1d67 2 0000:03:00.0 2 - 16 0 0\n"
			      "0x1d68 3 0000:03:00.0 2 0 16 1 1\n");
	set_file(KFD "topology/nodes/1/mem_banks/0/properties",
		 "heap_type 1\nsize_in_bytes 206158430208\n");
	set_file(KFD "proc/", "4194242\n4194243\n4194244");
	set_file(DIR "processes", "gpreempt-processes - version: 1.1\n"
				  "# pid queues active slots suspended evicted paused debugged\n"
				  "4194242 2 6 8 0 0 0 0\n4194243 1 0 4 1 0 0 1\n"
				  "4194244 1 - 4 0 0 0 0\n");
	add_process(PID, "train\n", "0::/system.slice/slurmstepd.scope/job_42/step_0/user\n");
	add_process(OTHER, "a\"b\\c\033\377\n",
		    "0::/kubepods.slice/kubepods-pod" UID ".slice/cri-containerd-" ID ".scope\n");
	set_file("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		 "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"c\","
		 "\"io.kubernetes.cri.sandbox-name\":\"job-7\","
		 "\"io.kubernetes.cri.sandbox-namespace\":\"ml\"}}");
	add_process(THIRD, "idle\n", "0::/\n");
	set_vram(PID, 0x7d63, "4096\n");
	set_vram(OTHER, 0x7d63, "8192\n");
	set_vram(THIRD, 0x1d68, "100\n");
	set_file(DIR "usage", unit_text("%s" LINE LINE LINE, usage_head, 0x7d63, "read", "12", 1500,
					PID, 2, "0", "1", 0x7d63, "read", "0", 0, OTHER, 1, "1",
					"0", 0x1d68, "reset", "-", 0, THIRD, 1, "0", "-"));
}

static void teardown(void)
{
	unlink(FILE_NAME);
	unit_teardown();
}

static size_t count_series(const char *text)
{
	size_t n = 0;

	for (; *text; text = strchr(text, '\n') + 1)
		n += *text != '#';
	return n;
}

/* Run it for one look. */
#define METRICS(...)                                      \
	do {                                              \
		CTL(0, "metrics --for 0ms " __VA_ARGS__); \
		unit_drop_hostnames(ctl_out);             \
	} while (0)

#define JOB "process_id=\"4194242\",job_id=\"42\",job_user=\"ann\""
#define POD                                                                  \
	"process_id=\"4194243\",pod_uuid=\"01234567-89ab-cdef-"              \
	"0123-456789abcdef\",pod=\"job-7\",namespace=\"ml\",container=\"c\"" \
	",container_id=\"" ID "\""

/* The index of AMD's libraries: by PCI address, and then by partition. */
TEST(gpus)
{
	METRICS("");
	OUT_HAS("\ngpreempt_gpu_slots{gpu_id=\"2\",gpu_partition_id=\"NA\","
		"kfd_gpu_id=\"0x7d63\",pci=\"0000:83:00.0\"} 32\n");
	OUT_HAS("\ngpreempt_gpu_slots{gpu_id=\"0\",gpu_partition_id=\"0\","
		"kfd_gpu_id=\"0x1d67\",pci=\"0000:03:00.0\"} 16\n");
	OUT_HAS("\ngpreempt_gpu_slots{gpu_id=\"1\",gpu_partition_id=\"1\","
		"kfd_gpu_id=\"0x1d68\",pci=\"0000:03:00.0\"} 16\n");
	OUT_HAS("\ngpreempt_gpu_slots_used{gpu_id=\"2\"");
	ck_assert_ptr_null(strstr(ctl_out, "gpreempt_gpu_slots_used{gpu_id=\"0\""));
	OUT_HAS("kfd_gpu_id=\"0x7d63\",pci=\"0000:83:00.0\",method=\"waves\"} 1\n");
	OUT_HAS("kfd_gpu_id=\"0x1d67\",pci=\"0000:03:00.0\",method=\"waves\"} 0\n");
	OUT_HAS("kfd_gpu_id=\"0x1d68\",pci=\"0000:03:00.0\",method=\"-\"} NaN\n");
	OUT_HAS("\ngpreempt_gpu_vram_bytes{gpu_id=\"2\",gpu_partition_id=\"NA\","
		"kfd_gpu_id=\"0x7d63\",pci=\"0000:83:00.0\"} 12288\n");
	OUT_HAS("kfd_gpu_id=\"0x7d63\",pci=\"0000:83:00.0\"} 206158430208\n");
	OUT_HAS("\ngpreempt_gpu_waves_max{gpu_id=\"2\",gpu_partition_id=\"NA\","
		"kfd_gpu_id=\"0x7d63\",pci=\"0000:83:00.0\"} 2560\n");
}

/* The order is not known without all addresses, and no index is shown. */
TEST(no_address)
{
	set_file(DIR "nodes", "gpreempt-nodes - version: 1.2\n"
			      "# gpu_id node device slots\n"
			      "0x7d63 1 - 32\n0x1d67 2 0000:03:00.0 16\n");
	METRICS("");
	OUT_HAS("\ngpreempt_gpu_slots{kfd_gpu_id=\"0x7d63\"} 32\n");
	OUT_HAS("\ngpreempt_gpu_slots{kfd_gpu_id=\"0x1d67\","
		"pci=\"0000:03:00.0\"} 16\n");
}

TEST(host)
{
	METRICS("");
	OUT_LINE("# TYPE gpreempt_info gauge\ngpreempt_info{version=\"%s\","
		 "module=\"0.1.0\"} 1\n",
		 gpreempt_version());
	OUT_HAS("\ngpreempt_simulated{} 0\n");
	OUT_HAS("\ngpreempt_left_alone{by=\"follow\"} 0\n"
		"gpreempt_left_alone{by=\"guard\"} 0\n");
	/* A busy host may look more often. */
	OUT_HAS("\ngpreempt_sample_looks{} ");
	OUT_HAS("\ngpreempt_series_dropped{} 0\n");
	OUT_HAS("\ngpreempt_sample_seconds{} ");
	OUT_HAS("\ngpreempt_scrape_cpu_seconds{} ");
	ck_assert_str_eq(ctl_err, "");
}

TEST(processes)
{
	METRICS("");
	OUT_HAS("\ngpreempt_process_info{process_id=\"4194242\",comm=\"train\","
		"user=\"ann\",job_id=\"42\",job_user=\"ann\",cgroup=\"/system.slice/"
		"slurmstepd.scope/job_42/step_0/user\"} 1\n");
	OUT_HAS("\ngpreempt_process_slots_ratio{" JOB "} 0.75\n");
#define ON_GPU "{gpu_id=\"2\",gpu_partition_id=\"NA\",kfd_gpu_id=\"0x7d63\","
	OUT_HAS("\ngpreempt_process_busy_ratio" ON_GPU JOB ",method=\"waves\"} 1\n");
	OUT_HAS("\ngpreempt_process_waves" ON_GPU JOB "} 12\n");
	OUT_HAS("\ngpreempt_process_queues" ON_GPU JOB "} 2\n");
	OUT_HAS("\ngpreempt_process_vram_bytes" ON_GPU JOB "} 4096\n");
	OUT_HAS("\ngpreempt_process_evicted_seconds_total" ON_GPU JOB "} 1.5\n");
	OUT_HAS("\ngpreempt_process_suspended_seconds" ON_GPU JOB "} 0\n");
	OUT_HAS("\ngpreempt_process_busy_ratio" ON_GPU POD ",method=\"waves\"} 0\n");
	/* The process chose its name. */
	OUT_HAS("\ngpreempt_process_info{process_id=\"4194243\","
		"comm=\"a\\\"b\\\\c\\\\033\\\\377\",user=\"ann\",pod_uuid=\"");
	OUT_HAS("kfd_gpu_id=\"0x1d68\",process_id=\"4194244\",method=\"-\"} NaN\n");
	ck_assert_ptr_null(strstr(ctl_out, "slots_ratio{process_id=\"4194244\""));
}

/* A holder is no tenant. */
TEST(holders)
{
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER, .pid = PID, .guardian = 1 };
	int lock = hold_take(OTHER, &owner);

	METRICS("");
	ck_assert_ptr_null(strstr(ctl_out, "process_id=\"4194242\""));
	OUT_HAS("process_id=\"4194243\"");
	hold_drop(OTHER, lock);
}

static bool shows(pid_t pid)
{
	return strstr(ctl_out, unit_text("process_id=\"%d\"", pid));
}

/* The busiest stays longest, then that with most memory; never a part of one. */
TEST(max_series)
{
	size_t all, of[3], i;

	METRICS("");
	all = count_series(ctl_out);
	for (i = 0; i < 3; i++)
		of[i] = unit_count(ctl_out, unit_text("process_id=\"%zu\"", PID + i));
	METRICS("--max-series %zu", all);
	ck_assert_uint_eq(count_series(ctl_out), all);
	OUT_HAS("\ngpreempt_series_dropped{} 0\n");
	METRICS("--max-series %zu", all - 1);
	ck_assert_uint_eq(count_series(ctl_out), all - of[2]);
	OUT_LINE("\ngpreempt_series_dropped{} %zu\n", of[2]);
	ck_assert(shows(PID) && shows(OTHER) && !shows(THIRD));
	/* The third one would fit, but is not the next. */
	ck_assert_uint_lt(of[2], of[1]);
	METRICS("--max-series %zu", all - of[2] - 1);
	ck_assert_uint_eq(count_series(ctl_out), all - of[2] - of[1]);
	OUT_LINE("\ngpreempt_series_dropped{} %zu\n", of[2] + of[1]);
	ck_assert(shows(PID) && !shows(OTHER) && !shows(THIRD));
	/* Series of GPUs are always there. */
	METRICS("--max-series 1");
	ck_assert(!shows(PID) && !shows(OTHER) && !shows(THIRD));
	OUT_LINE("\ngpreempt_series_dropped{} %zu\n", of[0] + of[1] + of[2]);
	OUT_HAS("\ngpreempt_gpu_slots{gpu_id=\"2\"");
	ck_assert_int_eq(ctl_line("metrics --max-series 0"), GPREEMPT_CLASS_USAGE);
}

TEST(formats)
{
	METRICS("--format openmetrics");
	OUT_HAS("# TYPE gpreempt info\n");
	OUT_HAS("# TYPE gpreempt_process_evicted_seconds counter\n"
		"# UNIT gpreempt_process_evicted_seconds seconds\n"
		"gpreempt_process_evicted_seconds_total{");
	ck_assert_str_eq(ctl_out + strlen(ctl_out) - strlen("\n# EOF\n"), "\n# EOF\n");
	METRICS("--format prometheus");
	ck_assert_ptr_null(strstr(ctl_out, "EOF"));
	CTL(GPREEMPT_CLASS_USAGE, "metrics --format json");
	ERR_HAS("--format is prometheus or openmetrics");
}

TEST(output)
{
	METRICS("--output " FILE_NAME);
	ck_assert_str_eq(ctl_out, "");
	ck_assert_uint_eq(mode_of(FILE_NAME), 0644);
	ck_assert_ptr_nonnull(strstr(unit_file(FILE_NAME), "\ngpreempt_process_waves{"));
	CTL(1, "metrics --for 10h --output no/such/file");
	ERR_HAS("the metrics file no/such/file cannot be written: No such file");
	ERR_HAS("next: name a file in a directory");
	ck_assert_int_eq(unlink(FILE_NAME), 0);
	ck_assert_int_eq(symlink("nothing", FILE_NAME), 0);
	CTL(1, "metrics --for 10h --output " FILE_NAME);
	ERR_HAS("a link is there");
}

/* Sysfs has memory where there is no module; shares are not known. */
TEST(no_module)
{
	set_file(DIR "nodes", NULL);
	set_file(DIR "processes", NULL);
	set_file(DIR "version", NULL);
	set_file(DIR "usage", NULL);
	set_file(KFD "topology/nodes/", "1");
	set_file(KFD "topology/nodes/1/gpu_id", "32099\n");
	set_file(KFD "topology/nodes/1/properties", "domain 0\nlocation_id 768\nnum_xcc 4\n");
	METRICS("");
	ERR_HAS("gpreempt.ko, which is not loaded");
	OUT_LINE("\ngpreempt_info{version=\"%s\"} 1\n", gpreempt_version());
	OUT_HAS("\ngpreempt_sample_looks{} 0\n");
	OUT_HAS("\ngpreempt_gpu_busy_ratio{gpu_id=\"0\",gpu_partition_id=\"NA\","
		"kfd_gpu_id=\"0x7d63\",pci=\"0000:03:00.0\",method=\"-\"} NaN\n");
	OUT_HAS("kfd_gpu_id=\"0x7d63\"," JOB "} 4096\n");
	OUT_HAS("kfd_gpu_id=\"0x7d63\"," JOB ",method=\"-\"} NaN\n");
	ck_assert_ptr_null(strstr(ctl_out, "gpreempt_process_suspended"));
}

/* Each family of GPUs and processes is there, and none of another name. */
TEST(families)
{
	size_t i, found = 0;

	set_file("/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used", "8192\n");
	METRICS("");
	for (i = 0; i < OUT_FAMILIES; i++) {
		const struct out_family *f = &out_families[i];

		if (strncmp(f->name, "gpreempt_guard_", 15)) {
			OUT_LINE("# HELP %s%s %s\n", f->name, out_type_suffixes[f->type], f->help);
			found++;
		}
	}
	ck_assert_uint_eq(unit_count(ctl_out, "# TYPE "), found);
}

TEST(no_driver)
{
	set_file(KFD "proc/", NULL);
	ck_assert_int_ne(ctl_line("metrics --for 0ms"), 0);
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS("next: ");
}

/* Write the text for Prometheus, for "make check-metrics", which names a directory. */
TEST_EACH(files, getenv("METRICS_DIR") ? 2 : 0)
{
	static const struct {
		const char *format, *name;
	} rows[] = {
		{ "prometheus", "gpreempt.prom" },
		{ "openmetrics", "gpreempt.om" },
	};

	CTL(0, "metrics --for 100ms --format %s --output %s/%s", rows[_i].format,
	    getenv("METRICS_DIR"), rows[_i].name);
}

TEST_FIXTURE(setup, teardown)
