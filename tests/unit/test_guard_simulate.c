// SPDX-License-Identifier: GPL-2.0-only
/* guard --simulate: what tenants get of the GPU by its own count, against their weights. */
#include <math.h>

#include "unit-command.h"

#define WORLD                              \
	"policy fair slots=1 slice=50ms\n" \
	"tenant comm:a weight=100\n"       \
	"tenant comm:b weight=200\n"       \
	"tenant comm:c weight=500\n"       \
	"run time=60s switch=470us\n"

static double number_behind(const char *text)
{
	const char *at = strstr(ctl_out, text);

	ck_assert_msg(at, "no \"%s\" in: %s", text, ctl_out);
	return strtod(at + strlen(text), NULL);
}

/* Seconds on the GPU. */
static double of(char tenant)
{
	return number_behind(unit_text("tenant comm:%c offline gpu_s ", tenant));
}

static const struct {
	const char *more;
	double error, switching; /* points; percent of the time */
} worlds[] = {
	{ "", 0.5, 2 },
	{ "tenant comm:on online\nload comm:on work=20ms gap=80ms\n", 0.5, 8 },
	{ "load comm:a processes=5\n", 1, 2 },
	{ "load comm:a processes=64\n", 1, 2 },
	{ "load comm:a processes=5\nload comm:b processes=3 life=30ms\n", 1, 6 },
};

/* A tenant that forks gets no more, nor does one that replaces its processes all the time. */
TEST_EACH(weights, ARRAY_SIZE(worlds))
{
	static const double want[] = { 12.5, 25, 62.5 };
	double all, switching, share;
	int i;

	make_text("world", unit_text(WORLD "%s", worlds[_i].more));
	CTL(0, "guard --simulate world");
	all = of('a') + of('b') + of('c');
	switching = number_behind("switches took ");
	printf("%.2f %.2f %.2f %%, switching %.2f %% (made up, no GPU): %s\n", 100 * of('a') / all,
	       100 * of('b') / all, 100 * of('c') / all, switching, worlds[_i].more);
	for (i = 0; i < 3; i++) {
		share = 100 * of('a' + i) / all;
		ck_assert_double_le(fabs(share - want[i]), worlds[_i].error);
	}
	ck_assert_double_le(switching, worlds[_i].switching);
	/* The GPU has nothing else to do. */
	ck_assert(strstr(worlds[_i].more, "online") ||
		  fabs(all - 60 * (1 - switching / 100)) < 0.05);
}

/* Two that run at once have half of the GPU each: work of 10 ms takes 20 ms. */
TEST(work)
{
	make_text("world", "tenant comm:a\ntenant comm:b\nload comm:a work=10ms gap=10ms\n");
	CTL(0, "guard --simulate world");
	ck_assert_double_le(fabs(of('a') - 20), 0.02);
	ck_assert_double_le(fabs(of('b') - 40), 0.02);
	/* Both were there for the minute. */
	OUT_HAS(" of 120.000\n");
}

TEST(json)
{
	make_text("world", WORLD "run time=1s\n");
	CTL(0, "guard --simulate world --json");
	OUT_HAS("\"event\":\"simulated\"");
	OUT_HAS("\"simulated\":true");
	/* Once a period of 1 s, at its end. */
	OUT_HAS("{\"event\":\"tenants\",\"t_us\":1000000.000,");
}

/* The command of --policy decides. */
TEST(policy)
{
	make_text("world", WORLD);
	make_text("a-first",
		  "while read -r q; do n=$((n + 1)); "
		  "echo \"{\\\"question\\\":$n,\\\"order\\\":[\\\"comm:a\\\"]}\"; done\n");
	CTL(0, "guard --simulate world --policy 'exec sh a-first'");
	ck_assert_double_ge(of('a'), 59);
}

TEST(policy_ends)
{
	make_text("world", WORLD);
	CTL(0, "guard --simulate world --policy false");
	OUT_HAS("the command of --policy has ended");
	ck_assert_double_le(of('a'), 8);
}

TEST(too_many)
{
	make_text("world", "tenant comm:a\ntenant comm:b\nload comm:a processes=1024\n");
	CTL(GPREEMPT_CLASS_USAGE, "guard --simulate world");
	ERR_HAS("more than 1024 processes");
}

TEST_FIXTURE(command_setup, command_teardown)

int main(void)
{
	return unit_run();
}
