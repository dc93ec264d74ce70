// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities that a process keeps. Each test is a process of its own. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hold/escape.h"
#include "unit-ctl.h"
#include "unit-holder.h"

static uint64_t status_in(const char *path, const char *key)
{
	const char *at = strstr(unit_file(path), key);

	ck_assert_ptr_nonnull(at);
	return strtoull(at + strlen(key), NULL, 16);
}

/* A value of this thread in its status file. */
static uint64_t status_of(const char *key)
{
	return status_in("/proc/thread-self/status", key);
}

static uint64_t effective(void)
{
	return status_of("\nCapEff:\t");
}

static uint64_t bounding(void)
{
	return status_of("\nCapBnd:\t");
}

static void get(struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};

	ck_assert_int_eq(syscall(SYS_capget, &head, data), 0);
}

/* Set capabilities without the code under test. */
static void set(const struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};

	ck_assert_int_eq(syscall(SYS_capset, &head, data), 0);
}

static void *look_in_thread(void *arg)
{
	*(uint64_t *)arg = effective();
	return NULL;
}

/* Keep as many as there were: the tests may run without any. */
TEST(others_go)
{
	uint64_t had = effective(), could = bounding(), in_thread = 0;
	bool may_lower = had & CAPABILITY(SETPCAP);
	pthread_t thread;

	ck_assert_int_eq(capabilities_keep(CAPABILITIES_HOLDER), 0);
	ck_assert_uint_eq(effective(), had & CAPABILITIES_HOLDER);
	ck_assert_uint_eq(status_of("\nCapPrm:\t"), had & CAPABILITIES_HOLDER);
	ck_assert_uint_eq(status_of("\nCapInh:\t"), 0);
	ck_assert_uint_eq(status_of("\nCapAmb:\t"), 0);
	ck_assert_uint_eq(bounding(), may_lower ? could & CAPABILITIES_HOLDER : could);
	ck_assert_uint_eq(status_of("\nNoNewPrivs:\t"), 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, look_in_thread, &in_thread), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(in_thread, had & CAPABILITIES_HOLDER);
}

/* An inheritable capability would come back with execve() of a file that has it. */
TEST(inheritable)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	get(data);
	data[0].inheritable = data[0].permitted;
	data[1].inheritable = data[1].permitted;
	set(data);
	if (data[0].permitted & CAPABILITY(CHOWN))
		ck_assert_int_eq(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0), 0);
	ck_assert_int_eq(capabilities_keep(CAPABILITIES_HOLDER), 0);
	ck_assert_uint_eq(status_of("\nCapInh:\t"), 0);
	ck_assert_uint_eq(status_of("\nCapAmb:\t"), 0);
}

/* A second time, for more, gives nothing back. */
TEST(never_more)
{
	uint64_t kept;

	ck_assert_int_eq(capabilities_keep(CAPABILITIES_HOLDER), 0);
	kept = effective();
	ck_assert_int_eq(capabilities_keep(CAPABILITIES_WRITER), 0);
	ck_assert_uint_eq(effective(), kept);
	ck_assert_int_eq(capabilities_keep(CAPABILITY(SYS_PTRACE)), 0);
	ck_assert_uint_eq(effective(), kept & CAPABILITY(SYS_PTRACE));
	ck_assert_int_eq(capabilities_keep(0), 0);
	ck_assert_uint_eq(effective(), 0);
}

/* Capabilities from 32 on are in the second word. */
TEST(high_ones)
{
	uint64_t had = effective();

	ck_assert_int_eq(capabilities_keep(CAPABILITY(BPF)), 0);
	ck_assert_uint_eq(effective(), had & CAPABILITY(BPF));
	ck_assert_uint_eq(status_of("\nCapPrm:\t"), had & CAPABILITY(BPF));
}

/* A unit may have left us no CAP_SETPCAP: the bounding set is its own. */
TEST(without_setpcap)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t could = bounding();

	get(data);
	data[0].permitted &= ~CAPABILITY(SETPCAP);
	data[0].effective &= ~CAPABILITY(SETPCAP);
	set(data);
	ck_assert_int_eq(capabilities_keep(CAPABILITY(SYS_PTRACE)), 0);
	ck_assert_uint_eq(effective() & ~CAPABILITY(SYS_PTRACE), 0);
	ck_assert_uint_eq(bounding(), could);
	ck_assert_uint_eq(status_of("\nNoNewPrivs:\t"), 1);
}

/* Docker's container has another capability that reads files of users: it stays. */
TEST(stands_in)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t had = effective() & ~CAPABILITY(DAC_READ_SEARCH);

	get(data);
	data[0].permitted &= ~CAPABILITY(DAC_READ_SEARCH);
	data[0].effective &= ~CAPABILITY(DAC_READ_SEARCH);
	set(data);
	ck_assert_int_eq(capabilities_keep(CAPABILITIES_HOLDER), 0);
	ck_assert_uint_eq(effective(), had & (CAPABILITIES_HOLDER | CAPABILITY(DAC_OVERRIDE)));
	ck_assert_int_eq(capabilities_keep(CAPABILITY(SYS_PTRACE)), 0);
	ck_assert_uint_eq(effective(), had & CAPABILITY(SYS_PTRACE));
}

/* Let that system call fail with that errno from now on. */
static void forbid(int number, int code)
{
	struct sock_filter code_of[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = ARRAY_SIZE(code_of),
		.filter = code_of,
	};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), 0);
}

TEST(forbidden)
{
	uint64_t had = effective();

	forbid(SYS_capset, EACCES);
	ck_assert_int_eq(capabilities_keep(0), -EACCES);
	ck_assert_uint_eq(effective(), had);
	forbid(SYS_capget, ENOSYS);
	ck_assert_int_eq(capabilities_keep(0), -ENOSYS);
}

TEST(no_prctl)
{
	forbid(SYS_prctl, EINVAL);
	ck_assert_int_eq(capabilities_keep(0), -EINVAL);
}

/* A process that would hold a target and cannot give up capabilities does not begin. */
TEST_EACH(refuses, 3)
{
	static const struct {
		const char *command, *says;
	} rows[] = {
		{ "suspend", "giving up the capabilities of root" },
		{ "follow", "cannot give up the capabilities of root that are not needed: " },
		{ "guard --duty 50% --offline", "next: does a filter of system calls (seccomp) " },
	};

	CTL(0, "status");
	forbid(SYS_capset, EACCES);
	CTL(GPREEMPT_CLASS_FAILED, "%s %d", rows[_i].command, target);
	ERR_HAS(rows[_i].says);
	ERR_HAS("Permission denied");
	ck_assert(_i || unit_cgroup_entered(""));
	expect_no_holder();
}

TEST_FIXTURE(holder_setup, holder_teardown)
