// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>

#include "unit-memory.h"
#include "unit.h"

struct gp_loop loop;
struct gpreempt *g;

static Suite *suite;
static TCase *the_case;
static int descriptors;
static bool skipped, has_fixtures;

/* Reset the state that children share, which the last test may have set. */
static void reset(void)
{
	unit_reset_limits();
	unit_frozen_ns = 0;
}

TCase *unit_case(void)
{
	if (the_case)
		return the_case;
	if (!suite) {
		suite = suite_create(program_invocation_short_name);
		unit_frozen = mmap(NULL, sizeof(*unit_frozen), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (unit_frozen == MAP_FAILED)
			abort();
	}
	the_case = tcase_create("all");
	suite_add_tcase(suite, the_case);
	tcase_add_checked_fixture(the_case, reset, NULL);
	/* Some wait or compute for seconds, and the machine may be busy. */
	tcase_set_timeout(the_case, 4 * UNIT_LIMIT_S);
	return the_case;
}

void unit_end_case(SFun setup, SFun teardown)
{
	tcase_add_checked_fixture(unit_case(), setup, teardown);
	the_case = NULL;
	has_fixtures = true;
}

void unit_skip(const char *name, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	printf("skipped: %s (", name);
	vprintf(format, ap);
	puts(")");
	va_end(ap);
	/* Before a fork: a child would print it once more. */
	fflush(stdout);
	skipped = true;
}

int unit_as_root(const char *name)
{
	if (!geteuid())
		return 1;
	unit_skip(name, "only root can pass it");
	return 0;
}

int unit_run(void)
{
	SRunner *runner;
	int failed;

	/*
	 * Inherited ones: make's, a terminal's. With them the made-up driver's
	 * would have other numbers, and a test with a limit would have some to
	 * spare on one machine and none on another.
	 */
	shr_close_range(STDERR_FILENO + 1, ~0U);
	if (has_fixtures && the_case) {
		puts("tests stand below the last TEST_FIXTURE, which is for those above it");
		return EXIT_FAILURE;
	}
	unit_case();
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	if (!srunner_ntests_run(runner) && !skipped)
		failed = 1;
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

void *unit_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

/* The next word of a line; NULL: there is none. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " ");
	const char *ends = " ";

	if (*word == '\'') {
		ends = "'";
		word++;
	}
	*line = word + strcspn(word, ends);
	if (**line)
		*(*line)++ = '\0';
	return *line > word ? word : NULL;
}

int unit_words(char *line, char **argv)
{
	int argc = 0;

	while ((argv[argc] = next_word(&line)))
		argc++;
	return argc;
}

uint64_t unit_soon(void)
{
	return shr_now_ns() + UNIT_LIMIT_NS;
}

int unit_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, UNIT_LIMIT_S * 1000), 1);
	return p.revents;
}

bool unit_is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

void unit_shorten_limit(enum unit_limit which, uint64_t ns)
{
	unsigned int asked;

	unit_set_limit(which, ns);
	asked = unit_limit_asked(which);
	/* The first question may have come before the change. */
	UNIT_WAIT(unit_limit_asked(which) > asked + 1);
}

int unit_status(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void unit_end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int unit_count_descriptors(void)
{
	int n = 0, fd;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

const char *unit_text(const char *format, ...)
{
	static char room[1 << 20];
	static size_t used;
	char *text = room + used;
	va_list ap;

	va_start(ap, format);
	used += vsnprintf(text, sizeof(room) - used, format, ap) + 1;
	va_end(ap);
	ck_assert_uint_le(used, sizeof(room));
	return text;
}

char *unit_load(const char *path, size_t *len)
{
	const size_t size = 4 << 20;
	FILE *f = fopen(path, "r");
	char *all;

	if (!f)
		return NULL;
	all = calloc(1, size);
	ck_assert_ptr_nonnull(all);
	*len = fread(all, 1, size, f);
	ck_assert_uint_lt(*len, size);
	fclose(f);
	return all;
}

const char *unit_file(const char *path)
{
	static char *last;
	size_t len;

	free(last);
	last = unit_load(path, &len);
	ck_assert_msg(last, "there is no %s", path);
	return last;
}

size_t unit_count(const char *text, const char *what)
{
	size_t n = 0, len = strlen(what);

	/* Not strstr(): ASan reads all of the text in each call of it. */
	for (; (text = strchr(text, *what)); text++)
		n += !strncmp(text, what, len);
	return n;
}

void unit_drop_hostnames(char *text)
{
	static const char label[] = "hostname=\"";
	char *end;

	while ((text = strstr(text, label))) {
		end = strchr(text + strlen(label), '"') + 1;
		end += *end == ',';
		memmove(text, end, strlen(end) + 1);
	}
}

void expect_fixture_head(const char *fixture, const char *text, int lines)
{
	const char *head = unit_file(unit_text("tests/report/fixtures/%s", fixture));
	size_t len = 0;

	for (; lines; lines--)
		len += strcspn(head + len, "\n") + 1;
	ck_assert_msg(!strncmp(head, text, len), "%s begins with %.*s", fixture, (int)len, head);
}

const char *unit_capture(const char *name)
{
	const char *dir = getenv("CAPTURES");
	const char *path = dir ? unit_text("%s/mi308x/%s", dir, name) : NULL;

	if (path && !access(path, R_OK))
		return path;
	unit_skip("captures", "no %s in CAPTURES=%s", name, dir ? dir : "");
	return NULL;
}

void set_file(const char *path, const char *text)
{
	gp_loop_set_file(&loop, path, text);
}

void set_view(pid_t pid, const char *text)
{
	set_file(unit_text("/sys/kernel/debug/gpreempt/pid/%d/queues", pid), text);
}

void unit_make_process(pid_t pid)
{
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/", pid),
		 "pasid\nqueues\nvram_63420\nsdma_63420");
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/queues/", pid), "");
	set_file(unit_text("/proc/%d/status", pid),
		 unit_text("Name:\tjob\nState:\tS (sleeping)\nTgid:\t%d\n"
			   "Pid:\t%d\nTracerPid:\t0\nThreads:\t3\n",
			   pid, pid));
	set_file(unit_text("/proc/%d/stat", pid),
		 unit_text("%d (a (job) b) S 1 %d %d 0 -1 4194560 1 2 3 4 5 "
			   "6 7 8 20 0 3 0 777 100 200 1844\n",
			   pid, pid, pid));
	set_file(unit_text("/proc/%d/task/", pid), unit_text("%d", pid));
}

#define NODES "/sys/class/kfd/kfd/topology/nodes/"

/* c7a6 fbfc 5df5 b857 7ab7 6a2e 3f34 3 */
const unsigned int unit_gpu_ids[] = { 51110, 64508, 24053, 47191, 31415, 27182, 16180, 3 };

static void add_node(unsigned int node, unsigned int gpu_id, unsigned int bus, unsigned int render)
{
	set_file(unit_text(NODES "%u/gpu_id", node), unit_text("%u\n", gpu_id));
	set_file(unit_text(NODES "%u/properties", node),
		 unit_text("domain 0\nlocation_id %u\ndrm_render_minor %u\nnum_xcc 8\n"
			   "gfx_target_version 90402\n",
			   bus << 8, render));
}

void unit_one_gpu(const char *properties)
{
	set_file(NODES, "0\n1");
	set_file(NODES "0/gpu_id", "0\n");
	set_file(NODES "1/gpu_id", "63420\n");
	set_file(NODES "1/properties", properties);
}

void unit_eight_gpus(void)
{
	/* KFD's order is not that of the addresses for the last two. */
	static const unsigned int buses[] = { 0x05, 0x26, 0x47, 0x68, 0x89, 0xaa, 0xec, 0xcb };
	unsigned int i;

	set_file(NODES, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9");
	add_node(0, 0, 0, 0);
	add_node(1, 0, 0, 0);
	for (i = 0; i < UNIT_GPUS; i++)
		add_node(2 + i, unit_gpu_ids[i], buses[i], 128 + i);
}

void unit_setup_for(pid_t pid)
{
	descriptors = unit_count_descriptors();
	gp_loop_init(&loop, pid);
	set_file("/sys/class/kfd/kfd/proc/", unit_text("%d", pid));
	set_file("/sys/class/kfd/kfd/topology/nodes/", "");
	unit_make_process(pid);
	set_file("/proc/self/ns/pid", "pid:[4026531836]");
	ck_assert_int_eq(gp_new_backend(NULL, &gp_backend_loop, &loop, &g), 0);
}

void unit_setup(void)
{
	unit_setup_for(PID);
}

/* Stand-in for gpreempt_new() by the linker's --wrap. */

UNIT_WRAP(int, gpreempt_new, (const struct gpreempt_options *options, struct gpreempt **library))
{
	if (!loop.pid || (options && options->size >= sizeof(*options) && options->from))
		return __real_gpreempt_new(options, library);
	return gp_new_backend(options, &gp_backend_loop, &loop, library);
}

void unit_teardown(void)
{
	ck_assert(!loop.exposed);
	gpreempt_free(g);
	gp_loop_end(&loop);
	ck_assert_int_eq(unit_count_descriptors(), descriptors);
}

struct gpreempt_session *unit_open(void)
{
	struct gpreempt_session *s = NULL;
	struct gpreempt_error err = { 0 };
	char text[256] = "";

	if (gpreempt_session_open(g, PID, &s, &err))
		gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_msg(s, "not opened: %s", text);
	return s;
}

void unit_clear_trace(void)
{
	loop.trace[0] = '\0';
}

void (*unit_before_flock)(void);
int64_t unit_slept_s;
uint64_t *unit_frozen;
static bool sleep_moves_clocks;
static struct {
	int fd;
	uint64_t due_ns; /* 0: it is not set */
} timers[8];

UNIT_WRAP(int, flock, (int fd, int operation))
{
	void (*happens)(void) = unit_before_flock;

	unit_before_flock = NULL;
	if (happens)
		happens();
	return __real_flock(fd, operation);
}

UNIT_WRAP(int, clock_gettime, (clockid_t clock, struct timespec *ts))
{
	int ret = __real_clock_gettime(clock, ts);

	if (unit_frozen && unit_frozen_ns &&
	    (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME)) {
		ts->tv_sec = unit_frozen_ns / NSEC_PER_SEC;
		ts->tv_nsec = unit_frozen_ns % NSEC_PER_SEC;
	}
	if (clock == CLOCK_BOOTTIME)
		ts->tv_sec += unit_slept_s;
	return ret;
}

void unit_make_up_time(void)
{
	unit_frozen_ns = shr_now_ns();
	sleep_moves_clocks = true;
}

void unit_run_time(void)
{
	sleep_moves_clocks = false;
	unit_frozen_ns = 0;
}

bool unit_time_is_made_up(void)
{
	return sleep_moves_clocks;
}

static uint64_t ns_of(const struct timespec *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

/* Timer that goes off once, after a time. */
UNIT_WRAP(int, timerfd_settime,
	  (int fd, int flags, const struct itimerspec *when, struct itimerspec *old))
{
	static const struct itimerspec never;
	size_t i = 0;

	if (!sleep_moves_clocks)
		return __real_timerfd_settime(fd, flags, when, old);
	while (timers[i].due_ns && timers[i].fd != fd)
		ck_assert_uint_lt(++i, ARRAY_SIZE(timers));
	timers[i].fd = fd;
	timers[i].due_ns = ns_of(&when->it_value);
	if (timers[i].due_ns)
		timers[i].due_ns += unit_frozen_ns;
	ck_assert(!flags && !ns_of(&when->it_interval) && !old);
	return __real_timerfd_settime(fd, 0, &never, NULL);
}

UNIT_WRAP(int, clock_nanosleep,
	  (clockid_t clock, int flags, const struct timespec *ts, struct timespec *left))
{
	static const struct itimerspec now = { .it_value.tv_nsec = 1 };
	size_t i;

	if (!sleep_moves_clocks)
		return __real_clock_nanosleep(clock, flags, ts, left);
	unit_frozen_ns += ns_of(ts);
	for (i = 0; i < ARRAY_SIZE(timers); i++) {
		if (!timers[i].due_ns || timers[i].due_ns > unit_frozen_ns)
			continue;
		timers[i].due_ns = 0;
		__real_timerfd_settime(timers[i].fd, 0, &now, NULL);
		unit_readable(timers[i].fd);
	}
	return 0;
}
