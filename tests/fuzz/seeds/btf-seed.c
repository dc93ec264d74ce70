// SPDX-License-Identifier: GPL-2.0-only
/* Types for btf.c to start from: what a driver's structures look like. */
enum q { mutex, next = 7 };

typedef struct list {
	struct list *next;
	const char *const names[4];
} list_t;

struct queue {
	list_t list;
	union {
		int q;
		struct {
			unsigned short low, high;
		};
	};
	unsigned int bits : 3;
	enum q kind;
};

struct kfd_process {
	volatile struct queue queues[3][2];
	long mutex;
	int (*fn)(struct queue *q, ...);
} object;
