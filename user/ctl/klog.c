// SPDX-License-Identifier: GPL-2.0-only
/* Reader of the kernel's log: prefixes of lines, messages of the driver, and what they mean. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/core.h>

#include "klog.h"

/* Meaning of a message beside its event. */
enum meaning {
	NOTHING,
	LOST,	/* a preemption failed */
	AFTER,	/* comes after such a line; one alone counts as that line, which is missing */
	SILENT, /* the firmware did not answer something else */
	BEGIN,	/* a reset begins */
	RESET,	/* ended well */
	QRESET, /* the same, of some queues alone */
	BAD,	/* a reset that failed */
	FAULT,
	NAMED, /* the next line may name the process */
};

/*
 * Messages of amdgpu and KFD of Linux 5 to 7.2, by a part of their text; the first one that fits
 * is taken. "*" is any text; "%p" a PID, "%a" a PASID, "%w" one of them with its name, "%q" a
 * queue's id, "%d" a doorbell, each decimal or with 0x; "%x" a doorbell without it; "|" the end
 * of a word. From kfd_*.c, amdgpu_amdkfd_gfx_v*.c, mes_v*.c (opcodes: mes_v11_api_def.h),
 * gmc_v*.c, amdgpu_device.c, amdgpu_job.c, drm_drv.c.
 */
static const struct kind {
	enum meaning meaning;
	const char *event, *text;
} kinds[] = {
	/* clang-format off */
	{ LOST, "preemption-failed", "Queue preemption failed for queue with doorbell_id: %x" },
	{ LOST, "preemption-failed", "queue_doorbell_id0 is not 0, Queue preemption time out" },
	{ LOST, "preemption-failed", "qcm fence wait loop timeout expired" },
	{ LOST, "preemption-failed", "cp queue preemption time out" },
	{ LOST, "preemption-failed", "cp queue pipe*preemption failed" },
	{ LOST, "preemption-failed", "SDMA RLC not idle" },
	{ LOST, "preemption-failed", "failed to respond to msg=REMOVE_QUEUE|" },
	{ LOST, "preemption-failed", "failed to respond to msg=SUSPEND|" },
	{ LOST, "preemption-failed", "failed to respon*msg=3|" },
	{ LOST, "preemption-failed", "failed to respon*msg=6|" },
	{ SILENT, "no-answer", "failed to respon*msg=" },
	{ AFTER, "unrecoverable", "unsuccessful queues preemption" },
	{ AFTER, "unrecoverable", "MES might be in unrecoverable state" },
	{ AFTER, "not-removed", "failed to remove*queue from MES, doorbell=%d" },
	{ AFTER, "not-removed", "Failed to remove queue %q" },
	{ AFTER, "suspend-failed", "failed to suspend*gangs" },
	{ AFTER, "suspend-failed", "Suspending all queues failed" },
	{ AFTER, "suspend-failed", "Failed to suspend process queues" },
	{ AFTER, "suspend-failed", "Failed to suspend process pid %p" },
	{ AFTER, "suspend-failed", "Failed to suspend process %a" },
	{ AFTER, "evict-failed", "Failed to evict queues of %w" },
	{ AFTER, "evict-failed", "Failed to evict queue %q" },
	{ AFTER, "evict-failed", "Failed to evict process queues" },
	{ AFTER, "evict-failed", "Evicting process queues failed" },
	{ AFTER, "evict-failed", "Failed to quiesce KFD" },
	{ NOTHING, "restore-failed", "Failed to restore queues of %w" },
	{ NOTHING, "restore-failed", "Failed to restore queues" },
	{ NOTHING, "restore-failed", "Failed to restore queue %q" },
	{ NOTHING, "restore-failed", "Failed to restore process queues" },
	{ NOTHING, "restore-failed", "Restore process pid %p failed" },
	{ NOTHING, "restore-failed", "Restore process*failed during resume" },
	{ NOTHING, "restore-failed", "Failed to resume" },
	{ NOTHING, "restore-failed", "Resuming all queues failed" },
	{ NOTHING, "evicted", "Finished evicting %w" },
	{ NOTHING, "evicting", "victing %w" },
	{ NOTHING, "restored", "Finished restoring %w" },
	{ NOTHING, "restoring", "estoring %w" },
	{ NOTHING, "buffer-freed", "Freeing queue vital buffer" },
	{ NOTHING, "create-failed", "failed to add hardware queue to MES, doorbell=%d" },
	{ NOTHING, "create-failed", "asid %a DQM create queue*failed" },
	{ NOTHING, "create-failed", "process pid %p DQM create queue*failed" },
	{ NOTHING, "create-failed", "DQM create queue*failed" },
	{ NOTHING, "create-failed", "Cannot open more queues for process with %w" },
	{ NOTHING, "create-failed", "create new usermode queue because" },
	{ NOTHING, "create-failed", "SDMA queue to allocate" },
	{ NOTHING, "oversubscribed", "unlist is getting oversubscribed" },
	{ BEGIN, "reset-begin", "GPU reset begin" },
	{ RESET, "reset-done", "GPU reset(*) succeeded" },
	{ BAD, "reset-failed", "GPU reset(*) failed" },
	{ BAD, "reset-failed", "GPU Recovery Failed" },
	{ BAD, "reset-failed", "device wedged, needs recovery" },
	{ BAD, "device-lost", "device lost from bus" },
	{ QRESET, "queue-reset", "queue id %q at pasid %a is reset" },
	{ QRESET, "queue-reset", "queue id %q at process pid %p is reset" },
	{ QRESET, "queue-reset", "Queues reset on process * tid %p thread" },
	{ FAULT, "page-fault", "page fault (*pasid:%a, for process * pid %p thread" },
	{ NAMED, "page-fault", "page fault (*pasid:%a" },
	{ NOTHING, "wave-error", "sq_intr: error" },
	{ NOTHING, "exception", "Process pid %p got unhandled exception" },
	{ NOTHING, "exception", "Process %p*got unhandled exception" },
	{ NOTHING, "exception", "Sending SIG* to process pid %p" },
	{ NOTHING, "exception", "Sending SIG* to process %p" },
	{ NOTHING, "exception", "Send SIGBUS to process *pasid:%a" },
	{ NOTHING, "ring-timeout", "ring*timeout, but soft recovered" },
	{ NAMED, "ring-timeout", "ring*timeout, signaled seq" },
	/* clang-format on */
};

/* Read a number of up to 32 bits. One that is cut off or too large stays unknown. */
static const char *take_number(const char *at, bool hex, int64_t *out)
{
	unsigned long long value;
	char *end;

	hex |= !strncmp(at, "0x", 2);
	if (hex ? !isxdigit((unsigned char)*at) : !isdigit((unsigned char)*at))
		return at;
	value = strtoull(at, &end, hex ? 16 : 10);
	if (value <= UINT32_MAX)
		*out = value;
	return end;
}

/* Read what the letter of a pattern means. Returns the text behind it; NULL: it is another one. */
static const char *take_value(const char *at, char letter, struct klog_event *e)
{
	switch (letter) {
	case 'p':
		return take_number(at, false, &e->pid);
	case 'a':
		return take_number(at, false, &e->pasid);
	case 'q':
		return take_number(at, false, &e->queue);
	case 'w':
		if (!strncasecmp(at, "pasid ", 6))
			return take_number(at + 6, false, &e->pasid);
		at += strncmp(at, "process ", 8) ? 0 : 8;
		/* Linux 7 calls one of its PIDs a PASID. */
		if (!strncmp(at, "pasid ", 6))
			return at;
		return strncmp(at, "pid ", 4) ? NULL : take_number(at + 4, false, &e->pid);
	default:
		return take_number(at, letter == 'x', &e->doorbell);
	}
}

/* Find the literal text that the pattern begins with. */
static const char *find_literal(const char *text, const char *pattern)
{
	return memmem(text, strlen(text), pattern, strcspn(pattern, "*%|"));
}

/* Does the text go on like the pattern? Fill in the numbers of the event. */
static bool goes_on(const char *text, const char *pattern, struct klog_event *e)
{
	for (; text && *pattern; pattern++) {
		if (*pattern == '*')
			text = find_literal(text, pattern + 1);
		else if (*pattern == '%')
			text = take_value(text, *++pattern, e);
		else if (*pattern == '|' ? isalnum((unsigned char)*text) || *text == '_' :
					   *text++ != *pattern)
			return false;
	}
	/* A process may call itself "pid 1 thread x": then which one it was is not known. */
	if (text && (strstr(text, " thread ") || !e->pid))
		e->pid = GPREEMPT_UNKNOWN;
	return text;
}

/* Is the pattern somewhere in the text? */
static bool matches(const char *text, const char *pattern, struct klog_event *e)
{
	const struct klog_event before = *e;

	while ((text = find_literal(text, pattern))) {
		if (goes_on(text, pattern, e))
			return true;
		*e = before;
		text++;
	}
	return false;
}

/* Times from a failure to the beginning of its reset (9 s of the driver, and some), and to more. */
#define RESET_US 30000000
#define XCC_US	 100000

/* Do both times since boot exist, with no more than that between them? */
static bool is_soon(const struct klog_time *before, const struct klog_time *now, int64_t us)
{
	return before->us >= 0 && now->us >= before->us && now->us - before->us < us;
}

static struct klog_gpu *gpu_of(struct klog *k, const char *gpu)
{
	size_t i;

	for (i = 0; i <= k->n_gpus; i++)
		if (!strcmp(k->gpus[i].gpu, gpu))
			return &k->gpus[i];
	if (k->n_gpus == KLOG_GPUS)
		return k->gpus;
	strcpy(k->gpus[++k->n_gpus].gpu, gpu);
	return &k->gpus[k->n_gpus];
}

static void count_lost(struct klog_gpu *gpu, const struct klog_time *when)
{
	gpu->lost++;
	gpu->open = true;
	gpu->last_lost = *when;
}

/*
 * Count a line that follows from a failure, unless the failure has counted. Older drivers name
 * the GPU in some of the lines only: the first one that does takes the failure over.
 */
static void count_following(struct klog *k, struct klog_gpu *gpu, const struct klog_time *when)
{
	struct klog_gpu *unnamed = k->gpus;
	bool open = gpu->open;
	size_t i;

	for (i = 1; gpu == unnamed && i <= k->n_gpus; i++)
		open |= k->gpus[i].open;
	if (open)
		return;
	if (unnamed->open) {
		unnamed->open = false;
		unnamed->lost--;
		when = &unnamed->last_lost;
	}
	count_lost(gpu, when);
}

static void count_meaning(struct klog *k, const struct klog_event *e, enum meaning meaning)
{
	struct klog_gpu *gpu = gpu_of(k, e->gpu);

	switch (meaning) {
	case LOST:
		/* One queue that did not go is reported for each XCC. */
		if (e->doorbell == GPREEMPT_UNKNOWN || e->doorbell != gpu->doorbell ||
		    !is_soon(&gpu->last_lost, &e->last, XCC_US))
			count_lost(gpu, &e->last);
		gpu->doorbell = e->doorbell;
		break;
	case AFTER:
		count_following(k, gpu, &e->last);
		break;
	case SILENT:
		gpu->silent++;
		break;
	case BEGIN:
		gpu->resetting = true;
		/* Behind a failure without a GPU the driver resets the GPU at once. */
		if (k->gpus->open && is_soon(&k->gpus->last_lost, &e->last, RESET_US))
			count_following(k, gpu, &e->last);
		break;
	case RESET:
		/* A failure without a GPU made the driver reset one: this. */
		k->gpus->open = false;
		/* fall through */
	case QRESET:
		gpu->resets++;
		gpu->open = gpu->dead = gpu->resetting = false;
		gpu->last_reset = e->last;
		break;
	case BAD:
		gpu->bad_resets++;
		gpu->dead = true;
		gpu->resetting = false;
		break;
	case FAULT:
	case NAMED:
		gpu->page_faults += !strcmp(e->event, "page-fault");
		break;
	case NOTHING:
		break;
	}
}

/* Is that GPU in a reset? A line that names none may be about any. */
static bool is_resetting(const struct klog *k, const char *gpu)
{
	size_t i;

	for (i = 0; i <= k->n_gpus; i++)
		if (k->gpus[i].resetting && (!*gpu || !strcmp(k->gpus[i].gpu, gpu)))
			return true;
	return false;
}

static bool same_event(const struct klog_event *a, const struct klog_event *b)
{
	return !strcmp(a->event, b->event) && !strcmp(a->gpu, b->gpu) && a->pid == b->pid &&
	       a->pasid == b->pasid && a->queue == b->queue && a->doorbell == b->doorbell;
}

static void add_event(struct klog *k, const struct klog_event *e)
{
	struct klog_event *row;
	size_t i;

	/* The newest rows first: lines come in bursts. */
	for (i = k->events.count; i--;) {
		row = &k->events.items[i];
		if (same_event(row, e)) {
			row->count++;
			row->last = e->last;
			return;
		}
	}
	if (k->events.count < KLOG_MAX)
		*(struct klog_event *)shr_must(shr_add(&k->events)) = *e;
	else
		k->left_out++;
}

/* Add the line that waited for its process. */
static void add_held(struct klog *k)
{
	if (k->held.count)
		add_event(k, &k->held);
	k->held.count = 0;
}

/* Take a message of the driver; @e has its GPU, time and line. */
static void take_message(struct klog *k, const char *message, struct klog_event *e)
{
	enum meaning meaning;
	size_t i;

	k->driver_lines++;
	e->pid = e->pasid = e->queue = e->doorbell = GPREEMPT_UNKNOWN;
	e->count = 1;
	if (k->held.count && !strcmp(k->held.gpu, e->gpu) &&
	    matches(message, "rocess * pid %p thread", e)) {
		k->held.pid = e->pid;
		add_held(k);
		return;
	}
	add_held(k);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (matches(message, kinds[i].text, e))
			break;
	if (i == ARRAY_SIZE(kinds))
		return;
	meaning = kinds[i].meaning;
	e->event = kinds[i].event;
	/* A reset takes the kernel's own queues down, too, from what does not answer any more. */
	if (meaning == LOST && is_resetting(k, e->gpu)) {
		meaning = SILENT;
		e->event = "no-answer";
	}
	count_meaning(k, e, meaning);
	if (meaning == NAMED)
		k->held = *e;
	else
		add_event(k, e);
}

/* Prefixes. */

/* Length of the address of a device, "0000:05:00.0:", here; or 0. */
static size_t address_at(const char *at)
{
	size_t len = strspn(at, "0123456789abcdef:.");

	if (len < 2 || len > KLOG_GPU || at[len - 1] != ':')
		return 0;
	return memchr(at, '.', len) && memchr(at, ':', len - 1) ? len : 0;
}

/* The address before a name of the driver: "vgpu 0001:00:00.0: amdgpu: ", or NULL. */
static const char *address_before(const char *text, const char *driver)
{
	const char *at;

	if (driver < text + 2 || driver[-1] != ' ')
		return NULL;
	for (at = driver - 1; at > text && at[-1] != ' ';)
		at--;
	return address_at(at) && at + address_at(at) == driver - 1 ? at : NULL;
}

/* Find where the message of a driver begins, behind the kernel's mark or at a name of it. */
static const char *find_driver(const char *text, bool sure)
{
	static const char *const names[] = { "amdgpu: ", "amdgpu ",   "amdkfd: ",
					     "kfd: ",	 "kfd kfd: ", "[drm" };
	const char *first = NULL, *at;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		at = strstr(text, names[i]);
		if (at && (!first || at < first))
			first = at;
	}
	if (!first)
		return NULL;
	/* "python[12]: amdgpu: ..." is a program's line; "kern  :err   : " is dmesg -x's. */
	if (!sure && first >= text + 2 && !strncmp(first - 2, ": ", 2) &&
	    !(first >= text + 3 && first[-3] == ' ') && !address_before(text, first))
		return NULL;
	return first == text || strchr(" \t];>|`", first[-1]) ? first : NULL;
}

/* "amdgpu 0000:05:00.0: ", or that of a device of another name that amdgpu drives. */
static void take_gpu(const char *text, const char *driver, char *gpu)
{
	bool own = !strncmp(driver, "amdgpu ", strlen("amdgpu "));
	const char *at = own ? driver + strlen("amdgpu ") : address_before(text, driver);
	size_t len = at ? address_at(at) : 0;

	if (len)
		snprintf(gpu, KLOG_GPU, "%.*s", (int)len - 1, at);
}

static void trim(char **at, char *end)
{
	while (end > *at && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	*at += strspn(*at, " \t>|`");
}

/*
 * Take the time out of what stands before a message: "[  950.818166]", "[Tue Sep 10 09:37:08
 * 2024]", "[  +0.000388]" of dmesg -H, "Aug 05 09:01:44.316994 host kernel:". A month's name is
 * not looked at.
 */
static void take_time(struct klog *k, char *prefix, struct klog_time *when)
{
	char *host, *open, *close, *text = prefix;
	unsigned long long s, us;

	for (open = prefix; (open = strchr(open, '[')); open++)
		/* A sign would be one of a difference. */
		if (!strchr("+-", open[1 + strspn(open + 1, " ")]) &&
		    sscanf(open, "[%llu.%6llu", &s, &us) == 2 && s < UINT32_MAX) {
			when->us = s * 1000000 + us;
			break;
		}
	host = strstr(prefix, " kernel");
	if (host)
		while (host > prefix && host[-1] != ' ')
			host--;
	trim(&text, host ? host : prefix + strlen(prefix));
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (when->us != GPREEMPT_UNKNOWN && (close || !*text)) {
		snprintf(when->text, KLOG_TIME, "%llu.%06llu", s, us);
		return;
	}
	if (close) {
		text = open + 1;
		trim(&text, close);
	}
	if (*text == '+')
		text = k->before;
	snprintf(when->text, KLOG_TIME, "%s", text);
	snprintf(k->before, KLOG_TIME, "%s", when->text);
}

/* Remove what colours the text on a terminal. */
static void uncolour(char *line)
{
	char *to = strchr(line, '\033'), *from = to;

	while (from && *from) {
		if (!strncmp(from, "\033[", 2)) {
			from += 2 + strspn(from + 2, "0123456789;");
			from += *from != '\0';
		} else {
			*to++ = *from++;
		}
	}
	if (to)
		*to = '\0';
}

/* The kernel begins: all GPUs were reset. */
static void take_boot(struct klog *k)
{
	size_t i;

	add_held(k);
	for (i = 0; i <= k->n_gpus; i++)
		k->gpus[i].open = k->gpus[i].dead = k->gpus[i].resetting = false;
}

static void take_line(struct klog *k, char *line)
{
	struct klog_event e = { .line = ++k->lines, .last.us = GPREEMPT_UNKNOWN };
	const char *boot = strstr(line, "Linux version "), *kernel, *driver;
	unsigned long long us;
	int level = 0, body = 0, skip = 0;

	/* Most lines are of others. */
	if (!boot && !strstr(line, "amdgpu") && !strstr(line, "kfd"))
		return;
	uncolour(line);
	line += strspn(line, " \t>|`");
	/* /dev/kmsg's own form, and dmesg --raw. */
	if (sscanf(line, "%d,%*u,%llu,%*[^;];%n", &level, &us, &body) == 2 && body) {
		e.last.us = us < 1ULL << 52 ? (int64_t)us : GPREEMPT_UNKNOWN;
		snprintf(e.last.text, KLOG_TIME, "%llu.%06llu", us / 1000000, us % 1000000);
	} else {
		body = level = 0;
		if (sscanf(line, "<%d>%n", &level, &skip) == 1 && skip)
			line += skip - 1;
	}
	/* Above its level a line has a facility: not 0, the kernel's own. */
	if (level & ~7)
		return;
	/* A journal has the program before the first colon with a blank. */
	kernel = body ? line + body : strstr(line, " kernel: ");
	if (kernel && !body && strstr(line, ": ") != kernel + strlen(" kernel"))
		return;
	if (boot && (kernel || strstr(line, "] Linux version ")))
		take_boot(k);
	driver = find_driver(kernel ?: line, kernel);
	if (!driver)
		return;
	take_gpu(kernel ?: line, driver, e.gpu);
	if (!body) {
		char prefix[128];

		snprintf(prefix, sizeof(prefix), "%.*s", (int)(driver - line), line);
		take_time(k, prefix, &e.last);
	}
	e.first = e.last;
	take_message(k, driver, &e);
}

void klog_feed(struct klog *k, const char *data, size_t len)
{
	const char *end = data + len, *stop;
	size_t room;

	for (; data < end; data = stop + 1) {
		stop = memchr(data, '\n', end - data) ?: end;
		room = KLOG_LINE - 1 - k->carried;
		len = (size_t)(stop - data) < room ? (size_t)(stop - data) : room;
		memcpy(k->carry + k->carried, data, len);
		k->carried += len;
		if (stop == end)
			return;
		k->carry[k->carried] = '\0';
		k->carried = 0;
		take_line(k, k->carry);
	}
}

void klog_end(struct klog *k)
{
	if (k->carried)
		klog_feed(k, "\n", 1);
	add_held(k);
}

void klog_free(struct klog *k)
{
	free(k->events.items);
}

/* A time that has only digits is one since boot. */
static const char *unit_of(const char *time)
{
	return time[strspn(time, "0123456789.")] ? "" : " s after boot";
}

bool klog_text(const struct klog_gpu *gpu, char *buf, size_t size)
{
	const char *when = *gpu->last_lost.text ? gpu->last_lost.text : "a time that is not known";
	const char *then = gpu->dead ?
				   "its last reset failed: boot again before you suspend there" :
			   gpu->open ? "it was not reset since: suspend is not safe there" :
				       "it was reset since: a suspend may fail there again";
	int64_t n = gpu->lost ? gpu->lost : gpu->silent;
	int at = snprintf(buf, size, *gpu->gpu ? "GPU %s: " : "a GPU: ", gpu->gpu);

	if (gpu->lost)
		snprintf(buf + at, size - at, "preemption failed %lld time%s, the last at %s%s; %s",
			 (long long)n, n == 1 ? "" : "s", when, unit_of(when), then);
	else if (gpu->dead)
		snprintf(buf + at, size - at, "%s", then);
	else if (gpu->silent)
		snprintf(buf + at, size - at, "the firmware did not answer the driver %lld time%s",
			 (long long)n, n == 1 ? "" : "s");
	else
		*buf = '\0';
	return *buf;
}

/* The running kernel's log. */

#define LIVE_BYTES (16 << 20)
#define LIVE_NS	   (250 * NSEC_PER_MSEC)

int klog_open(void)
{
	int fd = open(HOST_ROOT "/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

ssize_t klog_record(int fd, char *buf, size_t size)
{
	ssize_t n;

	/* EPIPE: records were lost, the next one is there. */
	do
		n = read(fd, buf, size - 1);
	while (n < 0 && (errno == EPIPE || errno == EINTR));
	buf[n > 0 ? n : 0] = '\0';
	return n >= 0 ? n : errno == EAGAIN ? 0 : -errno;
}

int klog_rest(int fd, struct klog *k)
{
	uint64_t end = shr_now_ns() + LIVE_NS;
	char record[8192];
	ssize_t n = fd < 0 ? fd : 1;
	size_t left = LIVE_BYTES;

	while (n > 0 && left > (size_t)n && shr_now_ns() < end) {
		n = klog_record(fd, record, sizeof(record));
		if (n > 0)
			klog_feed(k, record, n);
		left -= n > 0 ? n : 0;
	}
	klog_end(k);
	return n < 0 ? n : 0;
}

int klog_live(struct klog *k)
{
	__cleanup_fd int fd = klog_open();

	return klog_rest(fd, k);
}
