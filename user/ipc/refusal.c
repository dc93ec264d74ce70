// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ipc/codec.h"
#include "ipc/refusal.h"

struct refusal {
	int code;
};

static const char *const verbs[] = { "refused" };

static const struct ipc_field fields[] = {
	{ .name = "code",
	  .kind = IPC_INT,
	  .offset = offsetof(struct refusal, code) },
	{ 0 },
};

static const struct ipc_format format = {
	.head = "gpreempt-ipc 1",
	.verbs = verbs,
	.n_verbs = 1,
	.fields = fields,
};

size_t gp_ipc_refusal_put(int code, char buf[IPC_REFUSAL_SIZE])
{
	struct refusal refusal = { .code = code };

	return gp_ipc_put(&format, 0, &refusal, buf, IPC_REFUSAL_SIZE);
}

int gp_ipc_refusal_code(const char *buf, size_t len)
{
	struct refusal refusal = { 0 };
	unsigned int verb;

	if (gp_ipc_get(&format, buf, len, &verb, &refusal) || refusal.code > 0)
		return 0;
	return refusal.code;
}
