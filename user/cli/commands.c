// SPDX-License-Identifier: GPL-2.0-only
/* A program: its table of commands, which of them the words mean, and its main(). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define LEFT 19 /* columns of a name and its words, in the help */

static const struct ctl_program *program;

void ctl_set_program(const struct ctl_program *p)
{
	program = p;
	ctl_set_name(p->name);
}

static const struct ctl_command *find(const char *name)
{
	const struct ctl_command *cmd;
	size_t i;

	for (i = 0; (cmd = program->commands[i]); i++)
		if (!strcmp(cmd->name, name))
			break;
	return cmd;
}

const struct ctl_command *ctl_find_command(int argc, char **argv, int *words)
{
	const struct ctl_command *cmd = NULL;
	char both[64];

	/* The name of one as "module load" is two words. */
	if (strchr(argv[0], ' '))
		return NULL;
	*words = 2;
	if (argc > 1) {
		snprintf(both, sizeof(both), "%s %s", argv[0], argv[1]);
		cmd = find(both);
	}
	if (cmd)
		return cmd;
	*words = 1;
	return find(argv[0]);
}

/* Is it "module", of which only "module load" and others are commands? */
static bool is_group(const char *word)
{
	const struct ctl_command *cmd;
	size_t len = strlen(word), i;

	for (i = 0; (cmd = program->commands[i]); i++)
		if (!strncmp(cmd->name, word, len) && cmd->name[len] == ' ')
			return true;
	return false;
}

/* The command of which that is the second word; NULL: of none. */
static const struct ctl_command *find_second(const char *word)
{
	const struct ctl_command *cmd;
	const char *space;
	size_t i;

	for (i = 0; (cmd = program->commands[i]); i++) {
		space = strchr(cmd->name, ' ');
		if (space && !strcmp(space + 1, word))
			break;
	}
	return cmd;
}

/* The names of so many words, of which @typed may be one; NULL: it is near none. */
static const char *find_near(const char *typed, bool two_words)
{
	struct ctl_nearest nearest = { .typed = typed };
	const struct ctl_command *cmd;
	size_t i;

	for (i = 0; (cmd = program->commands[i]); i++)
		if (!strchr(cmd->name, ' ') != two_words)
			ctl_offer(&nearest, cmd->name);
	return nearest.name;
}

static const char *find_meant(int argc, char **argv)
{
	const struct ctl_command *cmd = argc > 1 ? find_second(argv[1]) : NULL;
	const char *name = NULL;
	char both[64];

	/* "load" alone is meant for "module load". */
	if (!cmd)
		cmd = find_second(argv[0]);
	if (cmd)
		return cmd->name;
	if (argc > 1) {
		snprintf(both, sizeof(both), "%s %s", argv[0], argv[1]);
		name = find_near(both, true);
	}
	return name ? name : find_near(argv[0], false);
}

/* Report that the words begin with no command of this program. Returns the exit status. */
static int no_command(int argc, char **argv)
{
	const char *const *moved = program->moved;
	const char *name = find_meant(argc, argv);
	char next[64];

	for (; moved && *moved; moved++) {
		if (strcmp(*moved, argv[0]))
			continue;
		snprintf(next, sizeof(next), "gpreempt-lab %s", *moved);
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s is a command of gpreempt-lab",
				     *moved);
	}
	snprintf(next, sizeof(next), "%s %s", program->name,
		 name ? name : "--help lists the commands");
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s \"%s\"%s%s%s",
			     is_group(argv[0]) ? "a second word belongs to the command" :
						 "there is no command",
			     argv[0], name ? "; did you mean \"" : "", name ? name : "",
			     name ? "\"?" : "");
}

void ctl_help_all(FILE *f)
{
	const struct ctl_command *cmd;
	size_t i;

	fprintf(f, "usage: %s %s [ARGUMENT...] [OPTION...]\n\n%s\n\n", program->name,
		program->usual ? "[COMMAND]" : "COMMAND", program->purpose);
	for (i = 0; (cmd = program->commands[i]); i++)
		fprintf(f, "  %s %-*s %s\n", cmd->name, (int)(LEFT - strlen(cmd->name)),
			cmd->usage ? cmd->usage : "", cmd->summary);
	fprintf(f, "\n%s", ctl_targets_help);
	fputs("\n  --help     this list; COMMAND --help: more about one\n"
	      "  --version  the version\n\n"
	      "exit status: 0 done, 1 failed, 2 wrong usage, 3 not supported "
	      "here,\n4 no permission, 5 no such GPU process, 6 done in part, "
	      "7 busy\n",
	      f);
}

static int run(const struct ctl_command *cmd, int argc, char **argv)
{
	void *args = ctl_new_args(cmd);
	int ret = ctl_parse(cmd, argc, argv, args);

	if (ret < 0)
		ret = cmd->run(args);
	ctl_free_args(cmd, args);
	return ctl_finish_output(ret);
}

/*
 * Fill the gaps of a start without stdin, stdout or stderr (">&-"): the next file that we open
 * would take such a number, and get our output. A write to the stand-in fails as it would have
 * failed before.
 */
static void fill_gaps(void)
{
	int fd = open("/dev/null", O_RDONLY);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		close(fd);
}

int ctl_run_program(const struct ctl_program *p, int argc, char **argv)
{
	const char *word = argc < 2 ? "" : argv[1];
	const struct ctl_command *cmd;
	int words;

	fill_gaps();
	ctl_set_program(p);
	shr_title_init(argc, argv);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help") ||
	    (argc < 2 && !p->usual)) {
		ctl_help_all(stdout);
		return ctl_finish_output(0);
	}
	if (!strcmp(word, "--version")) {
		printf("%s %s\n", p->name, gpreempt_version());
		return ctl_finish_output(0);
	}
	if (p->usual && (argc < 2 || *word == '-'))
		return run(p->usual, argc, argv);
	cmd = ctl_find_command(argc - 1, argv + 1, &words);
	if (!cmd)
		return no_command(argc - 1, argv + 1);
	return run(cmd, argc - words, argv + words);
}
