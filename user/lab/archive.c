// SPDX-License-Identifier: GPL-2.0-only
/* Archives of a result, made and read by tar and zstd; names that must not be in them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netpacket/packet.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <gpreempt/select.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "lib/see/words.h"
#include "archive.h"
#include "load.h"
#include "snapshot.h"

#define RESULT	 "trial.json"
#define CONTENTS "contents"
#define SNAPSHOT "snapshot"
#define MAGIC	 "\x28\xb5\x2f\xfd" /* the number of zstd: RFC 8878, 3.1.1 */

/* Programs. */

/* gpreempt-ctl status waits 10 s for a holder that is in the driver. */
#define ANSWER_NS (30 * NSEC_PER_SEC)

char *lab_run(char *const *argv, int in, size_t max, size_t *len, int *status)
{
	struct ctl_child p = { .argv = argv, .in = in, .max = max, .end = SIGKILL };
	char *text = NULL;
	ssize_t got = -1;

	*status = ctl_child_start(&p);
	if (!*status)
		*status = ctl_child_wait(&p, ANSWER_NS) ? p.status : -ETIMEDOUT;
	if (*status >= 0 && !lseek(p.out, 0, SEEK_SET))
		got = text_read_all(p.out, max, &text);
	ctl_child_end(&p, SIGKILL, 0);
	*len = got < 0 ? 0 : got;
	return got < 0 ? NULL : text;
}

/* Reading. */

static char *unpack(const char *bytes, size_t len, size_t *out_len)
{
	char *const argv[] = { "tar",	      "--extract",    "--zstd", "--file=-",
			       "--to-stdout", "--occurrence", RESULT,	NULL };
	__cleanup_fd int in = memfd_create("gpreempt-archive", MFD_CLOEXEC);
	char *text = NULL;
	int status = -1;

	if (in >= 0 && write(in, bytes, len) == (ssize_t)len && !lseek(in, 0, SEEK_SET))
		text = lab_run(argv, in, TEXT_WHOLE_MAX, out_len, &status);
	if (!status)
		return text;
	free(text);
	return NULL;
}

int lab_archive_open(const char *name, char **text, size_t *len)
{
	char *result;

	if (*len < strlen(MAGIC) || memcmp(*text, MAGIC, strlen(MAGIC)))
		return 0;
	result = unpack(*text, *len, len);
	if (!result)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "tar and zstd must be here, and the archive one that "
				     "gpreempt-lab trial --archive made",
				     "%s: no result can be read from this archive", name);
	free(*text);
	*text = result;
	return 0;
}

/* Names of this host, its users and its GPU processes. */

/* Kinds of names that tell who one is. */
enum name_kind {
	NAME_HOST, /* in any case, as DNS has it */
	NAME_ADDRESS,
	NAME_USER,
	NAME_PROCESS,
	NAME_COMMAND,
	NAME_CONTAINER,
};

struct name {
	enum name_kind kind;
	char *text;
};

/* All zero before the first one. */
struct names {
	struct name *items;
	size_t count;
};

/* Shorter ones are in any text. */
#define SHORTEST 3
/* Numbers of people, not of services: from FIRST up to the one below LAST. */
#define FIRST_USER 1000
#define LAST_USER  65534

static char *copy_text(const char *text, size_t len, bool lower)
{
	char *copy = shr_must(malloc(len + 1));
	size_t i;

	for (i = 0; i < len; i++)
		copy[i] = lower ? tolower((unsigned char)text[i]) : text[i];
	copy[len] = '\0';
	return copy;
}

static void add_name(struct names *names, enum name_kind kind, const char *text, size_t len)
{
	struct name *name;

	if (len < SHORTEST)
		return;
	name = shr_must(shr_add(names));
	name->kind = kind;
	name->text = copy_text(text, len, kind == NAME_HOST);
}

static void add_text(struct names *names, enum name_kind kind, const char *text)
{
	add_name(names, kind, text, strlen(text));
}

static const char *name_kind(enum name_kind kind)
{
	static const char *const kinds[] = {
		[NAME_HOST] = "the name of this host", [NAME_ADDRESS] = "an address of this host",
		[NAME_USER] = "the name of a user",    [NAME_PROCESS] = "the name of a process",
		[NAME_COMMAND] = "a command line",     [NAME_CONTAINER] = "the name of a container",
	};

	return kinds[kind];
}

/* The whole name, its first part, and its domain. */
static void add_host_name(struct names *names, const char *text)
{
	size_t len = strcspn(text, " \t\n"), first = strcspn(text, ". \t\n");

	/* "(none)" is a host without a name. */
	if ((first == strlen("localhost") && !strncmp(text, "localhost", first)) || *text == '(')
		return;
	add_name(names, NAME_HOST, text, len);
	add_name(names, NAME_HOST, text, first);
	if (first + 1 < len)
		add_name(names, NAME_HOST, text + first + 1, len - first - 1);
}

static void add_hosts(struct names *names)
{
	struct utsname host;
	char text[256];

	uname(&host);
	add_host_name(names, host.nodename);
	if (shr_read_start(text, sizeof(text), HOST_ROOT "/etc/hostname") > 0)
		add_host_name(names, text);
}

static void add_hardware_address(struct names *names, const struct sockaddr_ll *at)
{
	char text[3 * sizeof(at->sll_addr) + 1] = "";
	size_t i;

	for (i = 0; i < at->sll_halen && i < sizeof(at->sll_addr); i++)
		sprintf(text + 3 * i, "%02x:", at->sll_addr[i]);
	if (i)
		add_name(names, NAME_ADDRESS, text, 3 * i - 1);
}

/* 0 or -errno, as of the next two. */
static int add_addresses(struct names *names)
{
	struct ifaddrs *all, *one;
	char text[NI_MAXHOST];

	if (getifaddrs(&all))
		return -errno;
	for (one = all; one; one = one->ifa_next) {
		const struct sockaddr *at = one->ifa_addr;
		size_t size = at && at->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
								sizeof(struct sockaddr_in);

		if (!at || one->ifa_flags & IFF_LOOPBACK)
			continue;
		if (at->sa_family == AF_PACKET)
			add_hardware_address(names, (const void *)at);
		else if (!getnameinfo(at, size, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
			add_name(names, NAME_ADDRESS, text, strcspn(text, "%"));
	}
	freeifaddrs(all);
	return 0;
}

static int add_users(struct names *names)
{
	static const char *const callers[] = { "SUDO_USER", "LOGNAME", "USER" };
	FILE *file = fopen(HOST_ROOT "/etc/passwd", "re");
	const struct passwd *user;
	const char *name;
	size_t i;

	if (!file)
		return -errno;
	while ((user = fgetpwent(file)))
		if (user->pw_uid >= FIRST_USER && user->pw_uid < LAST_USER)
			add_text(names, NAME_USER, user->pw_name);
	fclose(file);
	/* A directory service may have the caller's, and no file. */
	for (i = 0; i < ARRAY_SIZE(callers); i++) {
		name = getenv(callers[i]);
		if (name && strcmp(name, "root"))
			add_text(names, NAME_USER, name);
	}
	return 0;
}

static void add_process(struct names *names, struct gpreempt *g, pid_t pid,
			const struct gpreempt_description *who)
{
	struct gp_container box;

	/* Programs of ours are in each result. */
	if (strncmp(who->comm, "gpreempt", 8)) {
		add_text(names, NAME_PROCESS, who->comm);
		add_text(names, NAME_COMMAND, who->command);
	}
	if (strncmp(who->tracer_comm, "gpreempt", 8))
		add_text(names, NAME_PROCESS, who->tracer_comm);
	if (gp_container(g, pid, &box))
		return;
	add_text(names, NAME_CONTAINER, box.name);
	add_text(names, NAME_CONTAINER, box.id);
	add_text(names, NAME_CONTAINER, box.pod);
}

static int add_processes(struct names *names)
{
	struct gpreempt_targets *list = NULL;
	struct ctl_described *all;
	struct gpreempt *g;
	size_t i;
	int ret;

	/* A host without a GPU has no GPU processes. */
	if (gpreempt_new(NULL, &g))
		return 0;
	ret = gpreempt_processes(g, &list, NULL);
	if (!ret) {
		all = ctl_describe_all(g, list, true);
		for (i = 0; i < list->count; i++) {
			if (all[i].mute)
				ctl_note("process %d does not tell its command line, which is not "
					 "looked for",
					 (int)list->targets[i].pid);
			if (!all[i].code)
				add_process(names, g, list->targets[i].pid, &all[i].who);
		}
		ctl_described_free(all, list);
	}
	gpreempt_list_free(list);
	gpreempt_free(g);
	return ret;
}

/* 0, or the exit status after a message: only with all names it is known that none is there. */
static int find_names(struct names *names)
{
	int ret = add_addresses(names);

	add_hosts(names);
	if (!ret)
		ret = add_users(names);
	if (!ret)
		ret = add_processes(names);
	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "--full makes an archive that may have names",
			     "addresses, users and processes of this host cannot be read: %s",
			     strerror(-ret));
}

static void free_names(struct names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		free(names->items[i].text);
	free(names->items);
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is the name in the text, and not as a part of a longer word? */
static bool has_word(const char *text, size_t len, const char *name)
{
	const char *at = text, *end = text + len;
	size_t n = strlen(name);

	for (; (at = memmem(at, end - at, name, n)); at++)
		if (!(at > text && is_in_word(at[-1]) && is_in_word(*name)) &&
		    !(at + n < end && is_in_word(at[n]) && is_in_word(name[n - 1])))
			return true;
	return false;
}

static const struct name *find_in(const struct names *names, const char *text, size_t len)
{
	__cleanup_free char *lower = copy_text(text, len, true);
	size_t i;

	for (i = 0; i < names->count; i++)
		if (has_word(names->items[i].kind == NAME_HOST ? lower : text, len,
			     names->items[i].text))
			return &names->items[i];
	return NULL;
}

static const struct name *find_in_json(const struct names *names, struct json_object *o)
{
	const struct name *found = NULL;
	size_t i;

	switch (json_object_get_type(o)) {
	case json_type_string:
		return find_in(names, json_object_get_string(o), json_object_get_string_len(o));
	case json_type_array:
		for (i = 0; !found && i < json_object_array_length(o); i++)
			found = find_in_json(names, json_object_array_get_idx(o, i));
		return found;
	case json_type_object:
		break;
	default:
		return NULL;
	}
	/* The keys are gpreempt's own. */
	json_object_object_foreach(o, key, value)
	{
		(void)key;
		found = find_in_json(names, value);
		if (found)
			break;
	}
	return found;
}

/* Making. */

struct work {
	const struct lab_archive *archive;
	char part[PATH_MAX]; /* directory with what goes into it */
	struct names names;
	FILE *contents;
};

static int fail(const char *path, int code)
{
	return ctl_fail_file("archive", path, "cannot be made", code);
}

/* Refuse a file that has a name in it. 0, or the exit status after a message. */
static int check(const struct work *w, const char *name, const char *text, size_t len)
{
	struct json_object *o = strcmp(name, RESULT) ? NULL : json_tokener_parse(text);
	const struct name *found = o ? find_in_json(&w->names, o) : find_in(&w->names, text, len);

	json_object_put(o);
	if (!found)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "change it there, or make an archive that has such names with --full",
			     "%s has %s in it, \"%s\"; nothing was written", name,
			     name_kind(found->kind), found->text);
}

static int add_file(struct work *w, const char *name, const char *text, size_t len)
{
	char path[2 * PATH_MAX], *slash;
	int ret = check(w, name, text, len);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/%s", w->part, name);
	for (slash = path + strlen(w->part); (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return fail(w->archive->path, -errno);
	}
	ret = shr_file_replace(path, 0600, text, len);
	if (w->contents)
		fprintf(w->contents, "%zu %s\n", len, name);
	return ret ? fail(w->archive->path, ret) : 0;
}

/*
 * Add the files below a directory, in which may be one snapshot or several; without names, or all.
 * The first bytes of the path lead to the snapshot.
 */
static int add_tree(struct work *w, const char *below, size_t first)
{
	char path[PATH_MAX], name[PATH_MAX + sizeof(SNAPSHOT)];
	const struct lab_archive *a = w->archive;
	struct dirent *entry;
	struct stat st;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s%s", a->snapshot, below);
	dir = opendir(path);
	if (!dir)
		return text_fail(path, -errno);
	if (ctl_is_snapshot(path))
		first = strlen(below);
	while (!ret && (entry = readdir(dir))) {
		size_t len = 0;
		char *text;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", below, entry->d_name) >=
			    sizeof(path) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode)) {
			ret = add_tree(w, path, first);
			continue;
		}
		if (!S_ISREG(st.st_mode) || !(a->full || snapshot_is_nameless(path + first)))
			continue;
		text = text_read_in(a->snapshot, path + 1, &len);
		snprintf(name, sizeof(name), SNAPSHOT "%s", path);
		ret = text ? add_file(w, name, text, len) : text_fail(path, -errno);
		free(text);
	}
	closedir(dir);
	return ret;
}

/* Write the list of what is inside. */
static int add_contents(struct work *w, char **text, size_t *len)
{
	FILE *done = w->contents;

	w->contents = NULL;
	if (fclose(done))
		abort();
	return add_file(w, CONTENTS, *text, *len);
}

static int fill(struct work *w, const char *text, size_t len)
{
	char place[PATH_MAX + sizeof(SNAPSHOT) + 1], *list = NULL;
	size_t list_len;
	int ret;

	w->contents = shr_must(open_memstream(&list, &list_len));
	fprintf(w->contents,
		"gpreempt-archive - version: 1.0\n# bytes file\n# names of the host, its addresses, "
		"users, containers, processes and command lines: %s\n",
		w->archive->full ? "not looked for" : "none was found");
	ret = add_file(w, RESULT, text, len);
	snprintf(place, sizeof(place), "%s/" SNAPSHOT, w->part);
	if (!ret && w->archive->snapshot)
		ret = mkdir(place, 0700) ? fail(w->archive->path, -errno) : add_tree(w, "", 0);
	if (!ret)
		ret = add_contents(w, &list, &list_len);
	if (w->contents)
		fclose(w->contents);
	free(list);
	return ret;
}

/* Have tar pack the directory into the file of its own name, and take that to its place. */
static int pack(const struct work *w)
{
	char to[PATH_MAX + 16];
	char *const argv[] = { "tar",
			       "--create",
			       "--zstd",
			       "--force-local",
			       "--file",
			       to,
			       "--directory",
			       (char *)w->part,
			       "--owner=0",
			       "--group=0",
			       "--numeric-owner",
			       "--sort=name",
			       CONTENTS,
			       RESULT,
			       w->archive->snapshot ? SNAPSHOT : NULL,
			       NULL };
	int status, code;
	size_t len;

	snprintf(to, sizeof(to), "%s.tar.zst", w->part);
	free(lab_run(argv, -1, TEXT_FILE_MAX, &len, &status));
	if (status) {
		unlink(to);
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "install tar and zstd, and make room",
				     "the archive %s cannot be made by tar", w->archive->path);
	}
	code = chmod(to, 0600) || rename(to, w->archive->path) ? -errno : 0;
	if (code)
		unlink(to);
	return code ? fail(w->archive->path, code) : 0;
}

int lab_archive_make(const struct lab_archive *archive, const char *text, size_t len)
{
	struct work w = { .archive = archive };
	int ret = shr_file_check(archive->path);

	if (ret)
		return fail(archive->path, ret);
	if ((size_t)snprintf(w.part, sizeof(w.part), "%s" CTL_SNAPSHOT_PART "%d", archive->path,
			     (int)getpid()) >= sizeof(w.part))
		return fail(archive->path, -ENAMETOOLONG);
	if (mkdir(w.part, 0700))
		return fail(archive->path, -errno);
	if (!archive->full)
		ret = find_names(&w.names);
	if (!ret)
		ret = fill(&w, text, len);
	if (!ret)
		ret = pack(&w);
	free_names(&w.names);
	snapshot_remove(w.part);
	return ret;
}
