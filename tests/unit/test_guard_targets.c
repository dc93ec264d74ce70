// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets that guard takes, drops, cannot take, or has to leave; and events that must not
 * blind it.
 */
#include "fake/guard.h"
#include "hold/run-dir.h"
#include "unit-host.h"

#define ID_A   "aaaaaaaaaaaa1111111111111111111111111111111111111111111111111111"
#define ID_B   "bbbbbbbbbbbb2222222222222222222222222222222222222222222222222222"
#define DOCKER "/var/lib/docker/containers/"

static void container(pid_t pid, const char *comm, const char *id, const char *name)
{
	world_add(pid, comm, unit_text("/system.slice/docker-%s.scope", id));
	set_file(unit_text(DOCKER "%s/config.v2.json", id), unit_text("{\"Name\":\"/%s\"}", name));
}

static bool is_online(pid_t pid)
{
	size_t i;

	for (i = 0; i < guard.n_online; i++)
		if (guard.online[i].target.pid == pid)
			return true;
	return false;
}

TEST(come_and_go)
{
	const struct guard_online *o = &guard.online[0];

	name_online("comm:serve");
	take_train();
	ck_assert_uint_eq(printed("process 100 is online\n"), 1);
	ck_assert_uint_eq(guard.n_online, 1);
	/* Only the queue whose work can be seen is watched. */
	ck_assert_uint_eq(o->n, 1);
	ck_assert_uint_eq(o->queue[0].read_addr, 0x1000);
	ck_assert_uint_eq(o->queue[0].packets, 64);
	ck_assert_uint_eq(o->nodes, 1);
	ck_assert_uint_eq(guard.offline[0].nodes, 3);
	ck_assert_uint_eq(entity_of(0)->nodes, 3);
	ck_assert_uint_eq(guard.common->gpu_id[1], 0x1234);
	world_remove(100);
	look_until("process 100 is not online any more");
	world_remove(200);
	look_until("process 200 is not offline any more");
	ck_assert_uint_eq(guard.n_online + guard.n_offline, 0);
	ck_assert_uint_eq(printed("there is no memory"), 0);
}

/* Queues and GPUs change while it is a target. */
TEST(queues_change)
{
	name_online("comm:serve");
	take_train();
	guard.online[0].queue[0].known = true;
	guard.online[0].queue[0].written = 7;
	world_queues(100, QUEUES "3 0x1234 compute-aql 0x8 0x10 0x1000 4096\n"
				 "0 0xf7bc compute-aql 0x1000 0x2000 0x3000 4096\n");
	world_queues(200, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n");
	look(1);
	ck_assert_uint_eq(guard.online[0].n, 2);
	ck_assert_uint_eq(guard.online[0].nodes, 3);
	ck_assert_uint_eq(entity_of(0)->nodes, 1);
}

/* Give 200 queues with these registers on two GPUs, and look six times in a second. */
static uint64_t idle_after(const char *first, const char *second, unsigned int looks)
{
	world_queues(200, unit_text("# qid gpu_id type waves rptr wptr unit ring ring_size\n"
				    "0 0xf7bc compute-aql %s dwords 0x1000 4096\n"
				    "1 0x1234 %s 0x1000 4096\n",
				    first, second));
	for (; looks; looks--) {
		look(1);
		unit_frozen_ns += 200 * NSEC_PER_MSEC;
	}
	return entity_of(0)->idle & 3;
}

/* Unknown is work. Registers of a compute queue begin again at the ring's end. */
TEST(without_work)
{
	name_online("comm:serve");
	take_train();
	unit_frozen_ns = shr_now_ns();
	ck_assert_uint_eq(entity_of(0)->idle, 0);
	ck_assert_uint_eq(idle_after("0 16 1040", "sdma - 64 64 bytes", 6), 3);
	ck_assert_uint_eq(idle_after("0 16 1040", "sdma - 64 128 bytes", 6), 1);
	ck_assert_uint_eq(idle_after("8 16 16", "sdma - 64 64 bytes", 6), 2);
	ck_assert_uint_eq(idle_after("0 16 32", "sdma - 64 64 bytes", 6), 2);
	ck_assert_uint_eq(idle_after("- 16 16", "compute-aql 0 - - dwords", 9), 0);
	ck_assert_uint_eq(idle_after("0 0 0", "compute-aql 0 0 0 dwords", 6), 3);
	/* The driver changes the run list at the time of some looks. */
	ck_assert_uint_eq(idle_after("- - -", "compute-aql - - - dwords", 1), 3);
	ck_assert_uint_eq(idle_after("0 0 0", "compute-aql 0 0 0 dwords", 1), 3);
	ck_assert_uint_eq(idle_after("- - -", "compute-aql 0 0 0 dwords", 2), 2);
	ck_assert_uint_eq(idle_after("0 0 0", "compute-aql 0 0 0 dwords", 6), 3);
	/* One look at work is enough, also when it is done by then. */
	ck_assert_uint_eq(idle_after("0 16 16", "compute-aql 0 0 0 dwords", 1), 0);
	ck_assert_uint_eq(idle_after("0 16 16", "compute-aql 0 0 0 dwords", 6), 3);
	ck_assert_uint_eq(idle_after("0 16 32", "compute-aql 0 0 0 dwords", 1), 0);
	/* A look later, too, it counts as work. */
	ck_assert_uint_eq(idle_after("0 32 32", "compute-aql 0 0 0 dwords", 1), 0);
	ck_assert_uint_eq(idle_after("0 32 32", "compute-aql 0 0 0 dwords", 1), 3);
}

static void look_while(uint64_t held, uint64_t after_ns)
{
	unit_frozen_ns += after_ns;
	entity_of(0)->held = held;
	look(1);
}

/* Looks while it is suspended tell nothing, wherever they fall between the others. */
TEST(suspended_at_some_looks)
{
	take_train();
	unit_frozen_ns = shr_now_ns();
	look_while(3, 200 * NSEC_PER_MSEC);
	look_while(0, 200 * NSEC_PER_MSEC);
	look_while(3, 0);
	look_while(0, 200 * NSEC_PER_MSEC);
	ck_assert_uint_eq(entity_of(0)->idle & 3, 0);
}

/* Where its waves are not known, the poller must have seen it at rest lately. */
TEST(without_work_in_the_dark)
{
	static const char idle[] = "compute-aql 0 0 0 dwords";
	struct guard_offline *o;

	name_online("comm:serve");
	take_train();
	unit_frozen_ns = shr_now_ns();
	o = &guard.offline[0];
	o->watch.looked = true;
	o->looked_ns = UINT64_MAX / 2;
	ck_assert_uint_eq(idle_after("- 16 16", idle, 6), 3);
	ck_assert(o->watch.dark);
	ck_assert_uint_eq(idle_after("- 16 32", idle, 1), 0);
	ck_assert_uint_eq(idle_after("- 16 16", idle, 6), 3);
	o->moved_ns = UINT64_MAX / 2;
	ck_assert_uint_eq(idle_after("- 16 16", idle, 6), 2);
	o->moved_ns = 0;
	ck_assert_uint_eq(idle_after("- 16 16", idle, 6), 3);
	o->looked_ns = 0;
	ck_assert_uint_eq(idle_after("- 16 16", idle, 6), 2);
}

/*
 * A process in no slot in two looks shows that there are too many. But not while sessions are
 * opened, for which the driver empties all slots.
 */
TEST(crowded)
{
	name_online("comm:serve");
	take_train();
	world_add(201, "train", "/");
	world_queues(201, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n");
	look_until("process 201 is offline");
	unit_frozen_ns = shr_now_ns();
	/* So far its registers were not known. */
	memset(guard.crowded_ns, 0, sizeof(guard.crowded_ns));
	atomic_store(&guard.offline[1].worker->channel->state, GUARD_OPENING);
	idle_after("0 - -", "compute-aql 0 0 0 dwords", 3);
	ck_assert(!guard.offline[0].crowded);
	atomic_store(&guard.offline[1].worker->channel->state, GUARD_READY);
	idle_after("0 - -", "compute-aql 0 0 0 dwords", 3);
	ck_assert(guard.offline[0].crowded);
}

static unsigned int views_of(pid_t pid)
{
	return gp_loop_reads(&loop, unit_text("/sys/kernel/debug/gpreempt/pid/%d/queues", pid));
}

/* Names are read rarely while no process comes or goes, and the queues of online at each look. */
TEST(settled)
{
	unsigned int names, views;

	name_online("comm:serve");
	take_train();
	unit_frozen_ns = shr_now_ns();
	look(1);
	unit_frozen_ns += 3 * NSEC_PER_SEC;
	look(1);
	names = gp_loop_reads(&loop, "/proc/100/comm");
	views = views_of(100);
	unit_frozen_ns += 1;
	look(3);
	ck_assert_uint_eq(gp_loop_reads(&loop, "/proc/100/comm"), names);
	ck_assert_uint_eq(views_of(100), views + 3);
	unit_frozen_ns += 2 * NSEC_PER_SEC;
	look(1);
	ck_assert_uint_gt(gp_loop_reads(&loop, "/proc/100/comm"), names);
	world_add(101, "serve", "/");
	look(1);
	ck_assert_uint_eq(printed("process 101 is online\n"), 1);
}

/* The poller sees the packets of a parked process, and its worker the queues that come. */
TEST(parked)
{
	unsigned int views;

	name_online("comm:serve");
	take_train();
	unit_frozen_ns = shr_now_ns();
	entity_of(0)->parked = true;
	entity_of(0)->idle = UINT64_MAX;
	look(1);
	views = views_of(200);
	look(3);
	ck_assert_uint_eq(views_of(200), views);
	atomic_fetch_add(&guard.offline[0].worker->channel->queues, 1);
	look(2);
	ck_assert_uint_eq(views_of(200), views + 1);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	look(2);
	ck_assert_uint_eq(views_of(200), views + 2);
	/* A pause has no session that sees new queues. */
	guard.offline[0].paused = true;
	look(2);
	ck_assert_uint_eq(views_of(200), views + 4);
}

/*
 * A process in both roles is reported once, however many targets are left alone for other
 * reasons.
 */
TEST(both_roles)
{
	struct gpreempt_target other = { .start = 1 };

	name_online("comm:serve");
	name_offline("comm:train");
	name_offline("comm:serve");
	add_serve_and_train();
	look_until("process 100 is left alone: it is named as online and as "
		   "offline");
	look(10);
	ck_assert_uint_eq(printed("named as online and as offline"), 1);
	for (other.pid = 1000; other.pid < 1000 + GUARD_REFUSALS; other.pid++)
		guard_backoff_for(&guard, &other, 3600 * NSEC_PER_SEC);
	look(10);
	ck_assert_uint_eq(printed("named as online and as offline"), 1);
	ck_assert(!is_online(100));
}

/* Show a queue as the driver does: it decides whose places come first. */
static void driver_queues(pid_t pid, const char *queues)
{
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/queues/", pid), queues);
}

static void of_user(pid_t pid, int uid)
{
	set_file(unit_text("/proc/%d/status", pid),
		 unit_text("Name:\tx\nState:\tS\nUid:\t%d\n", uid));
}

/* User 1000 fills all places with processes that have no queue. */
TEST_EACH(one_user_fills_it, 2)
{
	const char *role = _i ? "online" : "offline";
	size_t left = 0;
	pid_t pid;

	(_i ? name_online : name_offline)("comm:job");
	guard.places[_i].most = 4;
	for (pid = 100; pid < 104; pid++) {
		world_add(pid, "job", "/a");
		of_user(pid, 1000);
		world_queues(pid, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n");
	}
	look_until(unit_text("process 103 is %s\n", role));
	/* All but the first one get a queue, so that it has to leave. */
	for (pid = 101; pid < 104; pid++)
		driver_queues(pid, "0");
	/* A process of another user comes, with a queue. */
	world_add(104, "job", "/a");
	of_user(104, 1001);
	driver_queues(104, "0");
	world_queues(104, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n");
	look_until(unit_text("process 104 is %s\n", role));
	ck_assert_uint_eq(printed(unit_text("for 0 %sprocesses with queues and 1 without",
					    _i ? "online " : "")),
			  1);
	ck_assert(!guard.places[_i].ever);
	/* The first user's processes get no more than their share, with queues, too. */
	for (pid = 100; pid < 104; pid++)
		driver_queues(pid, "0");
	while (!guard.places[_i].ever)
		look(1);
	look(10);
	for (pid = 100; pid < 104; pid++)
		left += _i ? !is_online(pid) : !guard_find_offline(&guard, pid);
	ck_assert_uint_eq(left, 1);
	ck_assert(_i ? is_online(104) : !!guard_find_offline(&guard, 104));
	world_remove(101);
	look_until_times(unit_text("process 100 is %s\n", role), 2);
}

/* More processes than a list of one word has room for, and the last one has a queue. */
TEST(too_many_of_one_word)
{
	pid_t pid;

	name_online("comm:job");
	for (pid = 100; pid <= 100 + GUARD_FOUND_MAX; pid++)
		world_add(pid, "job", "/a");
	driver_queues(pid - 1, "0");
	look_until("--online comm:job: it names 11 processes; 10 of them are "
		   "looked at");
	look_until(unit_text("process %d is online\n", pid - 1));
	ck_assert(!is_online(pid - 2));
	ck_assert(guard.places[1].ever);
}

TEST(found_by_a_child)
{
	struct guard_finder *finder = &guard.finders[GUARD_WORD_HANGS];

	add_serve_and_train();
	set_file("/proc/200/cmdline", "train");
	name_offline("cmd:^train$");
	finder->sought[finder->n++].word = "cmd:^train$";
	ck_assert_int_eq(guard_finder_start(finder, guard.g), 0);
	look_until("process 200 is offline");
	guard_finder_stop(finder);
}

TEST(tenants)
{
	name_offline("comm:train");
	name_offline("comm:other");
	add_serve_and_train();
	world_add(201, "other", "/b");
	world_queues(201, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n");
	look_until("process 201 is offline");
	look_until("process 200 is offline");
	ck_assert_uint_eq(guard.policy->entity[guard_find_offline(&guard, 200)->entity].tenant, 1);
	ck_assert_uint_eq(guard.policy->entity[guard_find_offline(&guard, 201)->entity].tenant, 2);
}

static const struct guard_tenant *tenant_of(pid_t pid)
{
	unsigned int number = guard.policy->entity[guard_find_offline(&guard, pid)->entity].tenant;
	size_t i = 0;

	while (guard.config.tenant[0][i].number != number)
		ck_assert_uint_lt(++i, guard.config.n[0]);
	return &guard.config.tenant[0][i];
}

static void add_job(pid_t pid, const char *cgroup, const char *role)
{
	unit_cgroup_role(cgroup, role);
	world_add(pid, "job", unit_text("%s/step", cgroup));
	unit_cgroup_make(unit_text("%s/step", cgroup));
	world_queues(pid, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n");
	look_until(unit_text("process %d is offline\n", pid));
}

static void start_roles(void)
{
	unit_cgroups_start();
	loop.cgroups = unit_cgroup_root();
	name_offline("role:offline");
	guard.config.tenant[0][0].wish.max = 80;
}

#define IS_OF(pid, name) ck_assert_str_eq(tenant_of(pid)->word, name)

/* A cgroup with words is a tenant of its own; others of the role are one together. */
TEST(own_tenants)
{
	const struct gpreempt_policy_tenant *wish;
	unsigned int number;

	start_roles();
	name_offline("cgroup:/last");
	add_job(200, "/plain", "offline");
	add_job(201, "/other", "offline");
	add_job(300, "/a", "offline weight=200 max=50%");
	add_job(301, "/b", "offline weight=300");
	add_job(302, "/last", "offline weight=2");
	IS_OF(200, "role:offline");
	IS_OF(201, "role:offline");
	IS_OF(300, "role:offline/a");
	IS_OF(301, "role:offline/b");
	/* The last word that names it counts. */
	IS_OF(302, "cgroup:/last");
	number = tenant_of(300)->number;
	wish = &guard.policy->tenant[number].wish;
	ck_assert(wish->weight == 200 && wish->max == 50 && wish->min == 0);
	/* Figures that its words do not name are the line's, except the minimum. */
	wish = &guard.policy->tenant[tenant_of(301)->number].wish;
	ck_assert(wish->weight == 300 && wish->max == 80 && wish->min == 0);
	unit_cgroup_role("/a", "offline weight=7 min=3%");
	look(1);
	ck_assert_uint_eq(tenant_of(300)->number, number);
	wish = &guard.policy->tenant[number].wish;
	ck_assert(wish->weight == 7 && wish->max == 80 && wish->min == 3);
	unit_cgroup_role("/b", "offline");
	look(1);
	IS_OF(301, "role:offline");
	unit_cgroups_stop();
}

/* Words that do not count leave the process in the tenant of its role; guard reports that once. */
TEST(bad_words)
{
	char path[512] = "/u";

	start_roles();
	add_job(300, "/a", "offline height=2");
	add_job(301, "/b", "offline min=90%");
	IS_OF(300, "role:offline");
	IS_OF(301, "role:offline");
	ck_assert_uint_eq(printed("role of cgroup /a do not count: \"height=2\" is not known"), 1);
	ck_assert_uint_eq(printed("role of cgroup /b do not count: min is more than max"), 1);
	unit_cgroup_long(path, 450, 190);
	add_job(302, path, "offline weight=2");
	IS_OF(302, "role:offline");
	look(10);
	ck_assert_uint_eq(printed("do not count"), 3);
	ck_assert_uint_eq(printed("do not count: its path is too long"), 1);
	unit_cgroup_role("/a", "offline weight=2");
	look(1);
	IS_OF(300, "role:offline/a");
	ck_assert_uint_eq(printed("do not count"), 3);
	unit_cgroups_stop();
}

TEST(too_many_tenants)
{
	start_roles();
	while (guard.config.n[0] < GUARD_WORDS - 1)
		name_offline("comm:none");
	add_job(300, "/a", "offline weight=2");
	add_job(301, "/b", "offline weight=2");
	IS_OF(300, "role:offline/a");
	IS_OF(301, "role:offline");
	ck_assert_uint_eq(printed("cgroup /b do not count: there are too many tenants"), 1);
	unit_cgroups_stop();
}

TEST(too_many_numbers)
{
	size_t i;

	start_roles();
	for (i = 0; i < GPREEMPT_POLICY_TENANTS; i++)
		guard.policy->tenant[i].wish.role = GPREEMPT_ROLE_OFFLINE;
	add_job(300, "/a", "offline weight=2");
	IS_OF(300, "role:offline");
	ck_assert_uint_eq(printed("cgroup /a do not count: there are too many tenants"), 1);
	unit_cgroups_stop();
}

static const char *configuration(void)
{
	static char text[1024];
	FILE *f = fmemopen(text, sizeof(text), "w");

	guard_config_print(&guard.config, f);
	fclose(f);
	return text;
}

/* A tenant keeps its charges for a while without processes, and for as long as it has some. */
TEST(own_tenants_stay)
{
	static const char line[] = "# tenant role:offline/a offline weight=200 max=80%\n";
	struct guard_config new;
	unsigned int number;

	start_roles();
	add_job(300, "/a", "offline weight=200");
	number = tenant_of(300)->number;
	guard.policy->tenant[number].seat[0].used = 7;
	guard_config_start(&new);
	guard_config_add(&new, "comm:none", &guard.config.tenant[0][0].wish);
	guard_config_add(&new, "role:offline", &guard.config.tenant[0][0].wish);
	ck_assert_int_eq(guard_targets_change(&guard, &new), 0);
	look(1);
	IS_OF(300, "role:offline/a");
	ck_assert_uint_eq(tenant_of(300)->number, number);
	ck_assert_uint_ge(guard.policy->tenant[number].seat[0].used, 7);
	ck_assert_ptr_nonnull(strstr(configuration(), line));
	ck_assert_uint_eq(printed("is not offline"), 0);
	unit_frozen_ns = shr_now_ns() + 11 * NSEC_PER_SEC;
	look(1);
	ck_assert_ptr_nonnull(strstr(configuration(), line));
	world_remove(300);
	look(1);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	look(1);
	ck_assert_ptr_nonnull(strstr(configuration(), line));
	unit_frozen_ns += 2 * NSEC_PER_SEC;
	look(1);
	ck_assert_ptr_null(strstr(configuration(), "/a"));
	ck_assert_int_eq(guard.policy->tenant[number].wish.role, GPREEMPT_ROLE_NONE);
	unit_frozen_ns = 0;
	unit_cgroups_stop();
}

/* An exec or the same PID again is another process. */
TEST(another_process)
{
	name_online("comm:serve");
	add_serve_and_train();
	look_until("process 100 is online");
	set_file("/proc/100/stat", "100 (serve) S 1 2 3 4 5 6 7 8 9 10 11 12 "
				   "13 14 15 16 17 18 999999 20\n");
	look(2);
	ck_assert_uint_eq(printed("process 100 is not online any more"), 1);
	ck_assert_uint_eq(printed("process 100 is online"), 2);
	ck_assert_uint_eq(guard.online[0].target.start, 999999);
}

/*
 * A stranger's container takes the name of one that a word names. All else goes on: an ended
 * process is dropped, a new one is taken, a worker that is stopped is killed.
 */
TEST(ambiguous_name)
{
	struct guard_worker *stopped;

	name_online("container:web");
	name_online("comm:serve");
	name_offline("comm:train");
	add_serve_and_train();
	container(300, "nginx", ID_A, "web");
	fake_worker = WORKER_STOPS;
	look_until("process 300 is online");
	look_until("process 200 is offline");
	fake_worker = WORKER_OBEYS;
	stopped = guard.offline[0].worker;
	ck_assert_int_eq(kill(stopped->child, 0), 0);

	container(301, "nginx", ID_B, "web");
	world_remove(100);
	world_add(101, "serve", "/a");
	look(3);
	ck_assert_msg(!is_online(100), "an ended process is online still");
	ck_assert_msg(is_online(101), "a new process was not taken");
	ck_assert(!is_online(300) && !is_online(301));
	ck_assert_uint_eq(printed("--online container:web: that is the name "
				  "of several containers"),
			  1);
	ck_assert_uint_eq(printed("aaaaaaaaaaaa (process 300), "
				  "bbbbbbbbbbbb (process 301)"),
			  1);
	ck_assert_uint_eq(printed("process 301 is left alone: the name of its "
				  "container is that of several"),
			  1);
	/* Its target would hang at its next signal. */
	unit_set_limit(UNIT_SILENCE, NSEC_PER_SEC);
	look_until("process 200 is left alone: its worker was killed by "
		   "signal 9");
	unit_reset_limits();
	look_until_times("process 200 is offline", 2);

	/*
	 * The failure is reported once for a while; the other process goes, and the word is good
	 * again.
	 */
	unit_frozen_ns = shr_now_ns();
	look(20);
	ck_assert_uint_eq(printed("--online container:web"), 1);
	forget_printed();
	world_remove(301);
	look_until("process 300 is online");
	/* A process that comes and goes is not printed each time. */
	container(301, "nginx", ID_B, "web");
	look(3);
	ck_assert(!is_online(300));
	ck_assert_uint_eq(printed("--online container:web"), 0);
}

/* Guard has no memory, or no descriptors: the targets stay, and no worker is forgotten. */
TEST(transient)
{
	int errors[] = { -ENOMEM, -EMFILE, -EIO };
	size_t i;

	name_online("comm:serve");
	take_train();
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		fail_files = errors[i];
		look(5);
		ck_assert(is_online(100));
		ck_assert_ptr_nonnull(guard_find_offline(&guard, 200));
		fail_files = 0;
		look(2);
	}
	ck_assert_uint_eq(printed("not online any more"), 0);
	ck_assert_uint_eq(printed("not offline any more"), 0);
	ck_assert_uint_eq(printed("--online comm:serve: "), 1);
	ck_assert_uint_eq(printed("Cannot allocate memory"), 2);
	/* A worker that ends meanwhile is noticed all the same. */
	fail_files = -EMFILE;
	kill(guard.offline[0].worker->child, SIGKILL);
	look_until("its worker was killed by signal 9");
	ck_assert_uint_eq(guard.n_offline, 0);
	fail_files = 0;
	look_until_times("process 200 is offline", 2);
}

/* A process that ends while its word fails is not kept. */
TEST(ends_while_failing)
{
	name_online("container:web");
	container(300, "nginx", ID_A, "web");
	world_queues(300, QUEUES);
	look_until("process 300 is online");
	/* The list of processes cannot be read, but /proc of process 300 can. */
	set_file("/sys/class/kfd/kfd/proc/", NULL);
	look(3);
	ck_assert(is_online(300));
	set_file("/proc/300/stat", NULL);
	look(1);
	ck_assert(!is_online(300));
}

/* Guard sees no queues without the module; it may come back. */
TEST(module_gone)
{
	name_online("comm:serve");
	add_serve_and_train();
	look_until("process 100 is online");
	set_file("/sys/kernel/debug/gpreempt/pid/100/queues", NULL);
	set_file("/sys/class/kfd/kfd/proc/100/queues/", "");
	look_until("gpreempt.ko is gone");
	look(5);
	ck_assert_uint_eq(printed("gpreempt.ko is gone"), 1);
	ck_assert_uint_eq(guard.online[0].n, 0);
	world_queues(100, QUEUES);
	look_until("gpreempt.ko is there again");
}

/* The module is there, but has no file any more of a process that ends. */
TEST(ends_with_module)
{
	name_online("comm:serve");
	set_file("/sys/kernel/debug/gpreempt/version",
		 "gpreempt-version - version: 1.0\n# key value\nmodule 1\n");
	add_serve_and_train();
	look_until("process 100 is online");
	set_file("/sys/kernel/debug/gpreempt/pid/100/queues", NULL);
	set_file("/sys/class/kfd/kfd/proc/100/queues/", "");
	look(5);
	ck_assert_uint_eq(printed("gpreempt.ko is gone"), 0);
	set_file("/sys/kernel/debug/gpreempt/version", NULL);
	look_until("gpreempt.ko is gone");
}

TEST(cannot_be_attached)
{
	fake_worker = WORKER_FAILS;
	name_offline("comm:train");
	add_serve_and_train();
	look_until("process 200 is left alone: ");
	ck_assert_uint_eq(printed("attaching to it"), 1);
	look(20);
	ck_assert_uint_eq(printed("process 200"), 1);
	/* The target is tried again, which works. */
	fake_worker = WORKER_OBEYS;
	look_until("process 200 is offline");
}

/* A target is released on request, and not taken back before the time is over. */
TEST(released)
{
	take_train();
	unit_frozen_ns = shr_now_ns();
	guard.offline[0].away_ns = 600 * NSEC_PER_SEC;
	guard.offline[0].unwanted = true;
	guard_release_some(&guard);
	ck_assert_uint_eq(printed("process 200 is released, as requested\n"), 1);
	UNIT_WAIT((look(1), !guard_is_going(&guard, 200)));
	ck_assert_uint_eq(guard.n_offline, 0);
	unit_frozen_ns += 601 * NSEC_PER_SEC;
	look_until_times("process 200 is offline", 2);
}

TEST(held_by_another)
{
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER, .pid = 77 };
	int lock = hold_lock(200);

	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_write_owner(lock, &owner), 0);
	name_offline("comm:train");
	add_serve_and_train();
	look_until("process 200 is left alone: it is held by gpreempt-ctl "
		   "suspend (77)");
	close(lock);
	look_until("process 200 is offline");
}

/* There is no room for another process (pids.max): one report, and then it works. */
TEST(no_worker)
{
	int lock;

	name_offline("comm:train");
	add_serve_and_train();
	unit_fork_errno = EAGAIN;
	look_until("process 200 is left alone: its worker cannot be started: "
		   "Resource temporarily unavailable");
	look(100);
	ck_assert_uint_eq(printed("process 200"), 1);
	ck_assert_uint_eq(guard.n_offline + guard.n_going, 0);
	lock = hold_lock(200);
	ck_assert_msg(lock >= 0, "its lock was not given back");
	close(lock);
	unit_fork_errno = 0;
	look_until("process 200 is offline");
}

/* JSON has the same; a lock that cannot be had is not "held by". */
TEST(no_lock)
{
	args.json = 1;
	ck_assert_int_eq(mkdir(HOLD_DIR "/200.lock", 0700), 0);
	name_offline("comm:train");
	add_serve_and_train();
	set_file("/proc/200/status", "Name:\ttrain\nState:\tS\nTgid:\t200\n");
	look_until("{\"event\":\"refused\",");
	ck_assert_uint_eq(printed("\"pid\":200,\"text\":\"process 200 is left "
				  "alone: it cannot be locked in " HOLD_DIR
				  ": Is a directory\"}\n"),
			  1);
	ck_assert_int_eq(rmdir(HOLD_DIR "/200.lock"), 0);
	look_until("\"role\":\"offline\",\"comm\":\"train\"}");
}

/*
 * A worker that runs, and does not say that it is well: its own watchdog may
 * not see that. It is killed after 2 s, in the driver after 20; then its target
 * is free, and another worker takes it.
 */
TEST_EACH(silent_worker, 2)
{
	bool busy = _i;
	struct guard_channel *c;
	pid_t child;
	int i;

	fake_worker = WORKER_SILENT;
	take_train();
	c = guard.offline[0].worker->channel;
	child = guard.offline[0].worker->child;
	unit_set_limit(UNIT_SILENCE, 2 * NSEC_PER_SEC);
	unit_set_limit(UNIT_BUSY, 20 * NSEC_PER_SEC);
	unit_frozen_ns = shr_now_ns();
	atomic_store(&c->busy, busy);
	for (i = 0; i < 20; i++) {
		/* A worker may be silent for longer in the driver. */
		atomic_store(&c->beat_ns, shr_now_ns() - (busy ? 3 * NSEC_PER_SEC : 0));
		look(1);
		ck_assert_int_eq(kill(child, 0), 0);
	}
	ck_assert_uint_eq(printed("left alone"), 0);
	fake_worker = WORKER_OBEYS;
	atomic_store(&c->beat_ns, shr_now_ns() - (busy ? 21 : 3) * NSEC_PER_SEC);
	look_until("process 200 is left alone: its worker was killed by "
		   "signal 9");
	ck_assert_int_lt(kill(child, 0), 0);
	unit_frozen_ns = 0;
	unit_reset_limits();
	forget_printed();
	look_until("process 200 is offline");
	ck_assert_int_ne(guard.offline[0].worker->child, child);
}

TEST_FIXTURE(guard_setup, guard_teardown)
