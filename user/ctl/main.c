// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "shared/util.h"

static int run(const struct ctl_command *cmd, int argc, char **argv)
{
	void *args = ctl_new_args(cmd);
	int ret;

	if (!args)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = ctl_parse(cmd, argc, argv, args);
	if (ret < 0)
		ret = cmd->run(args);
	ctl_free_args(cmd, args);
	return ctl_finish_output(ret);
}

/*
 * Started without stdin, stdout or stderr (">&-"), the next file that we open would take its
 * number, and get what we print. To what is put in its place writing fails as it would have.
 */
static void fill_gaps(void)
{
	int fd = open("/dev/null", O_RDONLY);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct ctl_command *cmd;
	int words;

	fill_gaps();
	ctl_set_commands(ctl_commands);
	shr_title_init(argc, argv);
	if (argc < 2)
		return run(&ctl_list, argc, argv);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		ctl_help_all(stdout);
		return ctl_finish_output(0);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("gpreempt-ctl %s\n", gpreempt_version());
		return ctl_finish_output(0);
	}
	if (argv[1][0] == '-')
		return run(&ctl_list, argc, argv);
	cmd = ctl_find_command(argc - 1, argv + 1, &words);
	if (!cmd)
		return ctl_no_command(argc - 1, argv + 1);
	return run(cmd, argc - words, argv + words);
}
