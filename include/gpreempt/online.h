/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgpreempt: explicit requests to "gpreempt-ctl guard", for servers that know
 * when their work begins and ends.
 *
 * One thread at a time for each connection.
 */
#ifndef GPREEMPT_ONLINE_H
#define GPREEMPT_ONLINE_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** struct gpreempt_online - a connection to the guard */
struct gpreempt_online;

/**
 * gpreempt_online_open() - connect to the guard of this host
 * @out: gets the connection, for gpreempt_online_close()
 *
 * Root may, and those that the guard was told to allow (--allow-uid). Any
 * thread.
 *
 * Return: 0, -ENOENT or -ECONNREFUSED when no guard runs, -EACCES, -ENOMEM,
 * another negative errno value.
 */
int gpreempt_online_open(struct gpreempt_online **out);

/**
 * gpreempt_online_begin() - online work begins
 * @online: connection
 *
 * From now on offline work is off the GPUs of this process, if the guard knows
 * it as online, or of all GPUs; for as long as --max-hold allows. It returns
 * when the guard has taken note: suspending takes a moment longer. May be
 * nested. A process that ends has ended its requests. One thread at a time.
 *
 * Return: number of requests that are open on this connection, -ECONNRESET
 * when the guard is gone or does not allow it, another negative errno value.
 */
int gpreempt_online_begin(struct gpreempt_online *online);

/**
 * gpreempt_online_end() - it ends
 * @online: connection
 *
 * One thread at a time.
 *
 * Return: as begin; -EINVAL: none was open.
 */
int gpreempt_online_end(struct gpreempt_online *online);

/**
 * gpreempt_online_close() - end all requests
 * @online: connection, or NULL
 *
 * One thread at a time.
 */
void gpreempt_online_close(struct gpreempt_online *online);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
