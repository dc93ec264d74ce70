/* SPDX-License-Identifier: GPL-2.0-only */
/* Text that has queue ids and no slots: monitor --csv, and a snapshot's sysfs. */
#ifndef CTL_TEXT_IDS_H
#define CTL_TEXT_IDS_H

#include "ctl/text/load.h"

/* So many bytes tell what monitor --csv wrote. */
#define IDS_CSV_BEGIN 4

struct ids_problems {
	uint64_t count;
	uint64_t first; /* line of the first one */
};

bool ids_is_csv(const char *begin, size_t len);
/* The text is cut up. -EINVAL: it has no columns with pid and ids. */
int ids_read_csv(struct ctl_text *out, char *text, struct ids_problems *bad);

/* "pid qid gpu_id ..." a line; what is none is skipped. */
void ids_read_sysfs(struct ctl_text *out, char *text);

#endif
