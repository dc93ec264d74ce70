/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgpreempt: explicit requests to "gpreempt-ctl guard", for servers that know
 * when their work begins and ends.
 *
 * One thread at a time for each connection.
 *
 * A guard that was restarted: the connection is opened again by the next
 * gpreempt_online_begin() or gpreempt_online_end(), and what was open here is
 * open there, too. Until that call the new guard does not know of it.
 */
#ifndef GPREEMPT_ONLINE_H
#define GPREEMPT_ONLINE_H

#include <gpreempt/core.h>

GPREEMPT_BEGIN_DECLS

/** struct gpreempt_online - a connection to guard */
struct gpreempt_online;

/** GPREEMPT_ONLINE_TIMEOUT_NS - the time limit if none is given: 1 s */
#define GPREEMPT_ONLINE_TIMEOUT_NS 1000000000ULL

/**
 * struct gpreempt_online_options - how to ask
 * @size: sizeof(struct gpreempt_online_options)
 * @timeout_ns: the longest time that one call of a function here takes, also
 *	when guard does not run for a while; 0: GPREEMPT_ONLINE_TIMEOUT_NS
 * @pid: the process that works; 0: the caller. Requests for another process
 *	stay open when the connection is closed, and end with that process; they
 *	are not opened again when guard was restarted. A user may ask for its
 *	own processes, root for all.
 */
struct gpreempt_online_options {
	size_t size;
	uint64_t timeout_ns;
	pid_t pid;
};

/**
 * gpreempt_online_open() - connect to the guard of this host
 * @options: or NULL
 * @out: gets the connection, for gpreempt_online_close()
 *
 * Root may connect, and the users of guard's --allow-uid. Any thread.
 *
 * Return: 0, -ENOENT or -ECONNREFUSED when no guard runs, -EACCES when the
 * user may not ask, -ETIMEDOUT, -ENOMEM, -EINVAL or -E2BIG for @options that are
 * none of this library's, another negative errno value.
 */
int gpreempt_online_open(const struct gpreempt_online_options *options,
			 struct gpreempt_online **out);

/**
 * gpreempt_online_begin() - online work begins
 * @online: connection
 *
 * From now on offline work is off the GPUs of this process, if guard knows it as online, or of
 * all GPUs; for as long as --max-hold allows. This returns when guard has noted it: suspending
 * takes a moment longer. May be nested. A process that ends has ended its requests. When it
 * fails the request is not open, so it has no gpreempt_online_end(); those that were open stay
 * open. One thread at a time.
 *
 * Return: number of requests that are open now; -ETIMEDOUT when guard did not
 * answer in time; -ECONNRESET when it ended meanwhile; -ENOENT or
 * -ECONNREFUSED when it has ended and no other one runs; -EACCES when it does
 * not allow this user; -EUSERS when it has too many connections, or too many of
 * this user; -EPROTO when it is of another version; another negative errno value.
 */
int gpreempt_online_begin(struct gpreempt_online *online);

/**
 * gpreempt_online_end() - it ends
 * @online: connection
 *
 * Whatever this returns but -EINVAL, one request less is open. One thread at a time.
 *
 * Return: number of requests that are open now; -EINVAL: none was open;
 * otherwise as begin, and guard may not know yet.
 */
int gpreempt_online_end(struct gpreempt_online *online);

/**
 * gpreempt_online_close() - end all requests of the caller
 * @online: connection, or NULL
 *
 * One thread at a time.
 */
void gpreempt_online_close(struct gpreempt_online *online);

GPREEMPT_END_DECLS

#endif
