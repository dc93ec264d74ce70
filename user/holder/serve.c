// SPDX-License-Identifier: GPL-2.0-only
/* Commands come to the holder through its socket. */
#include "holder/worker.h"

/*
 * One request for each connection. Only root gets into the directory, and the
 * server answers only the user of this process, which is root.
 */
static size_t answer(void *data, struct ipc_client *client, char *buf,
		     size_t len)
{
	struct hold_worker *w = data;
	struct hold_request request;
	struct hold_reply reply = { 0 };

	(void)client;
	/*
	 * Another command of the same moment has ended the hold. This one sees the
	 * end of the connection: then a resume is done, and a suspend begins again.
	 */
	if (w->over)
		return 0;
	if (gp_hold_get_request(buf, len, &request))
		return IPC_UNKNOWN;
	hold_answer(w, &request, &reply);
	return gp_hold_put_reply(&reply, buf);
}

int hold_listen(struct hold_worker *w)
{
	struct ipc_server_options options = {
		.path = w->socket,
		.limits = { .places = HOLD_CLIENTS },
		/* We have the lock of the target. */
		.locked = true,
		.one_request = true,
		.answer = answer,
		.data = w,
	};

	gp_hold_socket_path(w->birth->target, w->socket, sizeof(w->socket));
	return gp_ipc_server_start(&options, &w->server);
}
