// SPDX-License-Identifier: GPL-2.0-only
/* The command of guard --policy: real ones that answer, are late, hang, end, or write anything. */
#include "guard/guard.h"
#include "unit.h"

#define MS NSEC_PER_MSEC

/* A command that answers each question with that order; $n is the number of the question. */
#define ANSWER(order)                                                                 \
	"while read -r q; do echo \"$q\" >>facts; n=${q#*:}; n=${n%%,*}; " order "; " \
	"done"
#define B_FIRST "echo \"{\\\"question\\\":$n,\\\"order\\\":[\\\"comm:b\\\",\\\"comm:gone\\\"]}\""

static struct guard guard;
static struct guard_options args;
static char dir[32], *example;
static struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
static uint64_t now, wake;
static int entity[3]; /* entities of a, b, c, which has no work */

/* Tenants a and b want the one slot of a GPU. */
static void setup(void)
{
	static struct guard_config none;
	struct guard_config_error err;
	char policy[] = "policy fair slots=1 slice=50ms", line[32];
	int i;

	memset(&guard, 0, sizeof(guard));
	guard.options = &args;
	pthread_mutex_init(&guard.lock, NULL);
	example = realpath("tests/../docs/examples/policy.py", NULL);
	strcpy(dir, "/tmp/gpreempt-ask-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_ptr_nonnull(freopen("out", "w", stdout));
	guard.common = guard_channel_map(sizeof(*guard.common));
	guard.common->gpu_id[2] = 63420;
	ck_assert_int_eq(guard_wake_open(&guard.wakes), 0);
	guard_config_start(&guard.config);
	ck_assert_int_eq(guard_config_line(&guard.config, policy, &err), 0);
	for (i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "tenant comm:%c weight=%d", 'a' + i, 100 + 100 * i);
		ck_assert_int_eq(guard_config_line(&guard.config, line, &err), 0);
	}
	now = 1000 * NSEC_PER_SEC;
	ck_assert_int_eq(gpreempt_policy_new(&guard.config.figures, now, &guard.policy), 0);
	ck_assert_int_eq(guard_config_use(guard.policy, &none, &guard.config), 0);
	for (i = 0; i < 3; i++)
		entity[i] = gpreempt_policy_add(guard.policy, guard.config.tenant[0][i].number, 4);
	gp_policy_idle(guard.policy, entity[2], 4, now);
	ck_assert_uint_eq(gpreempt_policy_step(guard.policy, now, actions, &wake), 1);
	now += 10 * MS;
	ck_assert_uint_eq(gpreempt_policy_step(guard.policy, now, actions, &wake), 0);
}

static void teardown(void)
{
	guard_ask_stop(&guard);
	gpreempt_policy_free(guard.policy);
	guard_config_free(&guard.config);
	ck_assert_int_eq(system(unit_text("rm -rf %s", dir)), 0);
	free(example);
}

static void wake_command(void)
{
	pthread_mutex_lock(&guard.lock);
	guard_ask_wake(&guard);
	pthread_mutex_unlock(&guard.lock);
}

static void start(const char *command)
{
	args.policy = command;
	ck_assert_int_eq(guard_ask_start(&guard), 0);
	wake_command();
}

static bool is_ranked(void)
{
	bool ranked;

	pthread_mutex_lock(&guard.lock);
	ranked = guard.policy->ranked;
	pthread_mutex_unlock(&guard.lock);
	return ranked;
}

static size_t count_in(const char *file, const char *what)
{
	size_t len, n;
	char *text = unit_load(file, &len);

	n = text ? unit_count(text, what) : 0;
	free(text);
	return n;
}

static bool was_printed(const char *what)
{
	guard_ask_tell(&guard);
	fflush(stdout);
	return count_in("out", what);
}

/* The facts are those of the policy, and the order of an answer decides the next turn. */
TEST(answer)
{
	start(ANSWER(B_FIRST));
	UNIT_WAIT(is_ranked());
	ck_assert_str_eq(unit_file("facts"),
			 "{\"question\":1,\"now_us\":1000010000,\"slots\":1,\"nodes\":["
			 "{\"gpu_id\":63420,\"tenants\":["
			 "{\"tenant\":\"comm:a\",\"weight\":100,\"used_us\":10000,\"waited_us\":0,"
			 "\"runs\":true},"
			 "{\"tenant\":\"comm:b\",\"weight\":200,\"used_us\":0,\"waited_us\":10000,"
			 "\"runs\":false}]}]}\n");
	/* By the order of the figures it would be a's turn again after each slice of b. */
	for (; now < 1001 * NSEC_PER_SEC; now = wake)
		gpreempt_policy_step(guard.policy, now, actions, &wake);
	ck_assert(guard.policy->entity[entity[0]].held && !guard.policy->entity[entity[1]].held);
	gp_policy_rank(guard.policy, NULL);
	for (; !guard.policy->entity[entity[1]].held; now = wake)
		ck_assert(gpreempt_policy_step(guard.policy, now, actions, &wake) < 3 &&
			  now < 1002 * NSEC_PER_SEC);
}

/* The example of the documents has b, which has used least, go first. */
TEST(documented)
{
	start(unit_text("exec python3 %s", example));
	UNIT_WAIT(is_ranked());
	ck_assert_uint_eq(guard.policy->rank[guard.config.tenant[0][0].number], 1);
	ck_assert_uint_eq(guard.policy->rank[guard.config.tenant[0][1].number], 0);
}

/* An answer that is late does not count, and ends what the one before it was for. */
TEST(late)
{
	start(ANSWER("[ $n = 1 ] || { until [ -e go ]; do sleep 1; done; }; " B_FIRST));
	UNIT_WAIT(is_ranked());
	unit_set_limit(UNIT_ANSWER, MS);
	wake_command();
	UNIT_WAIT(!is_ranked() && was_printed("did not answer in time"));
	/* The command goes on, and the next one counts. */
	unit_set_limit(UNIT_ANSWER, UNIT_LIMIT_NS);
	fclose(fopen("go", "w"));
	UNIT_WAIT(count_in("facts", "\n") == 2);
	wake_command();
	UNIT_WAIT(is_ranked());
	ck_assert_uint_eq(count_in("facts", "\n"), 3);
	ck_assert(!was_printed("another one"));
}

#define LONG "head -c 5000 /dev/zero | tr '\\\\0' x"

static const struct {
	const char *command, *why;
} bad[] = {
	{ "exec sleep 1000", "did not answer in time" },
	{ "exec sleep 1000", "does not answer" },
	{ "trap '' TERM; while :; do :; done", "does not answer" },
	{ "exec >&-; exec sleep 1000", "does not answer" },
	{ "exec <&-; exec sleep 1000", "does not answer" },
	{ "exec <&- >&-; exec sleep 1000", "has ended" },
	{ "exit 1", "has ended" },
	{ "no-such-command", "has ended" },
	{ "yes | cat", "no order" },
	{ ANSWER("echo fair"), "no order" },
	{ ANSWER("echo []"), "no order" },
	{ ANSWER("echo \"{\\\"question\\\":$n}\""), "no order" },
	{ ANSWER("echo \"{\\\"question\\\":$n,\\\"order\\\":[1]}\""), "no order" },
	{ ANSWER("n=7; " B_FIRST), "no order" },
	{ ANSWER(B_FIRST " x"), "no order" },
	{ ANSWER("echo \"$(" B_FIRST "; " B_FIRST ")\""), "no order" },
	{ ANSWER("yes '[[[[[[[[[[[[[[[['"), "no order" },
	{ ANSWER(LONG), "no order" },
};

/* Whatever it does, no thread but its own waits for it, and the order of the figures decides. */
TEST_EACH(bad_command, ARRAY_SIZE(bad))
{
	bool limit = strstr(bad[_i].why, "answer");
	int i;

	if (limit)
		unit_set_limit(UNIT_ANSWER, MS);
	if (limit && strstr(bad[_i].why, "does not"))
		unit_set_limit(UNIT_MUTE, MS);
	start(bad[_i].command);
	UNIT_WAIT((wake_command(), was_printed(bad[_i].why)));
	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&guard.lock);
		now = wake;
		gpreempt_policy_step(guard.policy, now, actions, &wake);
		ck_assert(!guard.policy->ranked);
		guard_ask_wake(&guard);
		pthread_mutex_unlock(&guard.lock);
	}
}

/* Another one is started, as often as that fails; that is reported now and then. */
TEST(restart)
{
	start("echo . >>starts; exit 1");
	UNIT_WAIT((wake_command(), count_in("starts", ".") >= 3));
	ck_assert(was_printed("another one"));
	ck_assert_uint_eq(count_in("out", "another one"), 1);
}

static bool is_over(int pid)
{
	char text[512];

	return shr_read_start(text, sizeof(text), "/proc/%d/stat", pid) < 0 ||
	       *shr_stat_state(text) == 'Z';
}

/* The command has no capabilities, and is gone with guard, as its children are. */
TEST(end)
{
	int pid[2];

	start("sleep 1000 & grep CapEff /proc/self/status >caps; echo $$ $! >pids.new; "
	      "mv pids.new pids; cat >/dev/null");
	UNIT_WAIT(!access("pids", F_OK));
	ck_assert_int_eq(sscanf(unit_file("pids"), "%d %d", &pid[0], &pid[1]), 2);
	ck_assert_str_eq(unit_file("caps"), "CapEff:\t0000000000000000\n");
	ck_assert(!is_over(pid[0]) && !is_over(pid[1]));
	guard_ask_stop(&guard);
	UNIT_WAIT(is_over(pid[0]) && is_over(pid[1]));
}

TEST_FIXTURE(setup, teardown)

int main(void)
{
	return unit_run();
}
