// SPDX-License-Identifier: GPL-2.0-only
/* Places where there are fewer than processes, and the readers that learn of the others. */
#include "hold/places.h"
#include "unit-ctl.h"
#include "unit-host.h"

#define MOST 1024

static struct place_claim claims[2 * MOST];
static size_t n;

static void add(size_t count, const char *tenant, bool queues, bool held)
{
	while (count--) {
		struct place_claim *c = &claims[n];

		*c = (struct place_claim){ .queues = queues, .held = held };
		c->target.pid = 100 + n++;
		strcpy(c->tenant, tenant);
	}
}

static size_t given(const char *tenant, bool queues)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += claims[i].given && claims[i].queues == queues &&
			 !strcmp(claims[i].tenant, tenant);
	return count;
}

/* Share the places twice: processes that hold one then keep it. */
static void share(size_t places)
{
	static struct gpreempt_target first[ARRAY_SIZE(claims)];
	size_t i, most = places < n ? places : n;

	place_claims_share(claims, n, places);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(claims[i].given, i < most);
		claims[i].held = claims[i].given;
		first[i] = claims[i].target;
	}
	place_claims_share(claims, n, places);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(claims[i].given, claims[i].held);
		if (i < most)
			ck_assert_int_eq(claims[i].target.pid, first[i].pid);
	}
}

/* One user fills the places with processes that open /dev/kfd and sleep. */
TEST(idle_ones_give_way)
{
	add(MOST, "user 1000", false, true);
	add(1, "user 1001", true, false);
	share(MOST);
	ck_assert_uint_eq(given("user 1001", true), 1);
	ck_assert_uint_eq(given("user 1000", false), MOST - 1);
	/* The user's processes have a queue each, too. */
	n = 0;
	add(MOST, "user 1000", true, true);
	add(1, "user 1001", true, false);
	share(MOST);
	ck_assert_uint_eq(given("user 1001", true), 1);
	ck_assert_uint_eq(given("user 1000", true), MOST - 1);
}

TEST(queues_come_first)
{
	add(5, "user 1", false, true);
	add(9, "user 2", true, false);
	share(8);
	ck_assert_uint_eq(given("user 2", true), 8);
	/* Processes without queues share the places that are left. */
	n = 0;
	add(20, "user 1", false, true);
	add(2, "user 2", false, false);
	add(3, "user 1", true, false);
	share(8);
	ck_assert_uint_eq(given("user 1", true), 3);
	ck_assert_uint_eq(given("user 2", false), 2);
	ck_assert_uint_eq(given("user 1", false), 3);
}

TEST(as_many_as_any_other)
{
	add(1000, "user 1", true, true);
	add(10, "user 2", true, false);
	add(3, "container a", true, false);
	share(30);
	ck_assert_uint_eq(given("container a", true), 3);
	ck_assert_uint_eq(given("user 2", true), 10);
	ck_assert_uint_eq(given("user 1", true), 17);
	share(12);
	ck_assert_uint_eq(given("container a", true), 3);
	ck_assert_uint_eq(given("user 2", true) + given("user 1", true), 9);
	share(4000);
	ck_assert_uint_eq(given("user 1", true), 1000);
	n = 0;
	share(4);
}

static struct places p;
static struct places_left seen;
static int seen_times;

static void setup(void)
{
	unit_setup();
	hold_dir_setup();
	p = (struct places){ .g = g, .most = 4, .role = HOLD_ROLE_FOLLOW };
	unit_make_process(getpid());
	set_file("/etc/subuid", "1000:100000:10");
}

static void teardown(void)
{
	places_end(&p);
	unit_teardown();
}

static void add_process(pid_t pid, uid_t uid, bool queues)
{
	unit_make_process(pid);
	set_file(unit_text("/proc/%d/status", pid),
		 unit_text("Name:\tx\nState:\tS\nUid:\t%u\n", uid));
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/queues/", pid), queues ? "0" : "");
}

static struct gpreempt_target target_of(pid_t pid)
{
	struct gpreempt_target t = { .pid = pid };

	ck_assert_int_eq(gpreempt_start_time(g, pid, &t.start), 0);
	return t;
}

/* Look with the processes from @first on, which all have the places that they got. */
static bool look(pid_t first, pid_t end)
{
	static bool held[32];
	bool report;
	pid_t pid;

	places_begin(&p);
	p.shared_ns = 0; /* long ago */
	for (pid = first; pid < end; pid++) {
		struct gpreempt_target t = target_of(pid);

		places_claim(&p, &t, held[pid % 32]);
		/* Another word names the process, too. */
		places_claim(&p, &t, false);
	}
	report = places_share(&p);
	for (pid = first; pid < end; pid++) {
		struct gpreempt_target t = target_of(pid);

		held[pid % 32] = places_given(&p, &t);
	}
	return report;
}

static bool has_place(pid_t pid)
{
	struct gpreempt_target t = target_of(pid);

	return places_given(&p, &t);
}

static int see(void *arg, const struct places_left *left)
{
	ck_assert_ptr_eq(arg, &p);
	seen = *left;
	seen_times++;
	return 0;
}

/* Read the file as another command does. */
static size_t read_left(void)
{
	seen_times = 0;
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(places_left_list(g, see, &p), 0);
	return seen.left;
}

TEST(look_after_look)
{
	char text[256], own[256];
	pid_t pid;

	/* Ids of one user, which may use ten. */
	for (pid = 4194200; pid < 4194204; pid++)
		add_process(pid, 100000 + pid % 10, false);
	ck_assert(!look(4194200, 4194204));
	ck_assert_uint_eq(read_left(), 0);
	ck_assert_int_eq(seen_times, 0);
	/* Another user has a process with a queue. */
	add_process(4194204, 1001, true);
	ck_assert(look(4194200, 4194205));
	ck_assert(has_place(4194204));
	ck_assert_uint_eq(p.left, 0);
	ck_assert_uint_eq(p.waiting, 1);
	ck_assert(!p.ever);
	read_left();
	ck_assert_uint_eq(seen.waiting, 1);
	ck_assert_uint_eq(seen.n, 0);
	/* All have queues now: the user with most of them has one too many. */
	for (pid = 4194200; pid < 4194204; pid++)
		add_process(pid, 100000 + pid % 10, true);
	/* The first report was just now. */
	ck_assert(!look(4194200, 4194205));
	ck_assert(has_place(4194204) && has_place(4194200));
	ck_assert(!has_place(4194203));
	ck_assert(p.ever);
	ck_assert_uint_eq(read_left(), 1);
	ck_assert_int_eq(seen_times, 1);
	ck_assert_int_eq(seen.command, getpid());
	ck_assert_uint_eq(seen.most, 4);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_int_eq(seen.pid[0], 4194203);
	places_text(&p, own, sizeof(own));
	places_left_text(&seen, text, sizeof(text));
	ck_assert_str_eq(text, own);
	/* Commands name them, and their number. */
	CTL(0, "status");
	OUT_LINE("\n4194203\t%d\t", getpid());
	OUT_HAS("\tno-place\t");
	ERR_HAS(text);
	ctl_line("doctor");
	OUT_LINE("warning\tplaces\t%s\tgpreempt-ctl status names them\n", text);
	CTL(0, "metrics --for 0ms");
	OUT_HAS(",by=\"follow\"} 1\n");
	/* One process ends: there are as many places as processes. */
	ck_assert(!look(4194201, 4194205));
	ck_assert(has_place(4194203));
	ck_assert_uint_eq(read_left(), 0);
	ck_assert_int_eq(seen_times, 0);
	ck_assert(p.ever);
}

/* The command was killed; or its number is another process's; or the file is damaged. */
TEST(of_another_time)
{
	static const char *const damaged[] = {
		"", "gpreempt-left 2\n",
		"gpreempt-left 1 role=77 start=1 places=1 left=1 waiting=1\n"
	};
	const char *path = unit_text(HOLD_DIR "/%d.left", getpid());
	size_t i;
	FILE *f;

	add_process(4194200, 1000, true);
	add_process(4194201, 1000, true);
	p.most = 1;
	look(4194200, 4194202);
	ck_assert_uint_eq(read_left(), 1);
	for (i = 0; i < ARRAY_SIZE(damaged); i++) {
		f = fopen(path, "w");
		ck_assert_ptr_nonnull(f);
		fputs(damaged[i], f);
		fclose(f);
		read_left();
		ck_assert_int_eq(seen_times, 0);
	}
	look(4194200, 4194202);
	ck_assert_uint_eq(read_left(), 1);
	set_file(unit_text("/proc/%d/stat", getpid()),
		 "1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 3 20\n");
	read_left();
	ck_assert_int_eq(seen_times, 0);
	ck_assert_int_eq(access(path, F_OK), 0);
	set_file(unit_text("/proc/%d/stat", getpid()), NULL);
	read_left();
	ck_assert_int_ne(access(path, F_OK), 0);
}

TEST_FIXTURE(setup, teardown)
