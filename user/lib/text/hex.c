// SPDX-License-Identifier: LGPL-2.1-or-later
/* A line of a dump: "    00000020: 00000000 00000001 ...", up to 8 words. */
#include "lib/text/parse.h"

#define DIGIT	  0x10 /* it is one */
#define WORDS_MAX 8
#define D(value)  (DIGIT | (value))

static const uint8_t
	digits[256] = {
		['0'] = D(0), D(1),  D(2),  D(3),  D(4),	  D(5),
		D(6),	      D(7),  D(8),  D(9),  ['a'] = D(10), D(11),
		D(12),	      D(13), D(14), D(15), ['A'] = D(10), D(11),
		D(12),	      D(13), D(14), D(15),
	};

/* Eight digits; *good loses DIGIT if one is none. */
static inline uint32_t word(const unsigned char *p, unsigned int *good)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 8; i++) {
		*good &= digits[p[i]];
		sum = (sum << 4) + digits[p[i]];
	}
	/* Less what DIGIT added at each place. */
	return sum - 0x111111110;
}

size_t gp_text_hex(struct gp_text *text, struct gp_line line, uint64_t *offset)
{
	uint32_t *out = text->words.items + text->words.count;
	const unsigned char *p = (const unsigned char *)line.at;
	const unsigned char *end = p + line.len;
	unsigned int good = DIGIT;
	size_t n;

	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (end - p < 18 || p[8] != ':' || (end - p - 9) % 9 ||
	    end - p > 9 + 9 * WORDS_MAX)
		return 0;
	*offset = word(p, &good);
	for (n = 0, p += 9; p < end; p += 9) {
		good &= *p == ' ' ? DIGIT : 0;
		out[n++] = word(p + 1, &good);
	}
	return good ? n : 0;
}
