// SPDX-License-Identifier: GPL-2.0-only
/* Archives of gpreempt-lab trial: what is inside, and names that must not be. */
#include <sys/utsname.h>

#include "lab/snapshot.h"
#include "unit-command.h"

#define RESULT(text) \
	"{\"version\":\"0.2.0\",\"kernel\":\"6.12\",\"gpus\":[],\"status\":0,\"x\":\"" text "\"}"

static void setup(void)
{
	system_setup();
	make_text("made/etc/hostname", "Node-7.Example.net\n");
	make_text("made/etc/passwd", "root:x:0:0::/root:/bin/sh\ndaemon:x:1:1:::\nbroken\n"
				     "alicia:x:1000:1000:Alicia:/home/a:/bin/sh\n"
				     "ab:x:1001:1001:::\nghost:x:65534:65534:::\n");
	set_file(unit_text("/proc/%d/comm", PID), "llm-7b\n");
	set_file(unit_text("/proc/%d/cmdline", PID), "/opt/train --set=\"all of it\"");
	unsetenv("SUDO_USER");
	setenv("LOGNAME", "root", 1);
	setenv("USER", "caroline", 1);
	make_text("result", RESULT(""));
}

/* Names of the files inside, as tar lists them. */
static const char *list_of(const char *path)
{
	ck_assert_int_eq(system(unit_text("tar --zstd -tf %s | grep -v '/$' | sort >list", path)),
			 0);
	return unit_file("list");
}

TEST(without_names)
{
	LAB(0, "trial result --archive a.tar.zst");
	ck_assert_str_eq(ctl_out, "a.tar.zst: made, and no name was found\n");
	ck_assert_uint_eq(mode_of("a.tar.zst"), 0600);
	ck_assert_str_eq(list_of("a.tar.zst"), "contents\ntrial.json\n");
	ck_assert_int_eq(system("tar --zstd -xf a.tar.zst && cmp result trial.json"), 0);
	HAS(unit_file("contents"), unit_text("\n%zu trial.json\n", strlen(RESULT(""))));
	HAS(unit_file("contents"), ": none was found\n");
	/* The archive is read as the result itself, and is made again of itself. */
	LAB(0, "trial a.tar.zst --json");
	expect_text("trials.0.source", "a.tar.zst");
	LAB(0, "trial a.tar.zst result");
	LAB(0, "trial a.tar.zst --archive a.tar.zst");
	LAB(0, "trial a.tar.zst");
}

/* A name is found as a whole word, that of the host in any case, and however JSON has it. */
TEST(words)
{
	static const struct {
		const char *text;
		int status;
	} texts[] = {
		{ "alicia", 1 },
		{ "alician malicia alicia_2 alicia7", 0 },
		{ "malicia alicia", 1 },
		{ "ALICIA", 0 },
		{ "\303\251alicia", 1 },
		{ "a\\u0000alici\\u0061", 1 },
		{ "\\/home\\/alicia\\/x", 1 },
		{ "x\\nalicia\\t", 1 },
		{ "NODE-7", 1 },
		{ "node-70 anode-7 node-7x", 0 },
		{ "kernel of node-7.example.net.", 1 },
		{ "Example.Net", 1 },
		{ "example.network", 0 },
		{ "ab", 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		make_text("result", unit_text(RESULT("%s"), texts[i].text));
		LAB(texts[i].status, "trial result --archive a.tar.zst");
	}
	/* The keys are ours. */
	make_text("result", "{\"version\":\"1\",\"kernel\":\"6\",\"gpus\":[{\"alicia\":1}]}");
	LAB(0, "trial result --archive a.tar.zst");
	make_text("result",
		  "{\"version\":\"1\",\"kernel\":\"6\",\"gpus\":[{\"a\":[1,[\"alicia\"]]}]}");
	LAB(1, "trial result --archive a.tar.zst");
}

/* A name of each kind, in a text of the result: nothing is written, and nothing is left. */
TEST(refused)
{
	struct utsname host;
	const struct {
		const char *text, *says;
	} bad[] = {
		{ RESULT("on NODE-7"), "the name of this host in it, \"node-7" },
		{ RESULT("a.example.net"), "the name of this host in it, \"example.net\"" },
		{ RESULT("\\/home\\/alici\\u0061"), "the name of a user in it, \"alicia\"" },
		{ RESULT("caroline"), "the name of a user in it, \"caroline\"" },
		{ RESULT("held by 7 (llm-7b)"), "the name of a process in it, \"llm-7b\"" },
		{ RESULT("ran \\/opt/train --set=\\\"all of it\\\""), "a command line in it" },
		{ RESULT("127.0.0.1 daemon ghost root localhost"), NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		make_text("result", bad[i].text);
		LAB(bad[i].says ? 1 : 0, "trial result --archive a.tar.zst");
		if (!bad[i].says)
			continue;
		ERR_HAS(unit_text("trial.json has %s", bad[i].says));
		ERR_HAS("nothing was written\nnext: change it there, or make an archive that has "
			"such names with --full\n");
		ck_assert_int_ne(access("a.tar.zst", F_OK), 0);
		ck_assert_int_eq(system("! ls -d *part*"), 0);
	}
	make_text("result", bad[0].text);
	LAB(0, "trial result --archive a.tar.zst --full");
	ck_assert_str_eq(ctl_out, "a.tar.zst: made, with names\n");
	uname(&host);
	make_text("result", unit_text(RESULT("%s"), host.nodename));
	if (strlen(host.nodename) > 2 && strcmp(host.nodename, "localhost"))
		LAB(1, "trial result --archive b.tar.zst");
}

/* Files of a snapshot that have no names go in, after a look at them; others do not. */
TEST(snapshot)
{
	make_text("day/mqds", "mqds\n");
	make_text("day/info", "host node-7\n");
	make_text("day/kernel-log", "alicia\n");
	make_text("day/etc/passwd", "alicia\n");
	make_text("day" SNAPSHOT_KFD "/topology/nodes/1/gpu_id", "7\n");
	make_text("day" SNAPSHOT_KFD "/proc/7/queues/0/gpuid", "7\n");
	make_text("day/proc/7/cmdline", "x");
	ck_assert_int_eq(symlink("/etc/passwd", "day/hqds"), 0);
	LAB(0, "trial result --archive a --snapshot day");
	ck_assert_str_eq(list_of("a"), "contents\n"
				       "snapshot/mqds\n"
				       "snapshot" SNAPSHOT_KFD "/proc/7/queues/0/gpuid\n"
				       "snapshot" SNAPSHOT_KFD "/topology/nodes/1/gpu_id\n"
				       "trial.json\n");
	LAB(0, "trial a");
	LAB(0, "trial result --archive a --snapshot day --full");
	list_of("a");
	HAS(unit_file("list"), "snapshot/etc/passwd\n");
	HAS(unit_file("list"), "snapshot/proc/7/cmdline\n");
	/* A directory of several. */
	ck_assert_int_eq(system("mkdir days && cp -r day days/gpu0-look"), 0);
	LAB(0, "trial result --archive a --snapshot days");
	ck_assert_str_eq(list_of("a"),
			 "contents\nsnapshot/gpu0-look/mqds\n"
			 "snapshot/gpu0-look" SNAPSHOT_KFD "/proc/7/queues/0/gpuid\n"
			 "snapshot/gpu0-look" SNAPSHOT_KFD "/topology/nodes/1/gpu_id\n"
			 "trial.json\n");
	make_text("day/mqds", "of alicia\n");
	LAB(1, "trial result --archive b --snapshot day");
	ERR_HAS("snapshot/mqds has the name of a user in it, \"alicia\"");
	ck_assert_int_ne(access("b", F_OK), 0);
	LAB(1, "trial result --archive b --snapshot none");
	ck_assert_int_eq(system("! ls -d *part*"), 0);
}

/* Users that cannot be read may be in any file; and "loc" is a name, unlike localhost. */
TEST(names_that_cannot_be_read)
{
	ck_assert_int_eq(rename("made/etc/passwd", "passwd"), 0);
	LAB(1, "trial result --archive a");
	ERR_HAS("users and processes of this host cannot be read: No such file");
	ck_assert_int_eq(system("! ls -d a* *part*"), 0);
	LAB(0, "trial result --archive a --full");
	ck_assert_int_eq(rename("passwd", "made/etc/passwd"), 0);
	make_text("made/etc/hostname", "loc\n");
	make_text("result", RESULT("loc"));
	LAB(1, "trial result --archive a");
}

/* Archives that are none, and places where none can be. */
TEST(no_archives)
{
	make_file("a", "\x28\xb5\x2f\xfd", 4);
	LAB(1, "trial a");
	ERR_HAS("a: no result can be read from this archive\nnext: tar and zstd");
	ck_assert_int_eq(system("tar --zstd -cf b result"), 0);
	LAB(1, "trial b");
	/* More than a result has is not read. */
	ck_assert_int_eq(system("truncate -s 17M trial.json && tar --zstd -cf c trial.json"), 0);
	LAB(1, "trial c");
	ck_assert_int_eq(system("echo '[]' >trial.json && tar --zstd -cf d trial.json"), 0);
	LAB(2, "trial d");
	LAB(2, "trial d --archive e");
	LAB(1, "trial result --archive none/e");
	LAB(1, "trial result --archive .");
	LAB(2, "trial result --full");
	LAB(2, "trial result --snapshot day");
	LAB(2, "trial result ./result --archive e");
	LAB(2, "trial result --archive e --json");
	ck_assert_int_ne(access("e", F_OK), 0);
}

/* Without tar: the reason, and no half of an archive. */
TEST(no_tar)
{
	LAB(0, "trial result --archive a");
	setenv("PATH", "/nowhere", 1);
	LAB(1, "trial result --archive b");
	ERR_HAS("cannot run tar");
	ERR_HAS("install tar and zstd");
	LAB(1, "trial a");
	setenv("PATH", "/usr/bin:/bin", 1);
	ck_assert_int_eq(system("! ls -d b* *part*"), 0);
}

TEST_FIXTURE(setup, system_teardown)
