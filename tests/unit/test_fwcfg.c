// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest of the tests reads its job from QEMU's fw_cfg device, whose directory becomes that of
 * another run when the guest is saved and restored (QEMU's docs/specs/fw_cfg.rst).
 */
#include <endian.h>
#include <sys/io.h>

#include "unit.h"

static void made_insb(unsigned short port, void *to, size_t n);
static void made_outw(unsigned short value, unsigned short port);

#define insb		made_insb
#define outw		made_outw
#define ioperm(a, n, o) 0
#include "vm/init/fwcfg.c"

#define ITEM(name) "opt/gpreempt/" name
#define JOB	   "run\ntrue"
#define ITEMS	   3
#define BYTES	   1000 /* more than are read */

/* Items of two runs, in the order of the directory. */
struct run {
	unsigned int items;
	struct {
		const char *name, *text;
	} item[ITEMS];
};

static const struct run runs[][2] = {
	{ { 2, { { "etc/acpi", "tables" }, { "rom", "a ROM" } } },
	  { 3, { { "etc/acpi", "tables" }, { ITEM("job"), JOB }, { "rom", "a ROM" } } } },
	{ { 3, { { "etc/acpi", "tables" }, { ITEM("prepare"), "gpreempt\n" }, { "rom", "" } } },
	  { 3, { { "etc/acpi", "tables" }, { ITEM("job"), JOB }, { "rom", "" } } } },
};

static const struct run *pair;
static size_t taken, restored_at, at;
static unsigned short selected;

static void made_outw(unsigned short value, unsigned short port)
{
	ck_assert_uint_eq(port, SELECTOR);
	selected = value;
	at = 0;
}

/* Fill the directory of a run, as the device has it. Returns its bytes. */
static size_t fill(const struct run *run, char *bytes)
{
	uint32_t n = htobe32(run->items);
	struct entry e;
	unsigned int i;

	memcpy(bytes, &n, sizeof(n));
	for (i = 0; i < run->items; i++) {
		e = (struct entry){ .size = htobe32(strlen(run->item[i].text)),
				    .key = htobe16(0x20 + i) };
		snprintf(e.name, sizeof(e.name), "%s", run->item[i].name);
		memcpy(bytes + sizeof(n) + i * sizeof(e), &e, sizeof(e));
	}
	return sizeof(n) + run->items * sizeof(e);
}

static char next_byte(void)
{
	const struct run *run = &pair[taken++ >= restored_at];
	char bytes[sizeof(uint32_t) + ITEMS * sizeof(struct entry)];
	const char *from = bytes;
	size_t n;

	if (selected == DIRECTORY) {
		n = fill(run, bytes);
	} else {
		from = selected == SIGNATURE ? "QEMU" : run->item[selected - 0x20].text;
		n = strlen(from);
	}
	return at < n ? from[at++] : '\0';
}

static void made_insb(unsigned short port, void *to, size_t n)
{
	char *p = to;

	ck_assert_uint_eq(port, DATA);
	while (n--)
		*p++ = next_byte();
}

/* The guest is restored at each byte that it reads: the job is there as a whole, or not yet. */
TEST_EACH(saved_anywhere, ARRAY_SIZE(runs))
{
	char *text;
	int ret;

	pair = runs[_i];
	for (restored_at = 0; restored_at < BYTES; restored_at++) {
		taken = 0;
		ret = fwcfg_read(ITEM("job"), &text);
		if (restored_at && ret == -ENOENT)
			continue;
		ck_assert_int_eq(ret, 0);
		ck_assert_msg(!strcmp(text, JOB), "restored at %zu: %s", restored_at, text);
		free(text);
	}
}

TEST_FIXTURE(NULL, NULL)

int main(void)
{
	return unit_run();
}
