// SPDX-License-Identifier: GPL-2.0-only
/* Each check of the doctor, well and ill. */
#include "ctl/doctor.h"
#include "hold/run-dir.h"
#include "unit-host.h"
#include "unit.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes/"
#define NODE(capability, gfx)                                                                  \
	"cpu_cores_count 0\nsimd_count 80\ncapability " capability "\ngfx_target_version " gfx \
	"\ndrm_render_minor 128\nlocation_id 0\n"                                              \
	"domain 0\nnum_xcc 4\nnum_cp_queues 24\n"
#define GOOD NODE("536903680", "90402") /* both bits of debugging */
#define VIEW "/sys/kernel/debug/gpreempt/"

static struct gp_finding findings[32];
static size_t n_findings;
static enum gpreempt_class class; /* class of all findings */

static void setup(void)
{
	unit_setup();
	set_file("/proc/sys/kernel/osrelease", "7.4.1+deb14-amd64\n");
	set_file("/sys/module/amdgpu/", "parameters");
	set_file("/sys/module/amdgpu/parameters/cwsr_enable", "1\n");
	set_file("/sys/module/amdgpu/parameters/sched_policy", "0\n");
	set_file("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	unit_one_gpu(GOOD);
	set_file("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	set_file("/proc/self/mounts", "debugfs /sys/kernel/debug debugfs rw 0 0\n");
	set_file(VIEW "version", "gpreempt-version - version: 1.1\n# key value\n"
				 "module 0.1.0\nfeature_sdma on\nfeature_hiq on\n"
				 "feature_contexts off:kfd_process.id\n"
				 "feature_resets off:queue_properties.is_reset\n");
}

static void take(void *unused, const struct gp_finding *f)
{
	(void)unused;
	ck_assert_uint_lt(n_findings, ARRAY_SIZE(findings));
	findings[n_findings++] = *f;
	class = gp_finding_class(f, class);
}

static const struct gp_finding *find(const char *name)
{
	size_t i;

	n_findings = 0;
	class = GPREEMPT_CLASS_DONE;
	gp_doctor(g, take, NULL);
	for (i = 0; i < n_findings; i++)
		if (!strcmp(findings[i].name, name))
			return &findings[i];
	ck_abort_msg("there is no check %s", name);
	return NULL;
}

/* A host without a fault: each check has a text. */
TEST(well)
{
	size_t i, j;

	find("kernel");
	for (i = 0; i < n_findings; i++) {
		const struct gp_finding *f = &findings[i];

		ck_assert_msg(f->health == GP_HEALTH_OK || !strcmp(f->name, "hardware"), "%s: %s",
			      f->name, f->text);
		ck_assert_msg(strlen(f->text) > 5, "%s", f->name);
		for (j = 0; j < i; j++)
			ck_assert_str_ne(f->name, findings[j].name);
	}
	ck_assert_int_eq(class, GPREEMPT_CLASS_DONE);
}

/* Checks that are unknown on a host without a GPU. */
static const char *const only_gpus_tell[] = {
	"debug-trap", "firmware", "debug-vmid", "compute-units", "scheduler", "hardware",
};

static void expect_no_answers(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(only_gpus_tell); i++) {
		const struct gp_finding *f = find(only_gpus_tell[i]);

		ck_assert_msg(f->health == GP_HEALTH_UNKNOWN, "%s: %s", f->name, f->text);
	}
}

TEST(no_gpus)
{
	set_file(NODES, "0");
	expect_no_answers();
	ck_assert_int_eq(class, GPREEMPT_CLASS_UNSUPPORTED);
}

/* The host has no driver, and fails for this reason only. */
TEST(no_driver)
{
	set_file(NODES, NULL);
	set_file("/sys/module/amdgpu/", NULL);
	set_file("/sys/module/amdgpu/parameters/cwsr_enable", NULL);
	set_file("/sys/module/amdgpu/parameters/sched_policy", NULL);
	set_file("/sys/class/kfd/kfd/proc/", NULL);
	gp_loop_fail(&loop, "open", 0, -ENOENT);
	gp_loop_fail(&loop, "disable-of-other", 0, -ENOENT);
	expect_no_answers();
	ck_assert_int_eq(find("amdgpu")->health, GP_HEALTH_FAILED);
	ck_assert_int_eq(find("gpus")->health, GP_HEALTH_FAILED);
	ck_assert_int_eq(find("cwsr")->health, GP_HEALTH_UNKNOWN);
	ck_assert_int_eq(find("sessions")->health, GP_HEALTH_UNKNOWN);
	ck_assert_int_eq(find("debuggers")->health, GP_HEALTH_UNKNOWN);
	ck_assert_int_eq(find("address-spaces")->health, GP_HEALTH_UNKNOWN);
	ck_assert_int_eq(class, GPREEMPT_CLASS_UNSUPPORTED);
}

#define OK	GP_HEALTH_OK
#define NOTE	GP_HEALTH_NOTE
#define WARNING GP_HEALTH_WARNING
#define FAILED	GP_HEALTH_FAILED
#define UNKNOWN GP_HEALTH_UNKNOWN

static const struct {
	const char *check;
	const char *path;
	const char *text; /* NULL: the file is not there */
	enum gp_health health;
	int class; /* class of a failure */
	const char *says;
} cases[] = {
	{ "kernel", "/proc/sys/kernel/osrelease", "5.14.0-570.el9\n", OK, 0, "5.14.0-570.el9" },
	{ "kernel", "/proc/sys/kernel/osrelease", NULL, UNKNOWN, 0, "" },
	{ "kernel", "/sys/module/amdgpu/version", "6.10.5\n", OK, 0, "amdgpu-dkms 6.10.5" },
	{ "amdgpu", "/sys/module/amdgpu/", NULL, FAILED, 3, "not loaded" },
	{ "gpus", NODES, "0", FAILED, 3, "no GPU" },
	{ "gpus", NODES, "0\n1", OK, 0, "0xf7bc" },
	{ "debug-trap", NODES "1/properties", NODE("536870912", "90402"), FAILED, 3, "0xf7bc" },
	{ "firmware", NODES "1/properties", NODE("32768", "90402"), WARNING, 0, "0xf7bc" },
	{ "debug-vmid", NODES "1/properties", NODE("536903680", "90008"), WARNING, 0,
	  "one process at a time" },
	{ "debug-vmid", NODES "1/properties", NODE("536903680", "90010"), OK, 0, "" },
	{ "debug-vmid", NODES "1/properties", NODE("536903680", "100300"), WARNING, 0, "" },
	{ "debug-vmid", NODES "1/properties", NODE("536903680", "120000"), OK, 0, "" },
	/* A fact that a GPU does not report is not known. */
	{ "debug-trap", NODES "1/properties", NULL, UNKNOWN, 0, "1 of 1 GPUs do not tell" },
	{ "firmware", NODES "1/properties", NULL, UNKNOWN, 0, "do not tell" },
	{ "debug-vmid", NODES "1/properties", NULL, UNKNOWN, 0, "do not tell" },
	{ "compute-units", NODES "1/properties", NULL, UNKNOWN, 0, "do not tell" },
	{ "scheduler", "/sys/module/amdgpu/parameters/sched_policy", NULL, UNKNOWN, 0,
	  "do not tell" },
	{ "lockdown", "/sys/kernel/security/lockdown", NULL, UNKNOWN, 0, "cannot be read" },
	{ "compute-units", NODES "1/properties", NODE("536903680", "110002"), NOTE, 0, "half" },
	{ "scheduler", "/sys/module/amdgpu/parameters/sched_policy", "2\n", FAILED, 3,
	  "without the hardware scheduler" },
	{ "scheduler", "/sys/module/amdgpu/parameters/sched_policy", "0\n", OK, 0, "" },
	{ "cwsr", "/sys/module/amdgpu/parameters/cwsr_enable", "0\n", FAILED, 3, "CWSR is off" },
	{ "cwsr", "/sys/module/amdgpu/parameters/cwsr_enable", NULL, UNKNOWN, 0, "" },
	{ "sessions", "/proc/sys/kernel/osrelease", "6.5.0\n", OK, 0, "the right" },
	{ "sessions", "/sys/module/amdgpu/parameters/sched_policy", "2\n", UNKNOWN, 3,
	  "cannot be asked" },
	{ "ptrace", "/proc/self/status", "Name:\tx\nCapEff:\t0\n", FAILED, 4, "CAP_SYS_PTRACE" },
	{ "ptrace", "/proc/self/status", NULL, UNKNOWN, 0, "" },
	{ "yama", "/proc/sys/kernel/yama/ptrace_scope", "3\n", FAILED, 4, "ptrace_scope is 3" },
	{ "yama", "/proc/sys/kernel/yama/ptrace_scope", "2\n", OK, 0, "" },
	{ "namespace", "/proc/self/ns/pid", "pid:[4026532199]", FAILED, 3, "namespace" },
	{ "namespace", "/proc/self/ns/pid", NULL, UNKNOWN, 0, "" },
	{ "lockdown", "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n", NOTE,
	  0, "signed" },
	{ "lockdown", "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n", OK, 0,
	  "" },
	{ "lockdown", "/sys/module/module/parameters/sig_enforce", "Y\n", NOTE, 0, "signed" },
	{ "debugfs", "/proc/self/mounts", "proc /proc proc rw 0 0\n", WARNING, 0, "not mounted" },
	{ "debugfs", "/proc/self/mounts", NULL, UNKNOWN, 0, "" },
	{ "module", VIEW "version", NULL, WARNING, 0, "not loaded" },
	{ "module", VIEW "version",
	  "gpreempt-version - version: 1.1\n# key value\nmodule 0.1.0\n"
	  "feature_sdma off:adev_to_drm\nfeature_hiq on\n",
	  NOTE, 0, "without sdma" },
	{ "hardware", VIEW "nodes",
	  "gpreempt-nodes - version: 1.0\n# gpu_id hardware\n0xf7bc asleep\n", WARNING, 0,
	  "0xf7bc: asleep" },
	{ "hardware", VIEW "nodes",
	  "gpreempt-nodes - version: 1.0\n# gpu_id hardware\n0xf7bc read\n", OK, 0, "" },
	/* Read as soon as it is in use. */
	{ "hardware", VIEW "nodes",
	  "gpreempt-nodes - version: 1.2\n# gpu_id hardware\n0xf7bc idle\n", OK, 0, "" },
	/* Drivers before Linux 6.12 cannot count waves. */
	{ "module", VIEW "version",
	  "gpreempt-version - version: 1.3\n# key value\nmodule 0.1.0\n"
	  "feature_waves off:get_cu_occupancy\n",
	  OK, 0, "" },
	{ "scheduler", VIEW "nodes",
	  "gpreempt-nodes - version: 1.0\n# gpu_id scheduler\n0xf7bc none\n", FAILED, 3, "" },
	{ "debuggers", "/proc/4194242/status",
	  "Name:\tx\nState:\tS (sleeping)\nTgid:\t4194242\nTracerPid:\t77\n", NOTE, 0,
	  "4194242 by 77" },
	{ "debuggers", "/sys/class/kfd/kfd/proc/", NULL, UNKNOWN, 0, "" },
	{ "address-spaces", VIEW "pid/4194242/gpus",
	  "gpreempt-gpus - version: 1.0\n# gpu_id vm\n0x1 1\n0x2 0\n", WARNING, 0, "4194242" },
};

TEST_EACH(ill, ARRAY_SIZE(cases))
{
	const struct gp_finding *f;

	set_file(cases[_i].path, cases[_i].text);
	f = find(cases[_i].check);
	ck_assert_msg(f->health == cases[_i].health, "%s: %s (%s)", f->name, f->text,
		      gp_health_names[f->health]);
	ck_assert_msg(strstr(f->text, cases[_i].says), "%s", f->text);
	ck_assert_int_eq(class, cases[_i].class);
	/* A bad finding has a next step, and fits. */
	if (f->health == FAILED || f->health == WARNING)
		ck_assert_uint_gt(strlen(f->next), 5);
	ck_assert_uint_lt(strlen(f->text), sizeof(f->text) - 1);
	ck_assert_uint_lt(strlen(f->next), sizeof(f->next) - 1);
}

/* A holder of ours has opened /dev/kfd, and needs no address space. */
TEST(holder_without_space)
{
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER, .pid = 4194242 };
	int lock;

	hold_dir_setup();
	set_file(VIEW "pid/4194242/gpus",
		 "gpreempt-gpus - version: 1.0\n# gpu_id vm\n0x1 1\n0x2 0\n");
	ck_assert_int_eq(find("address-spaces")->health, WARNING);
	lock = hold_take(4194300, &owner);
	ck_assert_int_eq(find("address-spaces")->health, OK);
	hold_drop(4194300, lock);
}

/* The driver decides who may end a session, whatever the release. */
static const struct {
	int answer;
	enum gp_health health;
	const char *says;
} answers[] = {
	{ -EPERM, OK, "the right" },
	{ -EINVAL, NOTE, "any process" },
	{ -EBUSY, WARNING, "profiles" },
	{ -ESRCH, UNKNOWN, "cannot be asked" },
	{ -ETIMEDOUT, UNKNOWN, "cannot be asked" },
};

TEST_EACH(asked, ARRAY_SIZE(answers))
{
	const struct gp_finding *f;

	set_file("/proc/sys/kernel/osrelease", "7.2.1\n");
	gp_loop_fail(&loop, "disable-of-other", 0, answers[_i].answer);
	f = find("sessions");
	ck_assert_int_eq(f->health, answers[_i].health);
	ck_assert_msg(strstr(f->text, answers[_i].says), "%s", f->text);
	ck_assert_int_eq(class, 0);
}

TEST(not_root)
{
	loop.root = false;
	ck_assert_int_eq(find("root")->health, FAILED);
	ck_assert_int_eq(class, GPREEMPT_CLASS_PERMISSION);
	/* A host that cannot counts for more. */
	set_file("/sys/module/amdgpu/parameters/cwsr_enable", "0\n");
	find("root");
	ck_assert_int_eq(class, GPREEMPT_CLASS_UNSUPPORTED);
}

static const struct {
	int code;
	unsigned int minor;
	int class;
	enum gp_health health;
} devices[] = {
	{ 0, 13, 0, OK },    { 0, 12, 0, WARNING },	 { 0, 7, 0, WARNING },
	{ 0, 6, 3, FAILED }, { -ENOENT, 17, 3, FAILED }, { -EACCES, 17, 4, FAILED },
};

TEST_EACH(device, ARRAY_SIZE(devices))
{
	const struct gp_finding *f;

	loop.minor = devices[_i].minor;
	if (devices[_i].code)
		gp_loop_fail(&loop, "open", 0, devices[_i].code);
	f = find("kfd");
	ck_assert_int_eq(class, devices[_i].class);
	ck_assert_int_eq(f->health, devices[_i].health);
}

/* The module refuses the driver: sysfs has the GPUs, and it is no "all features". */
static const char *const module_files[] = { VIEW "nodes", VIEW "processes" };

TEST_EACH(contradiction, ARRAY_SIZE(module_files))
{
	set_file(module_files[_i], gp_loop_unclean);
	ck_assert_int_eq(find("driver-data")->health, WARNING);
	ck_assert_int_eq(class, GPREEMPT_CLASS_DONE);
	ck_assert_int_eq(find("gpus")->health, OK);
}

/* Its files can be out of reach: no debugfs here, or root without capabilities. */
TEST(module_out_of_reach)
{
	set_file(VIEW "version", NULL);
	ck_assert_int_eq(find("module")->health, WARNING);
	set_file("/sys/module/gpreempt/initstate", "live\n");
	ck_assert_int_eq(find("module-files")->health, WARNING);
}

/* Does it count pauses? That takes the module. */
TEST(pauses)
{
	ck_assert_int_eq(find("pauses")->health, OK);
	loop.pause_counts = true;
	ck_assert_int_eq(find("pauses")->health, NOTE);
	gp_loop_fail(&loop, "pause-twice", 0, -ENOENT);
	ck_assert_int_eq(find("pauses")->health, UNKNOWN);
	ck_assert_int_eq(class, GPREEMPT_CLASS_DONE);
}

/* A driver of before the debug trap knows nothing of debugging; it is not blamed. */
TEST(pause_only)
{
	const struct gp_finding *f;
	size_t i;

	loop.minor = 11;
	set_file(NODES "1/properties", NODE("0", "90010"));
	f = find("kfd");
	ck_assert_ptr_nonnull(strstr(f->next, "can be paused"));
	for (i = 0; i < n_findings; i++) {
		f = &findings[i];
		if (strcmp(f->name, "debug-trap") && strcmp(f->name, "sessions"))
			continue;
		ck_assert_int_eq(f->health, NOTE);
		ck_assert_ptr_nonnull(strstr(f->text, "no debug trap"));
	}
	ck_assert_int_eq(class, GPREEMPT_CLASS_DONE);
}

TEST(names)
{
	ck_assert_str_eq(gp_health_names[OK], "ok");
	ck_assert_str_eq(gp_health_names[UNKNOWN], "unknown");
}

TEST_FIXTURE(setup, unit_teardown)
