/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for the parts of the kernel that kmod/ uses, for tests on the host: the kernel's
 * headers are empty files there. A test includes this first and the sources of kmod/ after it,
 * and defines mapped() and kasan_check_read(). The driver's structures have no types here;
 * fake_layout() gives each of their fields a place of its own.
 */
#ifndef GP_FAKE_KERNEL_H
#define GP_FAKE_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef int64_t ktime_t;
/* clang-format off */
typedef struct { int64_t counter; } atomic64_t;

struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
struct list_head { struct list_head *next, *prev; };
struct mutex { long x[4]; };
struct rw_semaphore { long x[5]; };
struct srcu_struct { int x; };
struct device { int x; };
struct kref { int x; };
struct drm_device { struct device *dev; struct kref ref; };
struct work_struct { long data; struct list_head entry; void (*func)(void); };
struct mmu_notifier { struct hlist_node hlist; const void *ops; void *mm; long rcu[2];
	unsigned int users; };
/* Both what older and what newer kernels have to say where the code is. */
struct module { char text[16], data[16];
	struct { void *base; unsigned int text_size; } core_layout; };
struct task_struct { int x; };
struct pid { int x; };
/* clang-format on */
enum { PIDTYPE_TGID };

#define BUILD_BUG_ON(x)		  _Static_assert(!(x), #x)
#define atomic64_add(n, v)	  ((v)->counter += (n))
#define atomic64_inc(v)		  ((v)->counter++)
#define min(a, b)		  ((a) < (b) ? (a) : (b))
#define max(a, b)		  ((a) > (b) ? (a) : (b))
#define max_t(t, a, b)		  max((t)(a), (t)(b))
#define struct_size(p, member, n) (sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define cond_resched()		  ((void)0)
#define READ_ONCE(x)		  (x)
#define WRITE_ONCE(x, value)	  ((x) = (value))
#define ERR_PTR(ret)		  ((void *)(long)(ret))
#define TASK_COMM_LEN		  16
#define memset_startat(p, value, member) \
	memset(&(p)->member, value, sizeof(*(p)) - offsetof(__typeof__(*(p)), member))
#define pr_warn_ratelimited(...) ((void)0)

#define BITS_PER_LONG		64
#define BITS_TO_LONGS(n)	(((n) + 63) / 64)
#define DECLARE_BITMAP(name, n) unsigned long name[BITS_TO_LONGS(n)]
#define __ffs(x)		((u32)__builtin_ctzl(x))
#define hweight32(x)		((u32)__builtin_popcount(x))
#define test_bit(i, map)	((map)[(i) / 64] >> (i) % 64 & 1)
#define find_first_bit(map, n)	fake_next_bit(map, n, 0)
#define for_each_set_bit(i, m, n) \
	for ((i) = fake_next_bit(m, n, 0); (i) < (u32)(n); (i) = fake_next_bit(m, n, (i) + 1))

static inline u32 fake_next_bit(const unsigned long *map, u32 n, u32 from)
{
	while (from < n && !test_bit(from, map))
		from++;
	return from;
}

/* Time passes only where a test lets it. */
static ktime_t fake_now;
static inline ktime_t ktime_get(void)
{
	return fake_now;
}
#define ktime_ms_delta(a, b) (((a) - (b)) / 1000000)

/* A fatal signal has come for the reader. */
static bool fake_killed;
static struct task_struct fake_task;
#define current (&fake_task)
static inline bool fatal_signal_pending(const struct task_struct *t)
{
	return t == current && fake_killed;
}

/* An allocation may start no I/O now. */
static unsigned int fake_noio;
static inline unsigned int memalloc_noio_save(void)
{
	return fake_noio++;
}
static inline void memalloc_noio_restore(unsigned int flags)
{
	fake_noio = flags;
}
#define kfree(p) free(p)

/* Does an address lead to memory? */
static bool mapped(const void *src, size_t size);
static void kasan_check_read(const void *src, size_t size);

static inline int copy_from_kernel_nofault(void *dst, const void *src, size_t size)
{
	if (!mapped(src, size))
		return -EFAULT;
	memcpy(dst, src, size);
	return 0;
}

#include "layout.h"

/* Variables that other parts of the module have. */
struct gp_layout gp_layout;
struct gp_symbols gp_symbols;
const char *gp_features[GP_FEATURE_COUNT];
atomic64_t gp_stats[GP_STAT_COUNT];

void gp_stat_locked(enum gp_stat lock, ktime_t since)
{
	(void)since;
	gp_stat_inc(lock);
}

/* The rule that gp_broken() was last called for. */
static const char *fake_broken;
int gp_broken(const char *what)
{
	fake_broken = what;
	return -EUCLEAN;
}

/* Count each result that is not as it has to be, and print it with fake_case. */
static int fake_bad;
static char fake_case[160];
#define want(x) fake_want(x, #x, __FILE__, __LINE__)
static inline void fake_want(bool is_so, const char *what, const char *file, int line)
{
	if (!is_so && fake_bad++ < 5)
		printf("%s:%d: not so: %s %s\n", file, line, what, fake_case);
}

/*
 * Memory for the driver's structures: objects, which have all fields of all structures.
 * A structure in another one begins behind these, so that no two fields overlap.
 */
enum { FAKE_OBJECTS = 2048, FAKE_FIELD = 64, FAKE_LEN = 4 };
enum { FAKE_INNER = 160 * FAKE_FIELD, FAKE_SIZE = 30 * FAKE_INNER };

static char fake_memory[FAKE_OBJECTS][FAKE_SIZE] __attribute__((aligned(64)));

static inline bool fake_is_object(const void *src, size_t size)
{
	const char *at = src;

	return at >= fake_memory[0] && at + size <= fake_memory[0] + sizeof(fake_memory);
}

static inline void fake_layout(void)
{
	u32 at = 0, inner = 0;

#define FAKE_PLACE(rule, s, f, t, ft)                                                        \
	gp_layout.s##__##f.at =                                                              \
		(struct gp_place){ *#rule == 'S' ? inner += FAKE_INNER : (at += FAKE_FIELD), \
				   FAKE_LEN };
	GP_FIELDS(FAKE_PLACE)
	GP_FIELDS_NODES(FAKE_PLACE)
	GP_FIELDS_NO_NODES(FAKE_PLACE)
#define FAKE_VALUE(e, name) gp_layout.name = at += FAKE_FIELD;
	GP_ENUMS(FAKE_VALUE)
	gp_layout.has_nodes = true;
	want(at < FAKE_INNER && 2 * inner + FAKE_INNER <= FAKE_SIZE);
}

/* A field of a structure of the driver's, and element i of one. */
#define FIELD(base, s, f)	FIELD_AT(base, s, f, 0)
#define FIELD_AT(base, s, f, i) (((__typeof__(gp_layout.s##__##f.type))gp_ptr(base, s, f))[i])

#endif /* GP_FAKE_KERNEL_H */
