// SPDX-License-Identifier: GPL-2.0-only
/* load and unload, with a made-up libkmod; libraries that are loaded late. */
#include <syslog.h>

#include "cli/program.h"
#include "ctl/module-kmod.h"
#include "unit-ctl.h"

/* Answers of libkmod, and the calls to it. */
static int insert, refs;
/* Stands for all objects; libkmod's are not known to its users. */
static int thing;

static struct kmod_ctx *make(const char *dir, const char *const *config)
{
	ck_assert_ptr_null(dir);
	ck_assert_ptr_null(config);
	return (void *)&thing;
}

static struct kmod_ctx *put_ctx(struct kmod_ctx *ctx)
{
	ck_assert_ptr_eq(ctx, &thing);
	return NULL;
}

static void set_log(struct kmod_ctx *ctx, int priority)
{
	ck_assert_ptr_eq(ctx, &thing);
	ck_assert_int_eq(priority, LOG_EMERG);
}

static int find(struct kmod_ctx *ctx, const char *name, struct kmod_list **list)
{
	ck_assert_ptr_eq(ctx, &thing);
	ck_assert_str_eq(name, "gpreempt");
	*list = (void *)&thing;
	return 0;
}

static struct kmod_module *of_list(const struct kmod_list *list)
{
	ck_assert_ptr_eq(list, &thing);
	refs++;
	return (void *)&thing;
}

static int probe(struct kmod_module *mod, unsigned int flags, const char *options,
		 int (*run)(struct kmod_module *, const char *, void *), const void *data,
		 void (*print)(struct kmod_module *, bool, const char *))
{
	ck_assert_ptr_eq(mod, &thing);
	ck_assert_uint_eq(flags, KMOD_PROBE_FAIL_ON_LOADED);
	ck_assert(!options && !run && !data && !print);
	return insert;
}

static struct kmod_module *put_module(struct kmod_module *mod)
{
	ck_assert_ptr_eq(mod, &thing);
	refs--;
	return NULL;
}

static int put_list(struct kmod_list *list)
{
	ck_assert_ptr_eq(list, &thing);
	return 0;
}

static void setup(void)
{
	unit_setup();
	insert = refs = 0;
	kmod = (struct kmod_calls){
		.new = make,
		.unref = put_ctx,
		.set_log_priority = set_log,
		.module_new_from_lookup = find,
		.module_get_module = of_list,
		.module_probe_insert_module = probe,
		.module_unref = put_module,
		.module_unref_list = put_list,
	};
}

static const struct {
	int insert;
	int status;
	const char *says;
	const char *next;
} failures[] = {
	{ -ENODEV, GPREEMPT_CLASS_UNSUPPORTED, "cannot be loaded: ", "next: modprobe amdgpu" },
	{ -EPERM, GPREEMPT_CLASS_PERMISSION, "modules that are signed", "Secure Boot" },
	{ -EKEYREJECTED, GPREEMPT_CLASS_PERMISSION, "signed", "sign it" },
	{ -ENOKEY, GPREEMPT_CLASS_PERMISSION, "signed", "sign it" },
	{ -ENOEXEC, GPREEMPT_CLASS_UNSUPPORTED, "for another kernel", "next: make dkms-install" },
	{ -EIO, GPREEMPT_CLASS_FAILED, "Input/output error", "dmesg" },
};

TEST_EACH(load_fails, ARRAY_SIZE(failures))
{
	/* Its next step differs where amdgpu is loaded. */
	if (failures[_i].insert == -ENODEV && !access("/sys/module/amdgpu", F_OK))
		return;
	insert = failures[_i].insert;
	CTL(failures[_i].status, "module load");
	ERR_HAS(failures[_i].says);
	ERR_HAS(failures[_i].next);
	ck_assert_str_eq(ctl_out, "");
	ck_assert_int_eq(refs, 0);
}

/* A library that is not there, and one that lacks a function. */
TEST(late_library)
{
	static const struct dynlib_call good[] = { { "strlen", 0 }, { 0 } };
	static const struct dynlib_call bad[] = {
		{ "strlen", 0 },
		{ "no_such_function", 0 },
		{ 0 },
	};
	size_t (*length)(const char *text) = NULL;

	ck_assert_int_eq(dynlib_load("libc.so.6", "libc6", good, &length), 0);
	ck_assert_uint_eq(length("four"), 4);
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_int_eq(dynlib_load("libc.so.6", "libc6", bad, &length),
			 GPREEMPT_CLASS_UNSUPPORTED);
	ck_assert_int_eq(dynlib_load("libnot-there.so.1", "x", good, &length),
			 GPREEMPT_CLASS_UNSUPPORTED);
}

/*
 * The real one has all the functions that we use. As root it could unload a module of
 * this host: not where there is one.
 */
TEST_EACH(real_library, access("/sys/module/gpreempt", F_OK) != 0)
{
	memset(&kmod, 0, sizeof(kmod));
	ctl_line("module unload");
	ck_assert_msg(kmod.module_unref_list && kmod.new, "%s", ctl_err);
}

TEST_FIXTURE(setup, unit_teardown)
