// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that read what a tenant, another host or an engine wrote: each of "host", "oci",
 * "report", "results" and "showpids" is a fuzzer of its own. A command may print no control
 * character, and only JSON that each reader of JSON takes.
 */
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"
#include "fuzz.h"
#include "lib/core/internal.h"

#define MAX_WORDS 16
#define NO_USER	  65534

int ctl_main(int argc, char **argv);
int lab_main(int argc, char **argv);

struct stream {
	FILE *file;
	char *text;
	size_t len;
};

static void start(struct stream *s)
{
	s->file = open_memstream(&s->text, &s->len);
	if (!s->file)
		abort();
}

/* Ends it. Is nothing in it but lines of cells that may be printed? */
static bool is_text(struct stream *s)
{
	size_t i;

	fclose(s->file);
	for (i = 0; i < s->len; i++) {
		unsigned char byte = s->text[i];

		if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f)
			return false;
	}
	return true;
}

/* json-c reads NaN and Infinity; JSON has neither. */
static bool has_no_number(const char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && (*text == 'N' || *text == 'I'))
			return true;
	}
	return false;
}

static bool is_json(const struct stream *s)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;
	bool is;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, s->text, s->len + 1);
	is = object && !has_no_number(s->text);
	json_object_put(object);
	json_tokener_free(tokener);
	return is;
}

static int split(char *line, char **argv)
{
	char *rest = NULL, *word;
	int argc = 0;

	for (word = strtok_r(line, " ", &rest); word && argc < MAX_WORDS - 1;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

/* Run a command line on that stdin. Its exit status. */
static int run_command(int (*program)(int argc, char **argv), const char *line, const void *input,
		       size_t len)
{
	FILE *in = stdin, *out = stdout, *err = stderr;
	char words[256], *argv[MAX_WORDS];
	struct stream got = { 0 }, said = { 0 };
	int argc, status;

	snprintf(words, sizeof(words), "gpreempt %s", line);
	argc = split(words, argv);
	start(&got);
	start(&said);
	stdin = fmemopen((void *)(len ? input : "\n"), len ? len : 1, "r");
	stdout = got.file;
	stderr = said.file;
	status = program(argc, argv);
	fclose(stdin);
	stdin = in;
	stdout = out;
	stderr = err;
	if (!is_text(&got) | !is_text(&said) ||
	    (strstr(line, "--json") && got.len && !is_json(&got))) {
		fprintf(stderr, "%s\n%s%s\n", line, got.text, said.text);
		abort();
	}
	free(got.text);
	free(said.text);
	return status;
}

/* Stand-in for gpreempt_new() by the linker's --wrap: each library is over the files. */
int __wrap_gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out);
int __wrap_gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out)
{
	return fuzz_files_open(options, out);
}

/*
 * A host's files, of which a tenant or who made a snapshot writes each: what the commands make
 * of a directory of them (--from), and with them most readers of the library: the module's
 * text, KFD's sysfs, /proc, cgroups with their roles, files of container engines, /etc/passwd.
 */
static const char *const lines[] = {
	"list --from x",
	"list --json --from x",
	"list role:offline cgroup:/a container:job --from x",
	"queues 77 --json --from x",
	"queues cmd:steps user:ann --priority >5 --from x",
	"doctor --from x",
	"doctor 77 --from x",
	"doctor --json --from x",
};

bool fuzz_host(const struct fuzz_input *in)
{
	char *text = malloc(in->len ? in->len : 1); /* its end is guarded */
	size_t i, sum = 0;
	int status;

	memcpy(text, in->data, in->len);
	for (i = 0; i < in->len; i++)
		sum = sum * 31 + in->data[i];
	fuzz_files_take(text, in->len);
	status = run_command(ctl_main, lines[sum % ARRAY_SIZE(lines)], NULL, 0);
	free(text);
	return !status;
}

/*
 * The state of a container, as an engine gives it to the hook role --oci. A PID of an
 * input may be any process of this host, so it is run by a user that can give no role.
 */
bool fuzz_oci(const struct fuzz_input *in)
{
	if (!geteuid() &&
	    (setresgid(NO_USER, NO_USER, NO_USER) || setresuid(NO_USER, NO_USER, NO_USER)))
		abort();
	/* A container starts, whatever its state says. */
	if (run_command(ctl_main, "role --oci", in->data, in->len))
		abort();
	return true;
}

/* Run a command of gpreempt-lab on a file with the input. */
static bool run_on_file(const char *command, const struct fuzz_input *in, const char *form)
{
	static int fd = -1;
	char line[64];

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, in->data, in->len, 0) != (ssize_t)in->len)
		abort();
	snprintf(line, sizeof(line), "%s /proc/self/fd/%d%s", command, fd, form);
	return !run_command(lab_main, line, NULL, 0);
}

/* Files that report makes a page of: tables, Prometheus's text, JSON. */
bool fuzz_report(const struct fuzz_input *in)
{
	return run_on_file("report", in, " --json");
}

/* Results of trials, alone and compared. */
bool fuzz_results(const struct fuzz_input *in)
{
	return run_on_file("trial", in, in->len % 2 ? " --json" : " tests/fuzz/seeds/results");
}

/* Text of rocm-smi, with names of processes. */
bool fuzz_showpids(const struct fuzz_input *in)
{
	return run_on_file("pidmap --showpids", in, in->len % 2 ? " --json" : "");
}
