// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "ctl/ctl.h"
#include "shared/macro.h"

static const struct ctl_command *const commands[] = {
	&ctl_queues,
	&ctl_suspend,
	&ctl_resume,
	&ctl_status,
	&ctl_preempt,
};

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: gpreempt-ctl COMMAND [PID] [OPTION...]\n\n"
	      "See and suspend the GPU queues of a process.\n\n", f);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-8s %-4s %s\n", commands[i]->name,
			commands[i]->target ? commands[i]->target : "",
			commands[i]->summary);
	fputs("\n  --help     this list; COMMAND --help: more about one\n"
	      "  --version  the version\n\n"
	      "exit status: 0 done, 1 failed, 2 wrong usage, 3 not supported "
	      "here,\n4 no permission, 5 no such GPU process, 6 done in part, "
	      "7 busy\n", f);
}

static const struct ctl_command *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run(const struct ctl_command *cmd, int argc, char **argv)
{
	struct ctl_args args = cmd->defaults;
	int ret;

	ret = ctl_parse(cmd, argc, argv, &args);
	if (ret < 0)
		ret = cmd->run(cmd, &args);
	free(args.ids);
	return ret;
}

int main(int argc, char **argv)
{
	const struct ctl_command *cmd;

	ctl_title_init(argc, argv);
	if (argc < 2) {
		usage(stderr);
		return GPREEMPT_CLASS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("gpreempt-ctl %s\n", gpreempt_version());
		return 0;
	}
	cmd = find(argv[1]);
	if (!cmd)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-ctl --help lists the commands",
				     "there is no command \"%s\"", argv[1]);
	return run(cmd, argc - 2, argv + 2);
}
