// SPDX-License-Identifier: GPL-2.0-only
/* The pure parts of a trial, and its state file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "trial.h"

#define HEAD	  "gpreempt-trial - version: 1.0\n"
#define STATE_MAX 4096

static const struct trial_verdict claims[TRIAL_CLAIMS] = {
	[TRIAL_SUSPENDS] = { .claim = "A suspend takes all queues that were asked for.",
			     .how = "cycles of preempt, and those in which it did" },
	[TRIAL_OFF] = { .claim = "After a suspend the queues are off the GPU.",
			.how = "cycles with a look at slots and waves, and those with none" },
	[TRIAL_PAUSES] = { .claim = "A pause does the same.",
			   .how = "cycles of preempt --how pause" },
	[TRIAL_ONCE] = { .claim = "Each dispatch runs exactly once.",
			 .how = "dispatches that completed, and those that counted by one" },
	[TRIAL_REGISTERS] = { .claim = "A wave has its registers and its LDS after a preemption.",
			      .how = "waves of the witness, and those with all values right" },
	[TRIAL_SLOTS] = { .claim = "The view finds the queue in all of its slots.",
			  .how = "reads of the view while a known ring was busy" },
	[TRIAL_TEXT] = { .claim = "The view says the same as the driver's own text.",
			 .how = "registers of a known queue and its slots, and those with "
				"one value" },
	[TRIAL_WAVES] = { .claim = "The view counts the waves that are in flight.",
			  .how = "reads that counted any, and those with no more than the "
				 "load has" },
	[TRIAL_FOLLOWS] = { .claim = "follow takes the queues of a stopped job off the GPU.",
			    .how = "SIGSTOP and SIGCONT" },
	[TRIAL_OTHERS] = { .claim = "Another process on the GPU runs on while one is suspended.",
			   .how = "its dispatches, and those that counted by one" },
	[TRIAL_QUIET] = { .claim = "The driver reports no failure of the GPU.",
			  .how = "stages, and those with no failure in the kernel's log" },
	[TRIAL_CLEAN] = { .claim = "Nothing is left behind.",
			  .how = "stages, and those after which the GPU had the processes "
				 "of before" },
};

void trial_count(struct trial_gpu *gpu, enum trial_claim claim, int64_t tried, int64_t held)
{
	struct trial_verdict *v = &gpu->claims[claim];

	v->tried += tried > 0 ? tried : 0;
	v->held += held > 0 ? held : 0;
	v->verdict = !v->tried ? "not tried" : v->held == v->tried ? "holds" : "does not hold";
}

void trial_set_result(struct trial_line *line, enum trial_result code)
{
	static const char *const names[TRIAL_RESULTS] = {
		[TRIAL_LEFT_OUT] = "left out", [TRIAL_DONE] = "done",
		[TRIAL_FAILED] = "failed",     [TRIAL_INTERRUPTED] = "interrupted",
		[TRIAL_HUNG] = "hung before",  [TRIAL_LACKS] = "not possible here",
	};

	line->code = code;
	line->result = names[code];
}

void trial_begin(struct trial_gpu *gpu)
{
	size_t i;

	*gpu = (struct trial_gpu){ 0 };
	for (i = 0; i < TRIAL_STAGES; i++) {
		gpu->stages[i].stage = i;
		gpu->stages[i].name = trial_stages[i].name;
		gpu->stages[i].time = GPREEMPT_UNKNOWN;
		gpu->stages[i].runs = json_object_new_array();
		trial_set_result(&gpu->stages[i], TRIAL_LEFT_OUT);
	}
	memcpy(gpu->claims, claims, sizeof(claims));
	for (i = 0; i < TRIAL_CLAIMS; i++)
		trial_count(gpu, i, 0, 0);
}

int trial_parse_stages(const char *text, unsigned int *stages)
{
	for (*stages = 0;; text++) {
		unsigned int from = *text - '0', to = from;

		if (from < TRIAL_STAGES && text[1] == '-') {
			text += 2;
			to = *text - '0';
		}
		if (from >= TRIAL_STAGES || to >= TRIAL_STAGES || to < from)
			return -EINVAL;
		*stages |= (2U << to) - (1U << from);
		if (*++text != ',')
			return *text ? -EINVAL : 0;
	}
}

int trial_state_parse(const char *text, size_t len, unsigned int *open)
{
	const size_t head = strlen(HEAD);
	char list[64];

	*open = 0;
	if (len <= head || len - head > sizeof(list) || memcmp(text, HEAD, head) ||
	    text[len - 1] != '\n' || memchr(text, '\0', len))
		return -EPROTO;
	snprintf(list, sizeof(list), "%.*s", (int)(len - head - 1), text + head);
	return trial_parse_stages(list, open) ? -EPROTO : 0;
}

int trial_state_read(unsigned int *open)
{
	__cleanup_fd int fd =
		openat(AT_FDCWD, TRIAL_STATE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[STATE_MAX];
	ssize_t len;

	*open = 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	len = read(fd, text, sizeof(text));
	return len < 0 ? -errno : trial_state_parse(text, len, open);
}

int trial_state_write(unsigned int open)
{
	char text[STATE_MAX] = HEAD;
	size_t len = strlen(text);
	unsigned int stage;
	int ret = 0;

	for (stage = 0; stage < TRIAL_STAGES; stage++)
		if (open & 1U << stage)
			len += snprintf(text + len, sizeof(text) - len, "%u,", stage);
	text[len - 1] = '\n';
	if (open)
		ret = shr_file_replace(TRIAL_STATE, 0600, text, len);
	else if (unlink(TRIAL_STATE) && errno != ENOENT)
		ret = -errno;
	if (!ret && open)
		ret = shr_flush(TRIAL_STATE);
	return ret ? ret : shr_flush(TRIAL_DIR);
}

uint64_t trial_bandwidth(const char *gfx, uint64_t width, uint64_t mhz)
{
	/*
	 * HBM2 has 2 and GDDR6 has 16 (ac_memory_ops_per_clock() of Mesa, from AMD's PAL). HBM3
	 * has 4: AMD's data sheet of MI300X has 5.3 TB/s of 8,192 bits, and its clock is 1,300 MHz.
	 */
	static const struct {
		const char *gfx;
		unsigned int transfers;
	} kinds[] = {
		{ "gfx90a", 2 },   { "gfx942", 4 },   { "gfx950", 4 },
		{ "gfx1100", 16 }, { "gfx1201", 16 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(gfx, kinds[i].gfx))
			return width / 8 * mhz * 1000000 * kinds[i].transfers;
	return 0;
}
