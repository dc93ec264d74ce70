// SPDX-License-Identifier: GPL-2.0-only
/* The processes that one word names now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guard/finder.h"
#include "shared/macro.h"

#define CONTAINER "container:"
#define SHOWN_ID  12 /* digits, as docker ps shows them */

bool guard_word_is_slow(const char *word)
{
	return !strncmp(word, CONTAINER, strlen(CONTAINER)) ||
	       gpreempt_select_reads_memory(word);
}

/* Cut off at the end of the text, not in the middle of a container. */
static void add_text(struct guard_finding *out, const char *text)
{
	size_t used = strlen(out->text);

	if (used + strlen(text) < sizeof(out->text))
		strcpy(out->text + used, text);
}

/*
 * List the processes of all containers of that name, or whose id begins with
 * it. The names themselves are not printed: processes chose them.
 */
static void list_containers(struct gpreempt *g, const char *name,
			    struct guard_finding *out)
{
	struct gpreempt_targets *all;
	struct gpreempt_container c;
	char text[96];
	size_t i;

	if (gpreempt_processes(g, &all, NULL))
		return;
	for (i = 0; i < all->count && out->n < GUARD_FOUND_MAX; i++) {
		pid_t pid = all->targets[i].pid;

		if (gpreempt_container(g, pid, &c) ||
		    (strcmp(c.name, name) && strncmp(c.id, name, strlen(name))))
			continue;
		out->target[out->n++] = all->targets[i];
		snprintf(text, sizeof(text), "%s%.*s (process %d)",
			 out->n > 1 ? ", " : "", SHOWN_ID, c.id, pid);
		add_text(out, text);
	}
	gpreempt_targets_free(all);
}

static void note_error(struct gpreempt *g, const char *word,
		       const struct gpreempt_error *err,
		       struct guard_finding *out)
{
	out->code = err->code ? err->code : -EIO;
	/* Several names, or several beginnings of an id. */
	if (out->code != -ENOTUNIQ && out->code != -EEXIST) {
		gpreempt_error_text(err, out->text, sizeof(out->text));
		return;
	}
	out->code = -EEXIST;
	add_text(out, "that is the name of several containers, none of which "
		      "is taken; name one by its cgroup: ");
	list_containers(g, word + strlen(CONTAINER), out);
}

void guard_find_word(struct gpreempt *g, const char *word,
		     struct hold_owners *owners, struct guard_finding *out)
{
	struct gpreempt_targets *targets;
	struct gpreempt_error err = { 0 };

	out->code = 0;
	out->n = 0;
	out->text[0] = '\0';
	if (gpreempt_select(g, &word, 1, hold_skip_owner, owners, &targets,
			    &err)) {
		if (gpreempt_error_class(&err) != GPREEMPT_CLASS_NO_TARGET)
			note_error(g, word, &err, out);
		return;
	}
	out->n = targets->count < GUARD_FOUND_MAX ? targets->count :
						    GUARD_FOUND_MAX;
	memcpy(out->target, targets->targets, out->n * sizeof(*out->target));
	gpreempt_targets_free(targets);
}
