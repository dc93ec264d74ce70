// SPDX-License-Identifier: GPL-2.0-only
/* The table of known faults: a row of it is found where it applies, and not elsewhere. */
#include "ctl/doctor.h"
#include "unit.h"

#define NODES	"/sys/class/kfd/kfd/topology/nodes/"
#define RELEASE "/proc/sys/kernel/osrelease"
#define AMDGPU	"/sys/module/amdgpu/"
#define MES	"/sys/bus/pci/devices/0000:03:00.0/fw_version/mes_fw_version"

/* A GPU: gfx_target_version and compute slots. */
#define GPU(gfx, slots)                                           \
	"gfx_target_version " gfx "\nlocation_id 768\ndomain 0\n" \
	"num_cp_queues " slots "\n"
#define NAVI4 GPU("120001", "8")
#define NAVI3 GPU("110000", "8")
#define NAVI2 GPU("100300", "2")
#define MI308 GPU("90402", "24")

static void set_queues(pid_t pid, const char *queues)
{
	set_view(pid, unit_text("gpreempt-queues - version: 1.0\n"
				"# qid gpu_id type\n%s",
				queues));
}

#define ONE   "0 0xf7bc compute-aql\n"
#define TWO   ONE "1 0xf7bc compute-aql\n"
#define THREE TWO "2 0xf7bc compute-pm4\n"
#define COPY  ONE "1 0xf7bc sdma\n"
#define OTHER ONE "1 0x5d4f compute-aql\n"

static void setup(void)
{
	unit_setup();
	set_file(AMDGPU, "parameters");
	set_file(AMDGPU "parameters/num_kcq", "-1\n");
	set_file(RELEASE, "7.3.4+deb13-amd64\n");
	unit_one_gpu(MI308);
	set_queues(PID, ONE);
}

static struct gp_finding findings[32];
static size_t n_findings;

static void take(void *unused, const struct gp_finding *f)
{
	(void)unused;
	ck_assert_uint_lt(n_findings, ARRAY_SIZE(findings));
	findings[n_findings++] = *f;
}

/* The finding of that name, or NULL. */
static const struct gp_finding *find(const char *name)
{
	size_t i;

	n_findings = 0;
	gp_doctor_faults(g, take, NULL);
	ck_assert_uint_gt(n_findings, 0);
	for (i = 0; i < n_findings; i++)
		if (!strcmp(findings[i].name, name))
			return &findings[i];
	return NULL;
}

#define NO	GP_HEALTH_OK /* there is no such line */
#define NOTE	GP_HEALTH_NOTE
#define WARNING GP_HEALTH_WARNING
#define UNKNOWN GP_HEALTH_UNKNOWN

static const struct {
	const char *fault;
	const char *gpu;
	const char *release;
	const char *mes; /* NULL: there is no such file */
	const char *queues;
	enum gp_health health;
	const char *path, *text; /* or NULL; one more file */
} cases[] = {
	{ "mes-idle-power", NAVI4, "7.3.4", "0x00000084\n", ONE, WARNING, NULL, NULL },
	{ "mes-idle-power", NAVI4, "6.12.1", "0x0500008a\n", ONE, WARNING, NULL, NULL },
	{ "mes-idle-power", NAVI4, "6.12.1", "0x0000008b\n", ONE, NO, NULL, NULL },
	{ "mes-idle-power", NAVI4, "7.3.4", NULL, ONE, UNKNOWN, NULL, NULL },
	{ "mes-idle-power", NAVI4, "7.3.4", "0x00000000\n", ONE, UNKNOWN, NULL, NULL },
	{ "mes-idle-power", NAVI3, "7.3.4", "0x00000084\n", ONE, NO, NULL, NULL },
	{ "mes-idle-power", MI308, "7.3.4", NULL, ONE, NO, NULL, NULL },

	{ "several-queues", NAVI3, "7.3.4", "0x84\n", TWO, NOTE, NULL, NULL },
	{ "several-queues", NAVI3, "7.3.4", "0x84\n", ONE, NO, NULL, NULL },
	{ "several-queues", NAVI3, "7.3.4", "0x84\n", COPY, NO, NULL, NULL },
	{ "several-queues", NAVI3, "7.3.4", "0x84\n", OTHER, NO, NULL, NULL },
	{ "several-queues", NAVI4, "7.3.4", "0x84\n", TWO, NO, NULL, NULL },
	{ "several-queues", MI308, "7.3.4", NULL, THREE, NO, NULL, NULL },

	{ "mes-evict", NAVI3, "6.13.0", "0x84\n", ONE, WARNING, NULL, NULL },
	{ "mes-evict", NAVI4, "6.19.9-1", "0x84\n", ONE, WARNING, NULL, NULL },
	{ "mes-evict", NAVI4, "6.12.117+deb12-amd64", "0x84\n", ONE, NO, NULL, NULL },
	{ "mes-evict", NAVI4, "7.0.0", "0x84\n", ONE, NO, NULL, NULL },
	{ "mes-evict", MI308, "6.17.0", NULL, ONE, NO, NULL, NULL },
	/* The driver is another one than the kernel's. */
	{ "mes-evict", NAVI3, "6.17.0", "0x84\n", ONE, UNKNOWN, AMDGPU "version", "6.12.12\n" },
	{ "mes-evict", MI308, "6.17.0", NULL, ONE, NO, AMDGPU "version", "6.12.12\n" },

	{ "rdna4-waves", NAVI4, "6.19.0", "0x8b\n", ONE, WARNING, NULL, NULL },
	{ "rdna4-waves", NAVI4, "7.0.0-rc1", "0x8b\n", ONE, NO, NULL, NULL },
	{ "rdna4-waves", NAVI3, "6.19.0", "0x8b\n", ONE, NO, NULL, NULL },
	{ "rdna4-waves", NAVI4, NULL, "0x8b\n", ONE, UNKNOWN, NULL, NULL },
	{ "rdna4-waves", NAVI4, "strange\n", "0x8b\n", ONE, UNKNOWN, NULL, NULL },

	{ "gfx12.1-waves", GPU("120500", "8"), "6.19.0", "0x8b\n", ONE, WARNING, NULL, NULL },
	{ "gfx12.1-waves", GPU("120500", "8"), "7.1.0", "0x8b\n", ONE, NO, NULL, NULL },
	{ "gfx12.1-waves", NAVI4, "6.19.0", "0x8b\n", ONE, NO, NULL, NULL },

	{ "slots-hang", NAVI2, "6.8.0", NULL, THREE, WARNING, NULL, NULL },
	{ "slots-hang", NAVI2, "6.8.0", NULL, TWO, NO, NULL, NULL },
	{ "slots-hang", NAVI2, "6.8.0", NULL, THREE, NO, AMDGPU "parameters/num_kcq", "2\n" },
	{ "slots-hang", NAVI2, "6.8.0", NULL, THREE, UNKNOWN, AMDGPU "parameters/num_kcq", NULL },
	{ "slots-hang", GPU("90402", "2"), "6.8.0", NULL, THREE, NO, NULL, NULL },

	{ "slots-turns", GPU("90402", "2"), "6.8.0", NULL, THREE, NOTE, NULL, NULL },
	{ "slots-turns", MI308, "6.8.0", NULL, THREE, NO, NULL, NULL },
	{ "slots-turns", "gfx_target_version 90402\n", "6.8.0", NULL, THREE, NO, NULL, NULL },

	{ "enable-exec", MI308, "6.12.117+deb12-amd64", NULL, ONE, NOTE, NULL, NULL },
	{ "enable-exec", MI308, "7.2.12", NULL, ONE, NO, NULL, NULL },
	{ "enable-exec", MI308, "6.1.0-56-amd64", NULL, ONE, NO, NULL, NULL },

	{ "open-exec", MI308, "6.1.0-56-amd64", NULL, ONE, NOTE, NULL, NULL },
	{ "open-exec", MI308, "6.12.117+deb12-amd64", NULL, ONE, NOTE, NULL, NULL },
	{ "open-exec", MI308, "6.18.0", NULL, ONE, NO, NULL, NULL },

	{ "exit-drain", MI308, "6.12.117+deb12-amd64", NULL, ONE, NOTE, NULL, NULL },
	{ "exit-drain", MI308, "6.1.0-56-amd64", NULL, ONE, NO, NULL, NULL },
	{ "exit-drain", GPU("90010", "24"), "6.12.117", NULL, ONE, NO, NULL, NULL },
};

TEST_EACH(row, ARRAY_SIZE(cases))
{
	const struct gp_finding *f;

	set_file(NODES "1/properties", cases[_i].gpu);
	set_file(RELEASE, cases[_i].release);
	set_file(MES, cases[_i].mes);
	set_queues(PID, cases[_i].queues);
	if (cases[_i].path)
		set_file(cases[_i].path, cases[_i].text);
	f = find(cases[_i].fault);
	if (cases[_i].health == NO) {
		ck_assert_msg(!f, "%s", f ? f->text : "");
		return;
	}
	ck_assert_ptr_nonnull(f);
	ck_assert_msg(f->health == cases[_i].health, "%s", f->text);
	ck_assert_ptr_nonnull(strstr(f->text, "0xf7bc"));
	ck_assert_uint_lt(strlen(f->text), sizeof(f->text) - 1);
	ck_assert_uint_lt(strlen(f->next), sizeof(f->next) - 1);
}

/* Two processes, each with a queue on the GPU. */
TEST_EACH(idle_clients, 4)
{
	static const struct {
		const char *gpu, *queues;
		bool found;
	} two[] = {
		{ NAVI2, ONE, true },
		{ NAVI2, "0 0x5d4f compute-aql\n", false },
		{ NAVI4, ONE, false },
		{ MI308, ONE, false },
	};
	const struct gp_finding *f;

	set_file(NODES "1/properties", two[_i].gpu);
	ck_assert_ptr_null(find("idle-clients"));
	unit_make_process(PID + 1);
	set_file("/sys/class/kfd/kfd/proc/", unit_text("%d\n%d", PID, PID + 1));
	set_queues(PID + 1, two[_i].queues);
	f = find("idle-clients");
	ck_assert_int_eq(!!f, two[_i].found);
}

/* Each row is found by one case, and not by another one. */
TEST(every_row)
{
	size_t i, j, n = 0;

	for (i = 0; gp_faults[i].name; i++) {
		bool yes = false, no = false;

		if (!strcmp(gp_faults[i].name, "idle-clients"))
			yes = no = true;
		for (j = 0; j < ARRAY_SIZE(cases); j++) {
			if (strcmp(cases[j].fault, gp_faults[i].name))
				continue;
			yes |= cases[j].health == gp_faults[i].health;
			no |= cases[j].health == NO;
		}
		ck_assert_msg(yes && no, "%s", gp_faults[i].name);
		n++;
	}
	ck_assert_uint_ge(n, 8);
}

TEST(none)
{
	const struct gp_finding *f;

	set_file(NODES "1/properties", GPU("90010", "24"));
	f = find("known-faults");
	ck_assert_uint_eq(n_findings, 1);
	ck_assert_int_eq(f->health, GP_HEALTH_OK);
	ck_assert_ptr_nonnull(strstr(f->text, "none of 11 "));
	/* AMD's own driver: the three rows of Linux releases alone are open. */
	set_file(AMDGPU "version", "6.12.12\n");
	set_file(NODES "1/properties", MI308);
	f = find("known-faults");
	ck_assert_uint_eq(n_findings, 1);
	ck_assert_int_eq(f->health, NOTE);
	ck_assert_ptr_nonnull(strstr(f->text, "of 3 it cannot be known"));
	set_file(NODES, "0");
	f = find("known-faults");
	ck_assert_uint_eq(n_findings, 1);
	ck_assert_int_eq(f->health, UNKNOWN);
	set_file(NODES, NULL);
	ck_assert_int_eq(find("known-faults")->health, UNKNOWN);
}

/* Many GPUs are counted, not named. */
TEST(many_gpus)
{
	char names[128] = "0";
	int i;

	set_file(RELEASE, "6.12.117\n");
	for (i = 1; i <= 12; i++) {
		set_file(unit_text(NODES "%d/gpu_id", i), unit_text("%d\n", 1000 + i));
		set_file(unit_text(NODES "%d/properties", i), MI308);
		sprintf(names + strlen(names), "\n%d", i);
		set_file(NODES, unit_text("%s", names));
		ck_assert_ptr_nonnull(find("exit-drain"));
		if (i == 3)
			ck_assert_ptr_nonnull(strstr(find("exit-drain")->text,
						     "GPU 0x3e9 0x3ea 0x3eb:"));
	}
	ck_assert_ptr_nonnull(strstr(find("exit-drain")->text, "GPUs: 12 of 12: a process"));
}

static void put_version(char *text, size_t size, enum gp_fact fact, int64_t value)
{
	if (fact == GP_FACT_LINUX)
		snprintf(text, size, "%d.%d", (int)(value / 1000), (int)(value % 1000));
	else if (fact == GP_FACT_GFX)
		snprintf(text, size, "%d.%d.%d", (int)(value / 10000), (int)(value / 100 % 100),
			 (int)(value % 100));
	else
		snprintf(text, size, fact == GP_FACT_MES ? "0x%x" : "%d", (unsigned int)value);
}

static const char *const fact_names[GP_FACTS] = {
	[GP_FACT_LINUX] = "Linux",
	[GP_FACT_GFX] = "gfx",
	[GP_FACT_MES] = "MES",
	[GP_FACT_CLIENTS] = "processes with compute queues:",
	[GP_FACT_QUEUES] = "compute queues of one process:",
	[GP_FACT_WAITING] = "compute queues above the slots:",
	[GP_FACT_KERNEL_QUEUES] = "`num_kcq`:",
};

static void put_range(char *text, size_t size, enum gp_fact fact, int64_t from, int64_t to)
{
	char first[24], last[24];

	put_version(first, sizeof(first), fact, from);
	put_version(last, sizeof(last), fact, to);
	if (to == INT64_MAX)
		snprintf(text, size, "%s and more", first);
	else if (from == to)
		snprintf(text, size, "%s", first);
	else if (from == 1)
		snprintf(text, size, "up to %s", last);
	else
		snprintf(text, size, "%s to %s", first, last);
}

/* "gfx 12.0.0 to 12.0.99, MES up to 0x8a" */
static void put_conditions(const struct gp_fault *fault, char *text, size_t size)
{
	char range[64];
	size_t i, used = 0;

	for (i = 0; i < GP_FAULT_CONDITIONS && fault->when[i].last; i++) {
		enum gp_fact fact = fault->when[i].fact;

		put_range(range, sizeof(range), fact, fault->when[i].first, fault->when[i].last);
		used += snprintf(text + used, size - used, "%s%s %s", i ? ", " : "",
				 fact_names[fact], range);
	}
}

/* docs/support.md has each row, in this order, and no other one. */
TEST(documented)
{
	const char *page = unit_file("tests/../docs/support.md"), *at;
	char line[1024], when[256];
	size_t i;

	at = strstr(page, "<!-- user/ctl/faults.c -->\n");
	ck_assert_ptr_nonnull(at);
	at = strstr(at, "| --- |");
	ck_assert_ptr_nonnull(at);
	at = strchr(at, '\n') + 1;
	for (i = 0; gp_faults[i].name; i++) {
		put_conditions(&gp_faults[i], when, sizeof(when));
		snprintf(line, sizeof(line), "| `%s` | %s | %s | %s | %s |\n", gp_faults[i].name,
			 when, gp_faults[i].symptom, gp_faults[i].remedy, gp_faults[i].thread);
		ck_assert_msg(!strncmp(at, line, strlen(line)), "not in docs/support.md: %s", line);
		at += strlen(line);
	}
	ck_assert_msg(!strncmp(at, "<!-- end -->", 12), "%.80s", at);
}

TEST_FIXTURE(setup, unit_teardown)
