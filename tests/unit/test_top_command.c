// SPDX-License-Identifier: GPL-2.0-only
/* top on a made-up system: tables, JSON, and a terminal. */
#include <poll.h>
#include <pty.h>
#include <termios.h>

#include <gpreempt/view.h>

#include "ctl/top.h"
#include "unit-ctl.h"

#define DIR "/sys/kernel/debug/gpreempt/"
#define KFD "/sys/class/kfd/kfd/"

#define USAGE                                                             \
	"gpreempt-usage - version: 1.1\n# gpu_id context hardware waves " \
	"waves_max evicted_ms evicted age_ms pid queues suspended busy\n"

#define UID "0a1b2c3d-0000-4000-8000-00000000000f"
#define BOX "b1946ac92492d2347c6235b4d2611184e6ca3d9ab6a9c0d2e8f1a4a7d5b0c3e2"

static void setup(void)
{
	unit_setup();
	set_file(DIR "nodes", "gpreempt-nodes - version: 1.2\n"
			      "# gpu_id node device xccs slots_used slots\n"
			      "0x7d63 1 0000:03:00.0 4 2 32\n0x1d67 2 - 4 0 32\n");
	set_file(KFD "topology/nodes/1/mem_banks/0/properties",
		 "heap_type 1\nsize_in_bytes 1000\n");
	set_file(DIR "processes", "gpreempt-processes - version: 1.1\n"
				  "# pid queues active slots suspended evicted paused debugged\n"
				  "4194242 2 4 8 0 0 0 0\n");
	set_file(DIR "usage", unit_text("%s0x7d63 - read 12 2560 5 0 0 %d 2 0 1\n", USAGE, PID));
	set_file(KFD "proc/", "4194242\nnonsense");
	set_file(KFD "proc/4194242/", "vram_32099\nvram_7527");
	set_file(KFD "proc/4194242/vram_32099", "300\n");
	set_file(KFD "proc/4194242/vram_7527", "0\n");
	set_file("/proc/4194242/comm", "tr\033ain\n");
	set_view(PID, "gpreempt-queues - version: 1.4\n"
		      "# qid gpu_id type active slots waves priority\n"
		      "5 0x7d63 compute-aql 4 4 12 7\n");
}

TEST(table)
{
	const char *second;

	CTL(0, "top --batch -n 2 -d 100ms --looks 5ms");
	ck_assert_str_eq(ctl_err, "");
	ck_assert(!strncmp(ctl_out, "# pid\tuser\tgpu\tbusy_percent\tmethod\t", 35));
	OUT_HAS("\n4194242\t");
	OUT_HAS("\t0x7d63\t100\twaves\t2\t12\t50.0\t300\t5\t0\t0\tactive\t-\t-\t");
	OUT_HAS("tr\\033ain\n");
	second = strstr(ctl_out + 1, "# pid");
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_nonnull(strstr(second, "\n4194242\t"));
	ck_assert_ptr_null(strstr(second + 1, "# pid"));
}

/* A job is in no pod. */
TEST(places)
{
	unit_make_process(PID);
	set_file("/proc/4194242/status", "Name:\tx\nState:\tS\nTgid:\t4194242\nPid:\t4194242\n"
					 "TracerPid:\t0\nUid:\t1000\t0\t0\t0\n");
	set_file("/etc/passwd", "ann:x:1000:1000::/home/ann:/bin/sh\n");
	set_file("/proc/4194242/cgroup", "0::/system.slice/slurmstepd.scope/job_42/step_0/user\n");
	CTL(0, "top --json -n 1 -d 100ms");
	expect_text("processes.0.user", "ann");
	expect_text("processes.0.job", "42");
	expect_text("processes.0.cgroup", "/system.slice/slurmstepd.scope/job_42/step_0/user");
	set_file("/proc/4194242/cgroup",
		 "0::/kubepods.slice/kubepods-pod" UID ".slice/cri-containerd-" BOX ".scope\n");
	CTL(0, "top --json -n 1 -d 100ms");
	expect_text("processes.0.pod_uid", UID);
	expect_text("processes.0.container", "b1946ac92492");
}

static void remove_module(void)
{
	set_file(DIR "usage", NULL);
	set_file(DIR "processes", NULL);
	set_file(DIR "nodes", NULL);
	set_view(PID, NULL);
	set_file(KFD "topology/nodes/", "0\n1");
	set_file(KFD "topology/nodes/1/gpu_id", "32099\n");
}

/* Figures of sysfs are there still. */
TEST(without_module)
{
	remove_module();
	CTL(0, "top --json -n 1 -d 100ms");
	expect_null("processes.0.busy_percent");
	expect_number("processes.0.vram", 300);
	HAS(json_text("missing"), "modprobe gpreempt");
	ERR_HAS("note: BUSY% is not known: ");
	ERR_HAS("next: load it: modprobe gpreempt");
}

/* GPUs of a process are there as soon as list has them, and do not wait until slots are due. */
TEST(gpus_of_sysfs)
{
	struct gpreempt_error err;
	struct top_model m = { 0 };
	struct ctl_sampler s;
	size_t i;

	remove_module();
	set_file(KFD "proc/4194242/vram_32099", "0\n");
	set_file(KFD "proc/4194242/queues/", "5");
	set_file(KFD "proc/4194242/queues/5/gpuid", "32099\n");
	ctl_sampler_init(&s, g, 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(ctl_sampler_refresh(&s, &err), 0);
		ctl_sampler_look(&s);
		s.figures.slow_ns = UINT64_MAX;
	}
	ck_assert_int_eq(ctl_sampler_refresh(&s, &err), 0);
	top_gather(&m, &s);
	ck_assert_int_eq(m.processes.items[0].gpus.items[1].is.queues, 1);
	ck_assert_int_eq(m.processes.items[0].gpus.items[0].is.queues, 0);
	top_model_clear(&m);
	ctl_sampler_clear(&s);
}

/* The host was so busy that the time of a refresh has passed: there is a look all the same. */
TEST(late)
{
	struct gpreempt_error err;
	struct ctl_sampler s;

	ctl_sampler_init(&s, g, 0);
	ck_assert_int_eq(ctl_sampler_refresh(&s, &err), 0);
	ck_assert(!ctl_sampler_wait(&s, shr_now_ns(), -1));
	ck_assert_uint_eq(s.figures.looks, 1);
	/* The next one is not due. */
	s.next_ns = UINT64_MAX;
	ck_assert(!ctl_sampler_wait(&s, shr_now_ns(), -1));
	ck_assert_uint_eq(s.figures.looks, 1);
	ctl_sampler_clear(&s);
}

static int terminal, keyboard_fd;
static char seen[1 << 16];
static size_t n_seen;

static pid_t start(const char *term, const char *line)
{
	struct winsize size = { .ws_col = 80, .ws_row = 24 };
	char copy[256], *argv[16];
	pid_t child;

	child = forkpty(&terminal, NULL, NULL, &size);
	ck_assert_int_ge(child, 0);
	if (child) {
		/* Open, it keeps what the child has set until after its end. */
		keyboard_fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
		ck_assert_int_ge(keyboard_fd, 0);
		return child;
	}
	setenv("TERM", term, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	snprintf(copy, sizeof(copy), "%s", line);
	_exit(ctl_main(unit_words(copy, argv), argv));
}

static bool has_seen(const char *text)
{
	struct pollfd fd = { .fd = terminal, .events = POLLIN };
	ssize_t n;

	if (poll(&fd, 1, 0) > 0) {
		n = read(terminal, seen + n_seen, sizeof(seen) - 1 - n_seen);
		n_seen += n > 0 ? n : 0;
		seen[n_seen] = '\0';
	}
	return strstr(seen, text);
}

/* The terminal shows its earlier screen, and its keyboard is as it was. */
static void expect_left(pid_t child, int status, const struct termios *before)
{
	struct termios after;

	UNIT_WAIT(has_seen("\033[?1049l"));
	ck_assert_int_eq(unit_status(child), status);
	ck_assert_int_eq(tcgetattr(keyboard_fd, &after), 0);
	ck_assert_int_eq(after.c_lflag, before->c_lflag);
	ck_assert_int_eq(after.c_iflag, before->c_iflag);
	close(keyboard_fd);
	close(terminal);
}

static void keyboard(struct termios *out)
{
	int master, slave;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(tcgetattr(slave, out), 0);
	close(master);
	close(slave);
}

/* However it ends. */
TEST_EACH(signals, 5)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT };
	struct termios before;
	pid_t child;

	keyboard(&before);
	child = start("xterm", "gpreempt-ctl top");
	UNIT_WAIT(has_seen("4194242"));
	kill(child, numbers[_i]);
	expect_left(child, _i < 3 ? 0 : -numbers[_i], &before);
}

/* Without a guard there are no groups by tenant, and the line reports that. */
TEST(no_guard)
{
	struct termios before;
	pid_t child;

	keyboard(&before);
	child = start("xterm", "gpreempt-ctl top");
	UNIT_WAIT(has_seen("4194242"));
	ck_assert_int_eq(write(terminal, "T", 1), 1);
	UNIT_WAIT(has_seen("no groups by tenant: no guard runs here"));
	ck_assert_int_eq(write(terminal, "q", 1), 1);
	expect_left(child, 0, &before);
}

TEST_FIXTURE(setup, unit_teardown)
