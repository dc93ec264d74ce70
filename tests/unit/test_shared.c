// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helpers that know no GPU: times, numbers and lists as people type them, percentiles,
 * arrays, small files of /proc, signals that a loop reads, messages to systemd, and what a
 * child inherits.
 */
#include <inttypes.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shared/text.h"
#include "unit-host.h"
#include "unit-memory.h"
#include "unit.h"

#define FDS 8

static int fds[FDS];

static void setup(void)
{
	int i;

	for (i = 0; i < FDS; i++) {
		fds[i] = open("/dev/null", O_RDONLY);
		ck_assert_int_gt(fds[i], STDERR_FILENO);
	}
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* A bit for each of fds that is open; at most 8. */
static int open_ones(void *arg)
{
	int i, bits = 0;

	(void)arg;
	for (i = 0; i < FDS; i++)
		bits |= is_open(fds[i]) << i;
	return bits;
}

static int status_of(pid_t child)
{
	int status = 0;

	UNIT_WAIT(shr_child_gone(&child, &status));
	ck_assert_int_eq(child, 0);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(descriptors)
{
	const int keep[] = { fds[6], -1, fds[1], fds[6], fds[2] };

	ck_assert_int_eq(status_of(shr_child_start(open_ones, NULL, NULL, 0)), 0);
	ck_assert_int_eq(status_of(shr_child_start(open_ones, NULL, keep, ARRAY_SIZE(keep))),
			 1 << 6 | 1 << 1 | 1 << 2);
	/* The parent has all of its own. */
	ck_assert_int_eq(open_ones(NULL), 0xff);
}

/* The child's text on stderr is read. */
static int has_stderr(void *arg)
{
	(void)arg;
	return is_open(STDERR_FILENO);
}

TEST(standard_ones)
{
	ck_assert_int_eq(status_of(shr_child_start(has_stderr, NULL, NULL, 0)), 1);
}

/* The list has room for 64. */
TEST(many_to_keep)
{
	int keep[65], i;

	for (i = 0; i < 65; i++)
		keep[i] = fds[1];
	ck_assert_int_eq(status_of(shr_child_start(open_ones, NULL, keep, 64)), 1 << 1);
	ck_assert_int_eq(shr_child_start(open_ones, NULL, keep, 65), -EINVAL);
}

TEST(no_process)
{
	unit_fork_errno = EAGAIN;
	ck_assert_int_eq(shr_child_start(has_stderr, NULL, NULL, 0), -EAGAIN);
	unit_fork_errno = 0;
}

static int wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return !!arg;
}

TEST(not_gone)
{
	pid_t child = shr_child_start(wait_for_ever, NULL, NULL, 0), none = 0;
	pid_t before = child;
	int status;

	ck_assert_int_gt(child, 0);
	ck_assert(!shr_child_gone(&child, &status));
	ck_assert_int_eq(child, before);
	ck_assert(shr_child_gone(&none, &status));
	kill(child, SIGKILL);
	UNIT_WAIT(shr_child_gone(&child, &status));
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_FIXTURE(setup, NULL)

static const struct {
	const char *text;
	int ret;
	uint64_t ns;
} durations[] = {
	{ "450us", 0, 450000 },
	{ "100ms", 0, 100000000 },
	{ "5s", 0, 5000000000 },
	{ "2m", 0, 120000000000 },
	{ "1h", 0, 3600000000000 },
	{ "7ns", 0, 7 },
	{ "0s", 0, 0 },
	{ "1.5s", 0, 1500000000 },
	{ "0.25ms", 0, 250000 },
	{ "1.0000009s", 0, 1000000000 },
	{ "366h", 0, 1317600000000000 },
	{ "", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "-5s", -EINVAL, 0 },
	{ "+5s", -EINVAL, 0 },
	{ " 5s", -EINVAL, 0 },
	{ ".5s", -EINVAL, 0 },
	{ "1.s", -EINVAL, 0 },
	{ "5", 0, 5000000000 },
	{ "1.5", 0, 1500000000 },
	{ "5 s", -ENXIO, 0 },
	{ "5x", -ENXIO, 0 },
	{ "5S", -ENXIO, 0 },
	{ "5ss", -ENXIO, 0 },
	{ "1e3s", -ENXIO, 0 },
	{ "100000h", -ERANGE, 0 },
	{ "31622401s", -ERANGE, 0 },
	{ "18446744073709551616ns", -ERANGE, 0 },
	{ "99999999999999999999999999ns", -ERANGE, 0 },
};

TEST_EACH(duration, ARRAY_SIZE(durations))
{
	uint64_t ns = 12345;

	ck_assert_int_eq(shr_parse_duration(durations[_i].text, &ns), durations[_i].ret);
	/* A failed call leaves the output alone. */
	ck_assert_uint_eq(ns, durations[_i].ret ? 12345 : durations[_i].ns);
	if (durations[_i].ret)
		ck_assert_ptr_nonnull(shr_duration_error(durations[_i].ret));
}

static const struct {
	uint64_t ns;
	const char *text;
} formats[] = {
	{ 0, "0ns" },	      { 999, "999ns" },	    { 450000, "450us" },    { 1500000000, "1.5s" },
	{ 5000000000, "5s" }, { 1234567, "1.2ms" }, { 339123456, "339ms" }, { 90000000000, "1.5m" },
};

TEST_EACH(format, ARRAY_SIZE(formats))
{
	char text[32];

	shr_format_duration(formats[_i].ns, text, sizeof(text));
	ck_assert_str_eq(text, formats[_i].text);
}

TEST(numbers)
{
	uint64_t value = 1;

	ck_assert_int_eq(shr_parse_u64("0", 100, &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(shr_parse_u64("100", 100, &value), 0);
	ck_assert_int_eq(shr_parse_u64("101", 100, &value), -ERANGE);
	ck_assert_int_eq(shr_parse_u64("3", 3, &value), 0);
	ck_assert_int_eq(shr_parse_u64("4", 3, &value), -ERANGE);
	ck_assert_int_eq(shr_parse_u64("18446744073709551615", UINT64_MAX, &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(shr_parse_u64("18446744073709551616", UINT64_MAX, &value), -ERANGE);
	ck_assert_int_eq(shr_parse_u64("", 100, &value), -EINVAL);
	ck_assert_int_eq(shr_parse_u64("1x", 100, &value), -EINVAL);
	ck_assert_int_eq(shr_parse_u64("0x1", 100, &value), -EINVAL);
	ck_assert_int_eq(shr_parse_u64("-1", 100, &value), -EINVAL);
}

static const struct {
	const char *text;
	int ret;
	size_t count;
} lists[] = {
	{ "0", 0, 1 },		{ "0,2", 0, 2 },
	{ "7,3,1023", 0, 3 },	{ "", -EINVAL, 0 },
	{ ",", -EINVAL, 0 },	{ "1,", -EINVAL, 0 },
	{ ",1", -EINVAL, 0 },	{ "1,,2", -EINVAL, 0 },
	{ "1 2", -EINVAL, 0 },	{ "a", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },	{ "1,1", -EEXIST, 0 },
	{ "1024", -ERANGE, 0 }, { "99999999999999999999", -ERANGE, 0 },
};

TEST_EACH(list, ARRAY_SIZE(lists))
{
	uint32_t *ids = NULL;
	size_t count = 77;

	ck_assert_int_eq(shr_parse_list(lists[_i].text, 1023, &ids, &count), lists[_i].ret);
	ck_assert_uint_eq(count, lists[_i].ret ? 77 : lists[_i].count);
	free(ids);
}

TEST(like_printf)
{
	static const int64_t values[] = {
		0, 1, -1, 9, 10, -10, 99, 100, 4194304, INT64_MAX, INT64_MIN, INT64_MIN + 1,
	};
	char text[SHR_DECIMAL_SIZE + 1], want[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		char *end;

		memset(text, 'x', sizeof(text));
		end = shr_put_decimal(text, values[i]);
		snprintf(want, sizeof(want), "%" PRId64, values[i]);
		ck_assert_str_eq(text, want);
		ck_assert_ptr_eq(end, text + strlen(want));
		/* The text takes not one byte more than it needs. */
		ck_assert_int_eq(end[1], 'x');
	}
}

/* The path of a file of a process, and where it ends. */
TEST(paths)
{
	char path[GP_PID_PATH], *end;

	end = gp_pid_path(path, "/proc", 4194304, "cmdline");
	ck_assert_str_eq(path, "/proc/4194304/cmdline");
	ck_assert_ptr_eq(end, path + strlen(path));
}

static struct shr_stats stats;

TEST(no_samples)
{
	stats = (struct shr_stats){ .n = 5, .max = 5 };
	shr_stats(NULL, 0, &stats);
	ck_assert_uint_eq(stats.n, 0);
	ck_assert_uint_eq(stats.max, 0);
}

/* Samples 1 to n in no order: the step is prime to n. A rank is rounded up, and half of a mean. */
static const struct {
	size_t n, step;
	uint64_t p50, p90, p99, p999, mean;
} sampled[] = {
	{ 1, 1, 1, 1, 1, 1, 1 },
	{ 3, 2, 2, 3, 3, 3, 2 },
	{ 4, 3, 2, 4, 4, 4, 3 },
	{ 100, 37, 50, 90, 99, 100, 51 },
	/* The 999.999th of 1001, and so the 1000th. */
	{ 1001, 37, 501, 901, 991, 1000, 501 },
	{ 10000, 3701, 5000, 9000, 9900, 9990, 5001 },
};

TEST_EACH(percentiles, ARRAY_SIZE(sampled))
{
	static uint64_t samples[10000];
	size_t n = sampled[_i].n, i;

	for (i = 0; i < n; i++)
		samples[i] = i * sampled[_i].step % n + 1;
	shr_stats(samples, n, &stats);
	ck_assert_uint_eq(stats.n, n);
	ck_assert_uint_eq(stats.min, 1);
	ck_assert_uint_eq(stats.p50, sampled[_i].p50);
	ck_assert_uint_eq(stats.p90, sampled[_i].p90);
	ck_assert_uint_eq(stats.p99, sampled[_i].p99);
	ck_assert_uint_eq(stats.p999, sampled[_i].p999);
	ck_assert_uint_eq(stats.max, n);
	ck_assert_uint_eq(stats.mean, sampled[_i].mean);
}

TEST(large_values)
{
	uint64_t samples[] = { UINT64_MAX, 0, UINT64_MAX - 1 };

	shr_stats(samples, 3, &stats);
	ck_assert_uint_eq(stats.min, 0);
	ck_assert_uint_eq(stats.p50, UINT64_MAX - 1);
	ck_assert_uint_eq(stats.max, UINT64_MAX);
	/* The sum is 2^65 - 3, more than 64 bits hold. */
	ck_assert_uint_eq(stats.mean, UINT64_MAX / 3 * 2);
}

#define MANY 1024 /* a power of two: the next one takes memory */

TEST(grows)
{
	SHR_ARRAY(size_t, array) = { NULL, 0 };
	size_t i, *item, *before, moved = 0;

	ck_assert_ptr_null(shr_end(&array));
	for (i = 0; i < MANY; i++) {
		before = array.items;
		item = shr_add(&array);
		ck_assert_ptr_eq(item, shr_end(&array) - 1);
		ck_assert_uint_eq(*item, 0);
		*item = i;
		moved += array.items != before;
	}
	/* The size doubles: 16, 32 ... 1024. */
	ck_assert_uint_le(moved, 7);
	unit_memory_fails = 1;
	ck_assert_ptr_null(shr_add(&array));
	ck_assert_uint_eq(array.count, MANY);
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq(array.items[i], i);
	/* A count that was lowered can be raised again. */
	array.count = 16;
	ck_assert_int_eq(shr_array_room(&array.items, 16, 1, sizeof(i)), 0);
	ck_assert_uint_eq(array.items[15], 15);
	free(array.items);
}

TEST(reads_the_start)
{
	char text[4] = "xxx", all[64];

	ck_assert_int_eq(shr_read_start(text, sizeof(text), "/no/%d/such", 1), -ENOENT);
	ck_assert_str_eq(text, "");
	ck_assert_int_gt(shr_read_start(all, sizeof(all), "/proc/%d/stat", getpid()), 3);
	ck_assert_int_eq(atoi(all), getpid());
	ck_assert_int_eq(shr_read_start(text, sizeof(text), "/proc/self/stat"), 3);
	ck_assert_int_eq(strlen(text), 3);
}

/* A process chooses its name. */
TEST(finds_the_state)
{
	ck_assert_str_eq(shr_stat_state("7 (a) R) T 1"), "T 1");
	ck_assert_ptr_null(shr_stat_state("7 (a"));
	ck_assert_ptr_null(shr_stat_state("7 (a)"));
	ck_assert_ptr_null(shr_stat_state(""));
}

static const int signals[] = { SIGUSR1, SIGUSR2, 0 };

static bool is_blocked(int sig)
{
	sigset_t set;

	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &set), 0);
	return sigismember(&set, sig);
}

TEST(are_read)
{
	struct signalfd_siginfo info;
	int fd = shr_signals_open(signals);

	ck_assert_int_ge(fd, 0);
	ck_assert(is_blocked(SIGUSR1) && is_blocked(SIGUSR2));
	ck_assert(!is_blocked(SIGTERM));
	ck_assert_int_lt(read(fd, &info, sizeof(info)), 0);
	ck_assert_int_eq(errno, EAGAIN);
	raise(SIGUSR2);
	ck_assert_int_eq(read(fd, &info, sizeof(info)), sizeof(info));
	ck_assert_int_eq(info.ssi_signo, SIGUSR2);
	close(fd);
}

TEST(no_descriptor)
{
	struct rlimit limit, none;
	int fd;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd = shr_signals_open(signals);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(fd, -EMFILE);
	ck_assert(!is_blocked(SIGUSR1));
}

static int manager;

/* Listens at a path, and sets NOTIFY_SOCKET to it. */
static void listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (*path == '@')
		address.sun_path[0] = '\0';
	else
		unlink(path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(manager, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&address,
			      offsetof(struct sockaddr_un, sun_path) + strlen(path)),
			 0);
	setenv("NOTIFY_SOCKET", path, 1);
}

static void expect(const char *state)
{
	char text[64] = "";

	ck_assert_int_eq(recv(manager, text, sizeof(text) - 1, 0), strlen(state));
	ck_assert_str_eq(text, state);
}

/*
 * There is no manager, or its path is too long. We listen where that path would lead if it was
 * cut off: nothing may come there, and no descriptor is left.
 */
TEST(no_manager)
{
	struct sockaddr_un address;
	char cut[sizeof(address.sun_path)], path[sizeof(cut) + 20], text[16];
	int before;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(path, "/tmp/", 5);
	memcpy(cut, path, sizeof(cut));
	cut[sizeof(cut) - 1] = '\0';
	listen_at(cut);
	notify_manager("READY=1");
	expect("READY=1");
	before = dup(manager);
	close(before);
	setenv("NOTIFY_SOCKET", path, 1);
	notify_manager("READY=1");
	unsetenv("NOTIFY_SOCKET");
	notify_manager("READY=1");
	setenv("NOTIFY_SOCKET", "", 1);
	notify_manager("READY=1");
	ck_assert_int_lt(recv(manager, text, sizeof(text), 0), 0);
	ck_assert_int_eq(errno, EAGAIN);
	/* The lowest free number is the same as before. */
	ck_assert_int_eq(dup(manager), before);
	close(before);
	close(manager);
	unlink(cut);
	/* One without a file. */
	snprintf(cut, sizeof(cut), "@gpreempt-notify.%d", getpid());
	listen_at(cut);
	notify_manager("STOPPING=1");
	expect("STOPPING=1");
	close(manager);
}

TEST(watchdog)
{
	char pid[16];

	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	ck_assert_uint_eq(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 30000000000);
	setenv("WATCHDOG_PID", "1", 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 30000000000);
	setenv("WATCHDOG_USEC", "soon", 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 0);
}

TEST_FIXTURE(NULL, NULL)
