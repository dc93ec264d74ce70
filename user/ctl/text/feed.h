/* SPDX-License-Identifier: GPL-2.0-only */
/* Files into a text that is not joined yet; what is no text is refused. */
#ifndef CTL_TEXT_FEED_H
#define CTL_TEXT_FEED_H

#include "ctl/text/load.h"

/* Each gives 0, or the exit status after saying why not. */
int text_feed_fd(struct ctl_text *out, const char *path, int fd);
/* "-" is stdin. */
int text_feed_path(struct ctl_text *out, const char *path);
/* A file in a directory; one that is not there is left out. */
int text_feed_in(struct ctl_text *out, const char *dir, const char *name);

/* Say what went wrong with a file; @err is -errno. The exit status. */
int text_fail(const char *path, int err);

#endif
