// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables on terminals of several widths, on a host with 8 GPUs and 16 processes of vLLM, of which
 * one is held and one is paused.
 */
#include <ctype.h>
#include <pty.h>

#include "hold/run-dir.h"
#include "unit-command.h"
#include "unit-host.h"

#define DIR	  "/sys/kernel/debug/gpreempt/"
#define KFD	  "/sys/class/kfd/kfd/proc/"
#define PROCESSES 16
#define FIRST	  4194200
#define HELD	  FIRST
#define PAUSED	  (FIRST + 1)
#define BOX	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COMMAND                                                                       \
	"/opt/venv/bin/python3 -m vllm.entrypoints.openai.api_server --model /models" \
	"/Qwen2.5-72B-Instruct --tensor-parallel-size 8 --port 8000"

static int locks[2];

/* With 8 queues and memory on 8 GPUs, in a container. */
static void make_vllm(pid_t pid)
{
	const char *files = "queues", *view = "gpreempt-queues - version: 1.0\n"
					      "# qid gpu_id type state active slots suspended "
					      "evicted waves priority age_ms\n";
	unsigned int i;

	unit_make_process(pid);
	for (i = 0; i < UNIT_GPUS; i++) {
		files = unit_text("%s\nvram_%u", files, unit_gpu_ids[i]);
		set_file(unit_text(KFD "%d/vram_%u", pid, unit_gpu_ids[i]), "103079215104\n");
		view = unit_text("%s%u 0x%x compute-aql %s 0 32 1 1 1024 15 12345\n", view, i,
				 unit_gpu_ids[i], "suspended,evicted,destroying");
	}
	set_file(unit_text(KFD "%d/", pid), files);
	set_view(pid, view);
	set_file(unit_text("/proc/%d/comm", pid), "python3\n");
	set_file(unit_text("/proc/%d/cmdline", pid), COMMAND);
	set_file(unit_text("/proc/%d/cgroup", pid), "0::/system.slice/docker-" BOX ".scope\n");
	set_file(unit_text("/proc/%d/status", pid),
		 unit_text("Name:\tpython3\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\n"
			   "TracerPid:\t%d\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t%d\t%d\n"
			   "Threads:\t64\n",
			   pid, pid, pid == HELD ? 4194300 : 0, pid, pid - FIRST + 1));
}

static void make_host(void)
{
	const char *nodes = "gpreempt-nodes - version: 1.2\n"
			    "# gpu_id node device xccs slots_used slots processes queues\n";
	const char *usage = "gpreempt-usage - version: 2.0\n"
			    "# pid gpu_id queues busy waves hardware suspended evicted\n";
	const char *list = "gpreempt-processes - version: 1.1\n"
			   "# pid ns_pid queues active slots suspended evicted paused debugged\n";
	const char *all = "", *lines;
	unsigned int i, k;

	unit_eight_gpus();
	for (i = 0; i < PROCESSES; i++) {
		pid_t pid = FIRST + (pid_t)i;
		bool held = pid == HELD, paused = pid == PAUSED;

		make_vllm(pid);
		all = unit_text("%s%d\n", all, pid);
		list = unit_text("%s%d %u 8 %d 256 %d %d %d %d\n", list, pid, i + 1,
				 held || paused ? 0 : 256, held ? 8 : 0, paused ? 8 : 0, paused,
				 held);
		for (k = 0, lines = ""; k < UNIT_GPUS; k++)
			lines = unit_text("%s%d 0x%x 1 1 1024 read %d %d\n", lines, pid,
					  unit_gpu_ids[k], held, paused);
		usage = unit_text("%s%s", usage, lines);
	}
	for (k = 0; k < UNIT_GPUS; k++)
		nodes = unit_text("%s0x%x %u 0000:%02x:00.0 8 16 24 16 16\n", nodes,
				  unit_gpu_ids[k], k + 2, 5 + k);
	set_file(KFD, all);
	set_file("/proc/", all);
	set_file(DIR "processes", list);
	set_file(DIR "usage", usage);
	set_file(DIR "nodes", nodes);
	set_file("/etc/passwd", "ml-platform:x:1000:1000:::\n");
}

static void setup(void)
{
	struct hold_owner owner = { .role = HOLD_ROLE_GUARD, .pid = 4194300, .guardian = 4194301 };

	unit_setup();
	hold_dir_setup();
	make_host();
	locks[0] = hold_take(HELD, &owner);
	locks[1] = hold_take(PAUSED, &owner);
	ck_assert_int_ge(locks[0] | locks[1], 0);
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
}

static void teardown(void)
{
	hold_drop(HELD, locks[0]);
	hold_drop(PAUSED, locks[1]);
	unit_teardown();
}

/* Run it with a terminal as its output. Returns the lines, without carriage returns. */
static const char *shown(int width, int (*program)(int argc, char **argv), const char *line)
{
	struct winsize size = { .ws_col = width, .ws_row = 50 };
	static char text[1 << 16];
	char copy[256], *argv[32];
	size_t used = 0, i, n = 0;
	int terminal, slave;
	ssize_t got;
	pid_t child;

	ck_assert_int_eq(openpty(&terminal, &slave, NULL, NULL, &size), 0);
	fflush(NULL);
	child = fork();
	if (!child) {
		dup2(slave, STDOUT_FILENO);
		ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
		close(slave);
		snprintf(copy, sizeof(copy), "%s", line);
		program(unit_words(copy, argv), argv);
		fflush(NULL);
		_exit(0);
	}
	close(slave);
	while ((got = read(terminal, text + used, sizeof(text) - 1 - used)) > 0)
		used += got;
	close(terminal);
	ck_assert_int_eq(unit_status(child), 0);
	for (i = 0; i < used; i++)
		if (text[i] != '\r')
			text[n++] = text[i];
	text[n] = '\0';
	return text;
}

/*
 * Commands, from which width on they fit, and the last column with how many lines of it; NULL:
 * text. metrics is not among them: the lines of Prometheus's format are as long as they are.
 */
static const struct {
	int (*program)(int argc, char **argv);
	const char *line;
	int from;
	const char *last;
	int rows;
} commands[] = {
	{ ctl_main, "gpreempt-ctl list", 0, "COMMAND", PROCESSES },
	{ ctl_main, "gpreempt-ctl queues 4194200 4194201", 0, NULL, 0 },
	{ ctl_main, "gpreempt-ctl status", 0, "COMMAND", 2 },
	{ ctl_main, "gpreempt-ctl top --batch -n 1 -d 100ms", 0, "COMMAND", PROCESSES },
	{ ctl_main, "gpreempt-ctl gpus", 0, NULL, 0 },
	{ ctl_main, "gpreempt-ctl doctor", 0, NULL, 0 },
	{ ctl_main, "gpreempt-ctl doctor 4194200", 0, NULL, 0 },
	{ ctl_main, "gpreempt-ctl doctor --partition 0", 0, "COMMAND", PROCESSES },
	{ ctl_main, "gpreempt-ctl repair --dry-run", 0, NULL, 0 },
	{ lab_main, "gpreempt-lab pidmap", 0, "COMMAND", PROCESSES },
	{ lab_main, "gpreempt-lab diff now ./now --pid-a 144 --pid-b 156", 0, NULL, 0 },
	/* With sums below the tables, which are no sentences. */
	{ ctl_main, "gpreempt-ctl monitor 4194202 4194203 --for 1ms --interval 1ms", 80, NULL, 0 },
	{ lab_main, "gpreempt-lab decode now", 80, NULL, 0 },
};

static const int widths[] = { 24, 40, 80, 120, 200 };

/* The longest word that begins a line may be wider than the terminal: a path is not broken. */
static bool is_one_word(const char *line, size_t len)
{
	size_t begin = strspn(line, " ");

	return strcspn(line + begin, "\n ") == len - begin;
}

/* Each row is a line, and its last cell can be read. */
static void check_rows(const char *text, int width, const char *last, int rows)
{
	const char *at = strchr(text, '\n') + 1, *heading = strstr(text, last);
	size_t offset = heading - text, len;
	int n;

	ck_assert_msg(heading && heading < at, "no %s: %s", last, text);
	ck_assert_msg(heading + strlen(last) == at - 1, "%s is not the last: %s", last, text);
	for (n = 0; *at; n++, at += len + 1) {
		len = strcspn(at, "\n");
		ck_assert_msg(len > offset + (width < 80 ? 7 : 19), "%.*s", (int)len, at);
		ck_assert(isdigit(*(at + strspn(at, " "))));
	}
	ck_assert_msg(n == rows, "%d lines: %s", n, text);
}

TEST_EACH(fits, ARRAY_SIZE(commands) * ARRAY_SIZE(widths))
{
	size_t which = _i / ARRAY_SIZE(widths), len;
	int width = widths[_i % ARRAY_SIZE(widths)];
	int (*program)(int argc, char **argv) = commands[which].program;
	const char *line = commands[which].line;
	bool files = strstr(line, " now");
	const char *text, *at;

	if (width < commands[which].from)
		return;
	if (files)
		snapshots_setup();
	text = shown(width, program, line);
	if (files)
		command_teardown();
	ck_assert_msg(strchr(text, '\n'), "%s: nothing", line);
	for (at = text; *at; at += len + 1) {
		len = strcspn(at, "\n");
		ck_assert_msg(len <= (size_t)width || is_one_word(at, len), "%s: %zu in %d: %.*s",
			      line, len, width, (int)len, at);
	}
	if (commands[which].last)
		check_rows(text, width, commands[which].last, commands[which].rows);
}

/* The end of a path tells more than its begin, and a short one is not touched. */
TEST(path)
{
	HAS(shown(80, ctl_main, "gpreempt-ctl list"), "  .../python3 -m vllm.");
	HAS(shown(240, ctl_main, "gpreempt-ctl doctor --partition 0"),
	    "  /opt/venv/bin/python3 -m ");
	set_file(unit_text("/proc/%d/cmdline", FIRST), "/srv/train " COMMAND);
	HAS(shown(80, ctl_main, "gpreempt-ctl list"), "  /srv/train /opt/");
}

TEST(options)
{
	CTL(0, "list -o pid,State,held_as --sort -pid --no-headers %d %d %d", HELD, PAUSED,
	    PAUSED + 1);
	ck_assert_str_eq(ctl_out, "4194202\tactive\t-\n4194201\tpaused\tguard\n"
				  "4194200\tsuspended\tguard\n");
	CTL(0, "queues %d --columns=qid,gpu --sort -gpu", HELD);
	OUT_HAS("# qid\tgpu\n7\t7\n6\t6\n");
	CTL(0, "status -o pid,role");
	ck_assert_str_eq(ctl_out, "# pid\trole\n4194200\tguard\n4194201\tguard\n");
	CTL(0, "gpus -o gpu --sort -PCI --no-headers");
	ck_assert_str_eq(ctl_out, "7\n6\n5\n4\n3\n2\n1\n0\n");
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition 0 -o pid,next");
	OUT_HAS("# pid\tnext\n4194200\tstop the container\n");
	ctl_line("doctor -o check --no-headers");
	OUT_HAS("\ngpus\ndebug-trap\n");
	CTL(0, "monitor %d --for 1ms --interval 1ms -o pid,queues", HELD);
	OUT_HAS("# pid\tqueues\n4194200\t8\n");
	CTL(0, "top --batch -n 1 -d 100ms --sort -pid -o pid --no-headers");
	OUT_HAS("4194215\n4194214\n");
	CTL(0, "list --color always %d", HELD);
	OUT_HAS("\t\033[33msuspended\033[0m\t");
	LAB(0, "pidmap --sort -inside -o inside");
	OUT_HAS("# ns_pid\n16\n15\n");
}

/* Command lines, and what is wrong with them. */
static const struct {
	const char *line, *why;
} wrong[] = {
	{ "list -o pid,nonsense", "--columns \"pid,nonsense\": the columns are pid, container, " },
	{ "list -o pid,", "the columns are pid, " },
	{ "list -o ''", "a name is needed" },
	{ "list --sort -nonsense", "--sort \"-nonsense\": the columns are pid, " },
	{ "list --sort -", "the columns are pid, " },
	{ "list --json -o pid", "--json: its objects have all columns" },
	{ "list --no-headers --json", "--json: its objects have all columns" },
	{ "list --color=maybe", "it is auto, always or never" },
	{ "doctor -o next,blocks", "the columns are result, check, text, next" },
	{ "doctor --partition 0 -o check", "the columns are pid, blocks, " },
	{ "doctor --sort check", "unknown option" },
	{ "top -o pid", "are for --batch" },
	{ "top --batch -o held", "the columns are pid, user, " },
};

TEST_EACH(refused, ARRAY_SIZE(wrong))
{
	CTL(GPREEMPT_CLASS_USAGE, "%s", wrong[_i].line);
	ERR_HAS(wrong[_i].why);
	ck_assert_str_eq(ctl_out, "");
}

/* Each command with a table knows the names of its columns, and no other ones. */
TEST(all_commands)
{
	const struct ctl_program *const programs[] = { &ctl_program, &lab_program };
	char line[128], *argv[8];
	size_t i, k, n = 0;

	for (i = 0; i < ARRAY_SIZE(programs); i++)
		for (k = 0; programs[i]->commands[k]; k++) {
			const struct ctl_command *cmd = programs[i]->commands[k];
			void *args;

			if (!cmd->table)
				continue;
			args = ctl_new_args(cmd);
			snprintf(line, sizeof(line), "%s -o %s%s", cmd->name,
				 cmd->table->fields[cmd->table->n_fields - 1].name,
				 cmd->min_words ? " 4194200" : "");
			ck_assert_int_eq(ctl_parse(cmd, unit_words(line, argv), argv, args), -1);
			ctl_free_args(cmd, args);
			n++;
		}
	ck_assert_uint_ge(n, 8);
}

/* Examples that are run here, too; the others act, wait, or read files. */
static const struct {
	const char *begin;
	int status;
} shows[] = {
	{ "list --gpu 0 --quiet", GPREEMPT_CLASS_BUSY },
	{ "doctor --partition", GPREEMPT_CLASS_BUSY },
	/* There is no amdgpu in /sys/module. */
	{ "doctor", GPREEMPT_CLASS_UNSUPPORTED },
	{ "list", 0 },
	{ "gpus", 0 },
	{ "queues", 0 },
	{ "status", 0 },
	{ "repair", 0 },
	{ "metrics --for", 0 },
	{ "top --batch", 0 },
	{ "pidmap", 0 },
};

/* The words of a line up to what the shell takes for itself. */
static int example_words(const char *line, size_t len, char **argv)
{
	static char copy[256];
	static const char *const ends[] = { "#", "&&", ">", NULL };
	int argc, i, k;

	snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
	argc = unit_words(copy, argv);
	for (i = 0; i < argc; i++)
		for (k = 0; ends[k]; k++)
			if (!strcmp(argv[i], ends[k]))
				argc = i;
	argv[argc] = NULL;
	return argc;
}

static void check_example(const struct ctl_program *p, const struct ctl_command *cmd,
			  const char *line, size_t len)
{
	int (*program)(int argc, char **argv) = p == &ctl_program ? ctl_main : lab_main;
	char *argv[32];
	int argc = example_words(line, len, argv), words, status;
	size_t i, begin = strlen("gpreempt-ctl ");
	void *args;

	ck_assert_msg(argc > 1 && !strcmp(argv[0], p->name), "%.*s", (int)len, line);
	ctl_set_program(p);
	ck_assert_ptr_eq(ctl_find_command(argc - 1, argv + 1, &words), cmd);
	args = ctl_new_args(cmd);
	status = ctl_parse(cmd, argc - words, argv + words, args);
	ctl_free_args(cmd, args);
	ck_assert_msg(status < 0, "status %d: %.*s", status, (int)len, line);
	for (i = 0; i < ARRAY_SIZE(shows); i++) {
		if (strncmp(line + begin, shows[i].begin, strlen(shows[i].begin)))
			continue;
		argc = example_words(line, len, argv);
		begin_capture();
		status = program(argc, argv);
		end_capture();
		ck_assert_msg(status == shows[i].status, "status %d: %.*s: %s", status, (int)len,
			      line, ctl_err);
		return;
	}
}

/* Each example of the help and the manual is what it says. */
TEST(examples)
{
	static const struct ctl_program *const programs[] = { &ctl_program, &lab_program };
	const struct ctl_command *cmd;
	size_t i, k, len, n = 0;
	const char *at;

	set_file("/etc/passwd", "ann:x:1000:1000:::\n");
	set_file(unit_text("/proc/%d/comm", FIRST + 2), "train\n");
	for (i = 0; i < ARRAY_SIZE(programs); i++)
		for (k = 0; (cmd = programs[i]->commands[k]); k++) {
			ck_assert_msg(cmd->examples || (!cmd->options && !cmd->command), "%s",
				      cmd->name);
			for (at = cmd->examples; at && *at; at += len + 3, n++) {
				len = strcspn(at + 2, "\n");
				check_example(programs[i], cmd, at + 2, len);
			}
		}
	ck_assert_uint_gt(n, 40);
}

TEST_FIXTURE(setup, teardown)
