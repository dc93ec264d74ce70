// SPDX-License-Identifier: GPL-2.0-only
/* What the completions of bash and zsh have in common. */
#include "doc/doc.h"

const char *doc_completion(enum ctl_kind kind)
{
	switch (kind) {
	case CTL_DURATION:
	case CTL_LEASE:
		return "times";
	case CTL_IDS:
		return "queues";
	case CTL_GPUS:
		return "gpus";
	case CTL_FILE:
		return "files";
	case CTL_ROLE:
		return "targets";
	default:
		return "";
	}
}

const char *doc_words_completion(enum ctl_words_kind words)
{
	switch (words) {
	case CTL_TARGETS:
		return "targets";
	case CTL_FILES:
		return "files";
	default:
		return "";
	}
}
