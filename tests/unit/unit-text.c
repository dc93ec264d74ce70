// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>

#include "unit-text.h"

struct gp_text *text;
const struct gp_text_data *data;

char made[1 << 20];
size_t made_len;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	made_len += vsnprintf(made + made_len, sizeof(made) - made_len, format, args);
	va_end(args);
	/* Not ck_assert(): it writes to a file each time. */
	if (made_len >= sizeof(made))
		ck_abort_msg("more than %zu bytes of text", sizeof(made));
}

void say_words(unsigned int offset, const uint32_t *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (i % 8 == 0)
			say("%s    %08zx:", i ? "\n" : "", offset + 4 * i);
		say(" %08x", words[i]);
	}
	say("\n");
}

/* The registers that the join needs, at their places. */
static void set_regs(uint32_t *regs, uint64_t mqd, uint64_t ring, bool active)
{
	regs[0] = (uint32_t)mqd;
	regs[1] = mqd >> 32;
	regs[2] = active;
	regs[8] = (uint32_t)(ring >> 8);
	regs[9] = ring >> 40;
}

void say_ring_mqd(uint64_t address, uint64_t ring)
{
	uint32_t words[MQD_WORDS] = { 0xc0310800 };

	set_regs(words + 128, address, ring, false);
	say_words(0, words, MQD_WORDS);
}

void say_ring_slot(int xcc, int pipe, int queue, uint64_t mqd, uint64_t ring)
{
	uint32_t regs[SLOT_WORDS] = { 0 };

	say(" Inst %d,  CP Pipe %d, Queue %d\n", xcc, pipe, queue);
	set_regs(regs, mqd, ring, true);
	say_words(0xc914, regs, SLOT_WORDS);
}

static void set_sdma(uint32_t *words, uint64_t ring)
{
	words[0] = 1;
	words[1] = (uint32_t)(ring >> 8);
	words[2] = ring >> 40;
}

void say_sdma_mqd(int engine, int rlc, uint64_t ring)
{
	uint32_t words[SDMA_MQD_WORDS] = { 0 };

	set_sdma(words, ring);
	words[126] = engine;
	words[127] = rlc;
	say_words(0, words, SDMA_MQD_WORDS);
}

void say_rlc(int engine, int rlc, uint64_t ring)
{
	uint32_t words[SDMA_SLOT_WORDS] = { 0 };

	say("  SDMA Engine %d, RLC %d\n", engine, rlc);
	if (ring)
		set_sdma(words, ring);
	say_words(0x80, words, SDMA_SLOT_WORDS);
}

void say_mqd(uint64_t address, size_t count)
{
	uint32_t words[MQD_WORDS] = { 0xc0310800 };

	set_regs(words + 128, address, 0, false);
	say_words(0, words, count);
}

void say_slot(int xcc, int pipe, int queue, uint64_t mqd, bool active)
{
	uint32_t regs[SLOT_WORDS] = { 0 };

	say(" Inst %d,  CP Pipe %d, Queue %d\n", xcc, pipe, queue);
	set_regs(regs, mqd, 0, active);
	say_words(0xc914, regs, SLOT_WORDS);
}

struct gp_text_check sum, *by_xcc;
size_t n_xccs;

void check(int64_t pid)
{
	free(by_xcc);
	gp_text_check(text, pid, &sum, &by_xcc, &n_xccs);
}

void text_setup(void)
{
	made_len = 0;
	text = gp_text_new();
}

void text_teardown(void)
{
	free(by_xcc);
	by_xcc = NULL;
	gp_text_free(text);
	text = NULL;
}

void feed(const char *at, size_t len)
{
	/* A copy of its own, so that a read behind its end is caught. */
	char *copy = malloc(len ? len : 1);

	memcpy(copy, at, len);
	gp_text_feed(text, copy, len);
	free(copy);
}

void end_file(void)
{
	gp_text_end(text);
	made_len = 0;
}

void join(void)
{
	gp_text_join(text);
	data = gp_text_get(text);
}

void read_made(void)
{
	feed(made, made_len);
	end_file();
	join();
}

void read_good(void)
{
	read_made();
	ck_assert_uint_eq(data->n_problems, 0);
}

void read_string(const char *string)
{
	say("%s", string);
	read_made();
}

bool feed_file(const char *path)
{
	size_t len;
	char *all = path ? unit_load(path, &len) : NULL;

	if (!all)
		return false;
	feed(all, len);
	free(all);
	end_file();
	return true;
}

void expect_problem(size_t nth, uint64_t line, const char *what)
{
	ck_assert_uint_gt(data->kept, nth);
	ck_assert_str_eq(data->problems[nth].what, what);
	ck_assert_uint_eq(data->problems[nth].line, line);
}
