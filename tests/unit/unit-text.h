/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the tests of the driver's text share: making one, and reading it. */
#ifndef UNIT_TEXT_H
#define UNIT_TEXT_H

#include "lab/text.h"
#include "unit.h"

#define FIXTURES	"tests/unit/fixtures/linux-6.12.117/"
#define MQD_WORDS	512
#define SLOT_WORDS	56
#define SDMA_MQD_WORDS	128
#define SDMA_SLOT_WORDS 86

extern struct gp_text *text;
extern const struct gp_text_data *data;

/* The text that is being made. */
extern char made[1 << 20];
extern size_t made_len;

void text_setup(void);
void text_teardown(void);

/* More of it. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
/* A dump, from an offset on. */
void say_words(unsigned int offset, const uint32_t *words, size_t count);
/* The first words of a compute queue's MQD at an address. */
void say_mqd(uint64_t address, size_t count);
/* A CP slot that has that MQD. */
void say_slot(int xcc, int pipe, int queue, uint64_t mqd, bool active);

/* An MQD and an active slot with a ring, as each process has its own. */
void say_ring_mqd(uint64_t address, uint64_t ring);
void say_ring_slot(int xcc, int pipe, int queue, uint64_t mqd, uint64_t ring);
/* Print an SDMA queue or slot; a slot without a ring is not active. */
void say_sdma_mqd(int engine, int rlc, uint64_t ring);
void say_rlc(int engine, int rlc, uint64_t ring);

/* Give some of a file to the parser; its end; then the join. */
void feed(const char *at, size_t len);
void end_file(void);
void join(void);
/* All three with what was made, or with a string. */
void read_made(void);
void read_string(const char *string);
/* With what was made, in which there is no problem. */
void read_good(void);

/* A file; false: it is not there. */
bool feed_file(const char *path);

/* Do queues and slots of a process, or of all, add up? Into these. */
void check(int64_t pid);
extern struct gp_text_check sum, *by_xcc;
extern size_t n_xccs;

void expect_problem(size_t nth, uint64_t line, const char *what);

#endif
