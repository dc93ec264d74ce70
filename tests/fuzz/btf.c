// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's parser of BTF, kmod/btf.c, outside of the kernel: linux/ beside
 * this file has what it needs of the kernel's headers.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "../../kmod/btf.c"

static void look_up(const struct gp_btf *btf)
{
	static const char *const types[] = { "kfd_process", "queue", "list", "" };
	static const char *const fields[] = { "mutex", "q", "next", "" };
	struct gp_btf_field field;
	u32 i, j, value;
	char text[32];

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		gp_btf_size(btf, types[i]);
		for (j = 0; j < ARRAY_SIZE(fields); j++) {
			if (!gp_btf_field(btf, types[i], fields[j], &field))
				gp_btf_describe(btf, field.type, text, sizeof(text));
			gp_btf_enum(btf, types[i], fields[j], &value);
		}
	}
	/* Types by themselves, the first ones of both blobs and none. */
	for (i = 0; i < 64; i++)
		gp_btf_describe(btf, i, text, 1 + i % sizeof(text));
}

bool fuzz_one(const struct fuzz_input *in)
{
	struct gp_btf base, split;
	/* Its end is guarded; as a whole and as one that builds upon it. */
	void *data = malloc(in->len ? in->len : 1);
	bool taken;

	memcpy(data, in->data, in->len);
	taken = !gp_btf_parse(&base, data, in->len, NULL);
	if (taken) {
		look_up(&base);
		if (!gp_btf_parse(&split, data, in->len, &base)) {
			look_up(&split);
			gp_btf_release(&split);
		}
		gp_btf_release(&base);
	}
	free(data);
	return taken;
}
