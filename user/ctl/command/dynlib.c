// SPDX-License-Identifier: GPL-2.0-only
#include <dlfcn.h>

#include "ctl/command/ctl.h"
#include "ctl/command/dynlib.h"

static int fail(const char *soname, const char *package, const char *why)
{
	char next[128];

	snprintf(next, sizeof(next), "install %s (Debian and Ubuntu: %s)", soname, package);
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, next, "the command needs a library: %s",
			     why);
}

int dynlib_load(const char *soname, const char *package, const struct dynlib_call *calls,
		void *table)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return fail(soname, package, dlerror());
	for (; calls->name; calls++) {
		void *address = dlsym(library, calls->name);

		if (!address)
			return fail(soname, package, dlerror());
		*(void **)((char *)table + calls->offset) = address;
	}
	return 0;
}
