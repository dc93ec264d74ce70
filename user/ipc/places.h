/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who gets one of a limited number of places. Pure. */
#ifndef IPC_PLACES_H
#define IPC_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ipc_place {
	bool used;
	bool busy; /* it would be missed: never taken away */
	uid_t uid;
	uint64_t last_ns; /* when it was last used */
};

struct ipc_limits {
	size_t places;
	size_t for_root; /* of these, root's alone */
	size_t per_user; /* at most, of a user that is not root */
};

/*
 * Return: the number of a place for @uid, or -EUSERS. One that is used has to
 * be freed first: the longest idle one of the same user when that user has as
 * many as it may have, else of the user with the most of them.
 */
int gp_ipc_place_find(const struct ipc_place *places,
		      const struct ipc_limits *limits, uid_t uid);

#endif
