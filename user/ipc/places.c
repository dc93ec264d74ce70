// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "ipc/server.h"

#define ANY_USER ((uid_t)-1)

static size_t count_of(const struct ipc_place *places, size_t n, uid_t uid)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += places[i].used && places[i].uid == uid;
	return count;
}

static int longest_idle(const struct ipc_place *places, size_t n, uid_t uid)
{
	int found = -EUSERS;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!places[i].used || places[i].busy || (uid != ANY_USER && places[i].uid != uid))
			continue;
		if (found < 0 || places[i].last_ns < places[found].last_ns)
			found = i;
	}
	return found;
}

/* The user with the most places that could lose one; @uid if there is none. */
static uid_t heaviest_user(const struct ipc_place *places, size_t n, uid_t uid)
{
	size_t most = count_of(places, n, uid), i;
	uid_t heaviest = uid;

	for (i = 0; i < n; i++) {
		size_t count;

		if (!places[i].used || places[i].busy || !places[i].uid)
			continue;
		count = count_of(places, n, places[i].uid);
		if (count > most) {
			most = count;
			heaviest = places[i].uid;
		}
	}
	return heaviest;
}

int gp_ipc_place_find(const struct ipc_place *places, const struct ipc_limits *limits, uid_t uid)
{
	size_t n = limits->places, used = 0, root, i;

	for (i = 0; i < n; i++)
		used += places[i].used;
	root = count_of(places, n, 0);
	if (uid) {
		if (count_of(places, n, uid) >= limits->per_user)
			return longest_idle(places, n, uid);
		if (used - root >= n - limits->for_root)
			return longest_idle(places, n, heaviest_user(places, n, uid));
	}
	for (i = 0; i < n; i++)
		if (!places[i].used)
			return i;
	return longest_idle(places, n, ANY_USER);
}
