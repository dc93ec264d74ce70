// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a container, as an engine gives it to the hook role --oci. A PID of an
 * input may be any process of this host, so it is run by a user that can give no role.
 */
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "fuzz.h"

#define NO_USER 65534

bool fuzz_one(const struct fuzz_input *in)
{
	if (!geteuid() &&
	    (setresgid(NO_USER, NO_USER, NO_USER) || setresuid(NO_USER, NO_USER, NO_USER)))
		abort();
	/* A container starts, whatever its state says. */
	if (fuzz_command("role --oci", in->data, in->len))
		abort();
	return true;
}
