// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "hold/run-dir.h"
#include "fake/guard.h"
#include "unit-ctl.h"

#define KFD_DIR	      "/sys/class/kfd/kfd/proc/"
#define MAX_PROCESSES 80

struct guard guard;
struct guard_options args;
int fail_files;
enum fake_worker fake_worker;

static struct gp_backend_ops ops;
static char out_path[64];
static pid_t pids[MAX_PROCESSES];
static size_t n_pids;

/* guard's own feeds its watchdog. */
void guard_heartbeat(struct guard *of)
{
	ck_assert_ptr_eq(of, &guard);
}

static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	return fail_files ? fail_files : gp_backend_loop.read_file(be, path, buf, size);
}

static int list_dir(void *be, const char *path, int (*fn)(void *arg, const char *name), void *arg)
{
	return fail_files ? fail_files : gp_backend_loop.list_dir(be, path, fn, arg);
}

static void list_processes(void)
{
	char text[1024] = "";
	size_t i;

	for (i = 0; i < n_pids; i++)
		sprintf(text + strlen(text), "%d\n", pids[i]);
	set_file(KFD_DIR, unit_text("%s", text));
}

void world_add(pid_t pid, const char *comm, const char *cgroup)
{
	pids[n_pids++] = pid;
	set_file(unit_text("/proc/%d/stat", pid),
		 unit_text("%d (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %d 20\n", pid,
			   comm, 1000 + pid));
	set_file(unit_text("/proc/%d/comm", pid), unit_text("%s\n", comm));
	set_file(unit_text("/proc/%d/cgroup", pid), unit_text("0::%s\n", cgroup));
	list_processes();
}

void world_queues(pid_t pid, const char *text)
{
	set_view(pid, unit_text("gpreempt-queues - version: 1.1\n%s", text));
}

void world_remove(pid_t pid)
{
	size_t i;

	for (i = 0; i < n_pids; i++)
		if (pids[i] == pid)
			pids[i--] = pids[--n_pids];
	set_file(unit_text("/proc/%d/stat", pid), NULL);
	list_processes();
}

/* Did it work? */
static bool give(const struct guard_job *job, struct guard_channel *c,
		 const struct guard_order *order, bool suspend)
{
	struct guard_result result = {
		.pid = job->target,
		.suspend = suspend,
		.nodes = order->nodes,
		.held = suspend ? order->nodes : 0,
		.reason = order->reason,
		.arrival_ns = order->arrival_ns,
		.start_ns = shr_now_ns(),
		.slots_ns = 5000,
		.requested = 2,
		.done = 2,
	};

	result.end_ns = result.start_ns + 10000;
	if (suspend && (fake_worker == WORKER_CANNOT || fake_worker == WORKER_HANGS)) {
		result.code = -EIO;
		result.error = (struct gpreempt_error){
			.code = -EIO,
			.pid = job->target,
			.reason = fake_worker == WORKER_HANGS ? GPREEMPT_HANG : GPREEMPT_SYSTEM,
			.step = "suspending",
		};
	}
	guard_channel_give(c, &result);
	return !result.code;
}

static void obey(const struct guard_job *job, struct guard_channel *c)
{
	struct pollfd fd = { .fd = job->wake, .events = POLLIN };
	struct guard_order order;
	uint64_t have = 0, count;

	while (!atomic_load(&c->quit)) {
		atomic_store(&c->beat_ns, shr_now_ns());
		if (poll(&fd, 1, 20) <= 0 || read(job->wake, &count, sizeof(count)) < 0)
			continue;
		if (!guard_channel_get_order(c, &order))
			continue;
		if (order.nodes != have && give(job, c, &order, order.nodes & ~have))
			have = order.nodes;
	}
}

/* In place of worker.c's, whose process this is. */
void guard_work(const struct guard_job *job, struct guard_channel *c)
{
	if (fake_worker == WORKER_FAILS) {
		c->error = (struct gpreempt_error){
			.code = -EPERM,
			.reason = GPREEMPT_SYSTEM,
			.pid = job->target,
			.step = "attaching to it",
		};
		atomic_store(&c->state, GUARD_ENDED);
		return;
	}
	atomic_store(&c->state, GUARD_READY);
	if (fake_worker == WORKER_STOPS)
		raise(SIGSTOP);
	while (fake_worker == WORKER_SILENT)
		pause();
	obey(job, c);
	atomic_store(&c->state, GUARD_ENDED);
}

static void set_tenant(struct guard_tenant *t)
{
	ck_assert_int_eq(gpreempt_policy_set(guard.policy, t->number, &t->wish), 0);
}

void guard_set_tenants(void)
{
	const struct gpreempt_policy_tenant servers = {
		.size = sizeof(servers),
		.role = GPREEMPT_ROLE_ONLINE,
	};
	size_t online, i;

	ck_assert_int_eq(gpreempt_policy_set(guard.policy, GUARD_SERVERS, &servers), 0);
	for (online = 0; online < 2; online++)
		for (i = 0; i < guard.config.n[online]; i++)
			set_tenant(&guard.config.tenant[online][i]);
}

/* Add a word; offline ones from 0 on. None is owed a share: it would be resumed after a second. */
static void name(const char *word, bool online)
{
	const struct gpreempt_policy_tenant wish = {
		.size = sizeof(wish),
		.role = online ? GPREEMPT_ROLE_ONLINE : GPREEMPT_ROLE_OFFLINE,
	};
	size_t i = guard.config.n[online];

	ck_assert_int_eq(guard_config_add(&guard.config, word, &wish), 0);
	guard.config.tenant[online][i].number = GUARD_SERVERS + 1 + online * GUARD_WORDS + i;
	set_tenant(&guard.config.tenant[online][i]);
}

void guard_setup(void)
{
	struct gpreempt_policy_options options = {
		.size = sizeof(options),
		.linger_ns = 2 * NSEC_PER_MSEC,
		.slice_ns = 50 * NSEC_PER_MSEC,
		.period_ns = NSEC_PER_SEC,
		.window_ns = NSEC_PER_SEC,
	};

	gp_loop_init(&loop, PID);
	ops = gp_backend_loop;
	ops.read_file = read_file;
	ops.list_dir = list_dir;
	ck_assert_int_eq(gp_new_backend(NULL, &ops, &loop, &g), 0);
	ck_assert_int_eq(hold_dir_prepare(), 0);
	list_processes();
	pthread_mutex_init(&guard.lock, NULL);
	guard.options = &args;
	guard.g = g;
	guard.figures.start_ns = shr_now_ns();
	guard_targets_start(&guard);
	ck_assert_int_eq(guard_wake_open(&guard.wakes), 0);
	guard.common = guard_channel_map(sizeof(*guard.common));
	ck_assert_ptr_nonnull(guard.common);
	atomic_store(&guard.common->beat_ns, shr_now_ns());
	guard.common->late_ns = 3600 * NSEC_PER_SEC;
	ck_assert_int_eq(gpreempt_policy_new(&options, shr_now_ns(), &guard.policy), 0);
	guard_set_tenants();
	snprintf(out_path, sizeof(out_path), "/tmp/gpreempt-guard.%d", getpid());
	ck_assert_ptr_nonnull(freopen(out_path, "w", stdout));
}

void guard_teardown(void)
{
	int i;

	guard.ending = true;
	guard_targets_drop(&guard);
	ck_assert_uint_eq(guard.n_online + guard.n_offline, 0);
	for (i = 0; i < GUARD_WAKES; i++)
		close(guard.wakes.fd[i]);
	munmap(guard.common, sizeof(*guard.common));
	free(guard.figures.sample);
	gpreempt_policy_free(guard.policy);
	guard_config_free(&guard.config);
	gpreempt_free(g);
	gp_loop_end(&loop);
	if (args.json)
		expect_schema("guard", output());
	unlink(out_path);
}

const char *output(void)
{
	static char text[65536];
	FILE *f = fopen(out_path, "r");

	fflush(stdout);
	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

size_t printed(const char *what)
{
	return unit_count(output(), what);
}

void forget_printed(void)
{
	ck_assert_ptr_nonnull(freopen(out_path, "w", stdout));
}

void look(unsigned int times)
{
	while (times--) {
		guard_targets_look(&guard);
		guard_take_results(&guard);
		shr_sleep_ns(2 * NSEC_PER_MSEC);
	}
}

void look_until_times(const char *what, size_t times)
{
	uint64_t end = shr_now_ns() + UNIT_LIMIT_NS;

	do {
		ck_assert_msg(shr_now_ns() < end,
			      "guard did not print \"%s\" "
			      "but: %s",
			      what, output());
		look(1);
	} while (printed(what) < times);
}

void look_until(const char *what)
{
	look_until_times(what, 1);
}

struct gpreempt_policy_entity *entity_of(size_t i)
{
	return &guard.policy->entity[guard.offline[i].entity];
}

void name_online(const char *word)
{
	name(word, true);
}

void name_offline(const char *word)
{
	name(word, false);
}

void add_serve_and_train(void)
{
	world_add(100, "serve", "/a");
	world_queues(100, QUEUES "0 0xf7bc compute-aql 0x1000 0x2000 0x3000 "
				 "4096\n1 0xf7bc sdma 0x1000 0x2000 0x3000 4096\n");
	world_add(200, "train", "/b");
	world_queues(200, QUEUES "0 0xf7bc compute-aql 0x10 0x18 0x1000 4096\n"
				 "1 0x1234 compute-aql 0x10 0x18 0x1000 4096\n");
}

void take_train(void)
{
	name_offline("comm:train");
	add_serve_and_train();
	look_until("process 200 is offline");
}
