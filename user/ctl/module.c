// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload gpreempt.ko, as modprobe does. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <syslog.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "klog.h"
#include "module-kmod.h"
#include "shared/util.h"

#define MODULE "gpreempt"

#define KMOD_SONAME    "libkmod.so.2"
#define KMOD_ROW(call) { "kmod_" #call, offsetof(struct kmod_calls, call) },

struct kmod_calls kmod;

static const struct dynlib_call kmod_rows[] = {
	KMOD_CALLS(KMOD_ROW) DYNLIB_END,
};

DYNLIB_NOTE(kmod_note, "module", "gpreempt-ctl module load and unload", KMOD_SONAME);

/* Tries to remove the module: a reader may have its files open just now. */
#define REMOVE_TRIES	20
#define REMOVE_RETRY_NS (50 * NSEC_PER_MSEC)

/* Read the kernel's last message about the module; "" if there is none. */
static void last_message(char *text, size_t size)
{
	__cleanup_fd int fd = klog_open();
	char record[2048], *at;

	*text = '\0';
	while (fd >= 0 && klog_record(fd, record, sizeof(record)) > 0) {
		at = strchr(record, ';');
		if (!at || strncmp(at + 1, MODULE ": ", strlen(MODULE ": ")))
			continue;
		snprintf(text, size, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	}
}

static int fail_insert(int code)
{
	char said[256];

	switch (code) {
	case -ENODEV:
		last_message(said, sizeof(said));
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     access("/sys/module/amdgpu", F_OK) ?
					     "modprobe amdgpu" :
					     "docs/module.md says which drivers it knows",
				     "gpreempt.ko cannot be loaded: %s",
				     *said ? said : strerror(-code));
	case -EPERM:
	case -EKEYREJECTED:
	case -ENOKEY:
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
				     "sign it, or switch Secure Boot off",
				     "the kernel takes only modules that are signed");
	case -ENOEXEC:
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, "make dkms-install",
				     "gpreempt.ko was built for another kernel");
	default:
		last_message(said, sizeof(said));
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "look at the last lines of dmesg",
				     "gpreempt.ko cannot be loaded: %s%s%s", strerror(-code),
				     *said ? "; " : "", said);
	}
}

static int insert(struct kmod_ctx *ctx)
{
	struct kmod_list *list = NULL;
	struct kmod_module *mod;
	int ret;

	ret = kmod.module_new_from_lookup(ctx, MODULE, &list);
	if (ret < 0 || !list)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "apt install gpreempt-dkms; of the source, make dkms-install",
				     "there is no gpreempt.ko for this kernel");
	mod = kmod.module_get_module(list);
	ret = kmod.module_probe_insert_module(mod, KMOD_PROBE_FAIL_ON_LOADED, NULL, NULL, NULL,
					      NULL);
	kmod.module_unref(mod);
	kmod.module_unref_list(list);
	if (ret == -EEXIST) {
		puts("gpreempt.ko is loaded already");
		return 0;
	}
	if (ret)
		return fail_insert(ret);
	puts("gpreempt.ko is loaded; amdgpu can't be unloaded before it "
	     "(gpreempt-ctl module unload)");
	return 0;
}

static int remove_module(struct kmod_ctx *ctx)
{
	struct kmod_module *mod;
	int ret, tries = REMOVE_TRIES;

	if (kmod.module_new_from_name(ctx, MODULE, &mod) < 0)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	if (kmod.module_get_initstate(mod) < 0) {
		kmod.module_unref(mod);
		puts("gpreempt.ko is not loaded");
		return 0;
	}
	while ((ret = kmod.module_remove_module(mod, 0)) && --tries &&
	       (ret == -EAGAIN || ret == -EBUSY))
		shr_sleep_ns(REMOVE_RETRY_NS);
	if (ret == -EAGAIN || ret == -EBUSY)
		ret = ctl_fail_text(GPREEMPT_CLASS_BUSY,
				    "end who reads it: fuser -v /sys/kernel/debug/gpreempt/*",
				    "gpreempt.ko is in use (%d times)",
				    kmod.module_get_refcnt(mod));
	else if (ret)
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, "look at the last lines of dmesg",
				    "gpreempt.ko cannot be unloaded: %s", strerror(-ret));
	else
		puts("gpreempt.ko is unloaded");
	kmod.module_unref(mod);
	return ret;
}

static int with_kmod(int (*run)(struct kmod_ctx *ctx))
{
	struct kmod_ctx *ctx;
	int ret;

	ret = ctl_need_root("load and unload modules");
	if (!ret && !kmod.new)
		ret = dynlib_load(KMOD_SONAME, "libkmod2", kmod_rows, &kmod);
	if (ret)
		return ret;
	ctx = kmod.new(NULL, NULL);
	if (!ctx)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	/* libkmod's messages are for its own users. */
	kmod.set_log_priority(ctx, LOG_EMERG);
	ret = run(ctx);
	kmod.unref(ctx);
	return ret;
}

static int run_load(void *args)
{
	(void)args;
	return with_kmod(insert);
}

static int run_unload(void *args)
{
	(void)args;
	return with_kmod(remove_module);
}

const struct ctl_command ctl_module_load = {
	.name = "module load",
	.run = run_load,
	.summary = "Load gpreempt.ko, which shows states and slots.",
	.details = "As modprobe does: it loads amdgpu first if that is missing, and follows\n"
		   "/etc/modprobe.d. It is no error if the module is loaded already. It keeps\n"
		   "amdgpu in use, although lsmod names no user: unload gpreempt.ko first.\n",
};

const struct ctl_command ctl_module_unload = {
	.name = "module unload",
	.run = run_unload,
	.summary = "Unload gpreempt.ko.",
	.details = "Held processes stay held: suspending and resuming do not need the module.\n"
		   "It is refused, with status 7, while a process reads the module's files.\n",
};
