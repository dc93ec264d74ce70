// SPDX-License-Identifier: GPL-2.0-only
/*
 * The roles of cgroups: see them, give one, take it away; and the same as the hook of a
 * container engine, for which each text of a container is only compared, and the words behind a
 * role are those that guard knows, with figures.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "guard/guard.h"
#include "hold/role.h"
#include "lib/see/words.h"
#include "shared/cgroup.h"
#include "shared/text.h"
#include "shared/util.h"

#define STATE_MAX (1024 * 1024)

struct role_args {
	struct ctl_words words;
	struct out_form form;
	uint64_t oci;
};

/* A cgroup with a role. */
struct row {
	const char *role;
	char *cgroup;
	char *words; /* NULL: none */
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, role, "ROLE", OUT_WORD),
	OUT_FIELD(struct row, cgroup, "CGROUP", OUT_TEXT),
	OUT_FIELD(struct row, words, "WORDS", OUT_TEXT, .spare = true),
};

static const struct out_table table = OUT_TABLE("roles", fields, struct row);

struct rows {
	struct row *list;
	size_t count;
};

static int add_row(void *arg, const char *cgroup, const struct gp_role_value *value)
{
	struct rows *rows = arg;
	struct row *row = shr_must(shr_array_add(&rows->list, &rows->count, sizeof(*row)));

	row->role = gp_role_name(value->role);
	row->cgroup = shr_must(strdup(cgroup));
	row->words = *value->words ? shr_must(strdup(value->words)) : NULL;
	return 0;
}

static int fail_no_cgroups(void)
{
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, "mount it, or boot with cgroup v2",
			     "there is no cgroup v2 here, and it holds the roles");
}

static int show(const struct role_args *args)
{
	struct rows rows = { 0 };
	int ret = ctl_need_root("see the roles of cgroups");
	size_t i;

	if (ret)
		return ret;
	ret = role_each(add_row, &rows);
	if (ret == -ENOENT)
		ret = fail_no_cgroups();
	else if (ret)
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	else if (rows.count || args->form.mode != OUT_TERMINAL)
		out_print(&args->form, &table, rows.list, rows.count);
	else
		ctl_note("no cgroup has a role");
	for (i = 0; i < rows.count; i++) {
		free(rows.list[i].cgroup);
		free(rows.list[i].words);
	}
	free(rows.list);
	return ret;
}

static int fail_word(const char *word, const char *why)
{
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl role --help", "\"%s\": %s", word,
			     why);
}

static int fail_give(const char *cgroup, int code)
{
	switch (code) {
	case -EINVAL:
		return fail_word(cgroup, "that cgroup cannot have a role");
	case -E2BIG:
		return fail_word(cgroup, "it is more than 32 levels deep, or its path "
					 "is too long: no role is looked for there");
	case -EPERM:
	case -EACCES:
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION, "run it as root of the host",
				     "we may not give %s a role", cgroup);
	case -ENOENT:
	case -ENODEV:
	case -ENOTDIR:
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				     "/proc/PID/cgroup has the path of one",
				     "there is no cgroup %s", cgroup);
	default:
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s cannot get a role: %s",
				     cgroup, strerror(-code));
	}
}

static const char prefix[] = "cgroup:";

/* Give a role to the target of a word: cgroup:PATH or a PID. */
static int give(const struct gp_role_value *role, const char *word)
{
	char path[SHR_CGROUP_PATH];
	uint64_t pid;
	int ret;

	if (!strncmp(word, prefix, strlen(prefix))) {
		word += strlen(prefix);
		ret = role_give(word, role);
		return ret ? fail_give(word, ret) : 0;
	}
	if (shr_parse_u64(word, 1 << 22, &pid) || !pid)
		return fail_word(word, "that is neither cgroup:PATH nor a PID");
	ret = shr_cgroup_of(pid, path, sizeof(path));
	if (ret == -ESRCH)
		return ctl_fail_reason(GPREEMPT_NO_PROCESS, ret, pid);
	if (ret == -ENOTSUP || (!ret && !*path))
		return fail_no_cgroups();
	if (ret)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "name the cgroup: gpreempt-ctl role ROLE cgroup:PATH",
				     "the cgroup of process %d cannot be read: %s", (int)pid,
				     strerror(-ret));
	ret = role_give(path, role);
	return ret ? fail_give(path, ret) : 0;
}

/* Is it a word of guard's for a tenant, such as weight=200 or gang, and no cgroup? */
static bool is_figure(const char *word)
{
	struct guard_config_error err;

	return strncmp(word, prefix, strlen(prefix)) &&
	       (strchr(word, '=') || !guard_config_words(GPREEMPT_ROLE_OFFLINE, word, NULL, &err));
}

/* Take a role and the words behind it. Returns how many words that are; 0: *status says why. */
static size_t take_role(const struct ctl_words *words, struct gp_role_value *out, int *status)
{
	const char *role = words->word[0];
	char text[GP_ROLE_TEXT];
	struct guard_config_error err;
	size_t n, used = strlen(role);

	if (gp_role_by_name(role, used, &out->role)) {
		*status = fail_word(role, "a role is online, offline or none");
		return 0;
	}
	strcpy(text, role);
	for (n = 1; n < words->n && is_figure(words->word[n]); n++)
		if (used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used, " %s", words->word[n]);
	if (used >= sizeof(text) || gp_role_parse(text, used, out) ||
	    (n > 1 && strcmp(out->words, text + strlen(role) + 1)))
		*status = fail_word(role, "the words behind it are too long, or no plain text");
	else if (*out->words && out->role == GPREEMPT_ROLE_NONE)
		*status = fail_word(out->words, "without a role there is no tenant");
	else if (guard_config_words(out->role, out->words, NULL, &err))
		*status = fail_word(out->words, err.text);
	else if (n == words->n)
		*status = fail_word(role, "a cgroup:PATH or a PID has to follow");
	else
		return n;
	return 0;
}

static int give_all(const struct ctl_words *words)
{
	struct gp_role_value role;
	int ret, status = 0;
	size_t i, first = take_role(words, &role, &status);

	for (i = first; first && i < words->n; i++) {
		ret = give(&role, words->word[i]);
		status = i > first ? ctl_merge_status(status, ret) : ret;
	}
	return status;
}

/* Wishes in the state of a container. */
struct state {
	struct gp_role_value role;
	int64_t pid;
	char id[NAME_MAX + 1];
};

/* Read a container's state. 0 or -EINVAL. */
static int read_state(const char *text, struct state *out)
{
	struct json_object *state = json_tokener_parse(text), *part, *word;
	int ret = -EINVAL;

	*out = (struct state){ 0 };
	if (json_object_object_get_ex(state, "pid", &part) &&
	    json_object_object_get_ex(state, "id", &word)) {
		const char *id = json_object_get_string(word) ?: "";

		out->pid = json_object_get_int64(part);
		if (out->pid > 0 && out->pid <= INT32_MAX && *id && strlen(id) < sizeof(out->id))
			ret = 0;
		if (!ret)
			strcpy(out->id, id);
	}
	if (!ret && json_object_object_get_ex(state, "annotations", &part) &&
	    json_object_object_get_ex(part, ROLE_ANNOTATION, &word))
		ret = gp_role_parse(json_object_get_string(word) ?: "",
				    json_object_get_string_len(word), &out->role);
	json_object_put(state);
	return ret;
}

/* Give the role to the container's own cgroup, even if the process is in one below it. */
static int give_container(const struct state *state)
{
	char path[SHR_CGROUP_PATH];
	int ret = shr_cgroup_of(state->pid, path, sizeof(path));

	if (ret)
		return ret;
	/* The process can be another one by now, or have no cgroup of its own. */
	if (!shr_cgroup_cut(path, state->id, strlen(state->id)))
		return -EXDEV;
	return role_give(path, &state->role);
}

/* Run the hook. A container starts whatever its result is. */
static int run_hook(void)
{
	__cleanup_free char *text = calloc(1, STATE_MAX + 1);
	struct guard_config_error err;
	struct state state;
	int ret;

	if (!text)
		return 0;
	ret = fread(text, 1, STATE_MAX, stdin) ? read_state(text, &state) : -EINVAL;
	if (ret) {
		ctl_note("stdin is no state of a container that has an id and a process, "
			 "or " ROLE_ANNOTATION " is neither online nor offline");
		return 0;
	}
	if (state.role.role == GPREEMPT_ROLE_NONE)
		return 0;
	if (guard_config_words(state.role.role, state.role.words, NULL, &err)) {
		ctl_note("the words behind " ROLE_ANNOTATION " do not count: %s", err.text);
		*state.role.words = '\0';
	}
	ret = give_container(&state);
	if (ret)
		ctl_note("the container of process %lld gets no role: %s", (long long)state.pid,
			 ret == -EXDEV ? "no part of the path of its cgroup is the container's id" :
					 strerror(-ret));
	return 0;
}

static int run_role(void *data)
{
	const struct role_args *args = data;

	if (args->oci)
		return run_hook();
	return args->words.n ? give_all(&args->words) : show(args);
}

static const struct ctl_option options[] = {
	{ "oci", CTL_FLAG, offsetof(struct role_args, oci), NULL,
	  "be the hook of a container engine, for annotations" },
	CTL_TABLE_OPTIONS(struct role_args),
	{ 0 },
};

const struct ctl_command ctl_role = {
	.name = "role",
	.run = run_role,
	.args_size = sizeof(struct role_args),
	.words = CTL_ROLES,
	.words_at = offsetof(struct role_args, words),
	.usage = "[ROLE [KEY=VALUE...] CGROUP]",
	.summary = "Show the roles of cgroups, or give them one.",
	.details =
		"ROLE is online, offline, or none, which takes it away. Figures of a tenant of\n"
		"guard may follow (weight=200, min=5%, max=50%): then the processes of that\n"
		"cgroup are a tenant of their own.\n"
		"CGROUP is cgroup:PATH or a PID, which stands for its cgroup. A process has the\n"
		"role of the nearest cgroup, from its own upwards, that has one, of the first 32\n"
		"levels; it is named by the targets role:online and role:offline. The role is an\n"
		"attribute of the cgroup (trusted.gpreempt.role) that only root of the host can\n"
		"read and write. It ends with the cgroup. --oci reads the state of a container\n"
		"from stdin, and gives the cgroup that has its id, in which its process must be,\n"
		"the role and words of the annotation gpreempt.io/role; it always has exit\n"
		"status 0.\n",
	.examples = "  gpreempt-ctl role\n"
		    "  gpreempt-ctl role offline weight=200 max=50% cgroup:/batch\n",
	.table = &table,
	.options = options,
};

/*
 * Start a program in a role. The role is the cgroup that the program is in: it
 * needs no register, its children inherit it, and everybody can see it.
 */

static int fail_usage(const char *what)
{
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl run --help", "%s", what);
}

static int fail_cgroup(const char *path, int code)
{
	if (code == -ENOENT)
		return fail_no_cgroups();
	if (code == -EACCES || code == -EPERM)
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
				     "run it as root; the program can be run "
				     "with setpriv or sudo -u then",
				     "we may not make the cgroup %s", path);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "look at that directory below the mount of cgroup v2",
			     "the cgroup %s cannot be entered: %s", path, strerror(-code));
}

struct run_args {
	uint64_t online;
	uint64_t offline;
	const char *cgroup;
	char **command;
};

static int run_run(void *data)
{
	const struct run_args *args = data;
	enum gpreempt_role role = args->online ? GPREEMPT_ROLE_ONLINE : GPREEMPT_ROLE_OFFLINE;
	char path[ROLE_MAX_PATH], name[16];
	int ret;

	if (args->online && args->offline)
		return fail_usage("a program is online or offline, not both");
	if (!args->command)
		return fail_usage("a program to run is needed, behind \"--\"");
	snprintf(name, sizeof(name), "%d", getpid());
	ret = role_path(role, args->cgroup ? args->cgroup : name, path);
	if (ret)
		return fail_usage("the name of a cgroup has letters, digits and \"._-\" only, and "
				  "begins with a letter or digit");
	ret = role_enter(role, path);
	if (ret)
		return fail_cgroup(path, ret);
	return ctl_exec(args->command, -1);
}

static const struct ctl_option run_options[] = {
	{ "online", CTL_FLAG, offsetof(struct run_args, online), NULL,
	  "it has deadlines, and others make way for it" },
	{ "offline", CTL_FLAG, offsetof(struct run_args, offline), NULL,
	  "it makes way; the default" },
	{ "cgroup", CTL_NAME, offsetof(struct run_args, cgroup), "NAME",
	  "in the cgroup /gpreempt/ROLE/NAME, with others of that name" },
	{ 0 },
};

const struct ctl_command ctl_run = {
	.name = "run",
	.run = run_run,
	.args_size = sizeof(struct run_args),
	.command = "COMMAND...",
	.command_at = offsetof(struct run_args, command),
	.summary = "Start a program in a role, online or offline.",
	.details = "The role is the cgroup: /gpreempt/online/NAME or /gpreempt/offline/NAME,\n"
		   "where NAME is the PID by default. Child processes are in it too. Targets for\n"
		   "them: cgroup:/gpreempt/online, cgroup:/gpreempt/offline. The program replaces\n"
		   "this command: PID, signals and exit status are its own. The status is 127 if\n"
		   "there is no such program, 126 if it cannot be run.\n",
	.examples = "  gpreempt-ctl run --offline -- python3 train.py\n",
	.options = run_options,
};
