/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parser of the log that ROCm's runtime writes with AMD_LOG_LEVEL 3 to 5 (ROCm 5 to 7): hardware
 * queues, and the packets that were put into them. Nothing here reads a file; the caller feeds
 * text, in pieces of any size, and memory does not grow with it. One thread at a time for each
 * handle.
 *
 * Level 3 has the queues, level 5 the packets too, which ROCm up to 7.2 logged from level 4 on. A
 * fault is there at all levels: a dump of the queue, which is no record, and that it aborts. Text
 * that the program printed between the lines of the log is counted and left alone. A number that
 * the log does not have is GPREEMPT_UNKNOWN.
 */
#ifndef LAB_AMDLOG_H
#define LAB_AMDLOG_H

#include <gpreempt/core.h>

/*
 * A hardware queue of the runtime. First and last are by the times that the log
 * has, whatever its order.
 */
struct gp_amdlog_queue {
	/* PID that the process itself sees: another number inside of a container. */
	int64_t pid;
	/*
	 * Address that the runtime calls it by (HWq). ROCm 5 logs the life of a
	 * queue by its software queue and its packets by HWq, and not which belong
	 * together: they are two entries then.
	 */
	int64_t hwq;
	int64_t swq;	      /* the last software queue on it */
	int64_t id;	      /* the runtime's own number; not before ROCm 6 */
	const char *priority; /* low, normal, high; NULL: not known */
	int64_t size;	      /* packets */
	int64_t created;      /* times; again after it was deleted */
	int64_t acquired;     /* times that a stream took it */
	int64_t released;
	int64_t deleted;
	int64_t dispatches; /* kernels put into it */
	int64_t barriers;   /* barrier packets put into it */
	int64_t first_rptr; /* at its first packet */
	int64_t first_wptr;
	int64_t last_rptr; /* at its last packet */
	int64_t last_wptr;
	int64_t backlog;  /* most packets that waited when one was put into it */
	int64_t first_us; /* times of the first and last line about it */
	int64_t last_us;
	int64_t first_packet_us; /* times of its first and last indices */
	int64_t last_packet_us;
	int64_t line;	    /* first line about it */
	int64_t waiting;    /* packets that waited in it at a fault, by the runtime's dump */
	int64_t aborted_us; /* time of the first fault in it */
	int64_t error_code;
	char *error;  /* the fault, by HSA's name */
	char *kernel; /* at its head then */
};

/* A process that wrote into the log. */
struct gp_amdlog_process {
	int64_t pid; /* PID that the process itself sees */
	int64_t lines;
	int64_t kernels;    /* kernels that it launched, by name (level 3) */
	int64_t dispatches; /* the same by packet */
	int64_t first_us;   /* times of its first and last line */
	int64_t last_us;
	int64_t run_us; /* time between the two */
	/*
	 * Most that a line of it is earlier than one before; more than threads
	 * writing at once explain: the log is not in order.
	 */
	int64_t back_us;
	/* Data by which a number that no line has is 0 or unknown. */
	unsigned int level;	   /* highest */
	unsigned int packet_level; /* level of its packets; 0: there are none */
	unsigned int hip;	   /* 702: 7.2; 0: not known */
	uint64_t life;		   /* lines about the life of a queue */
	uint64_t deleted;
};

/* A line that could not be parsed. */
struct gp_amdlog_problem {
	int64_t line;
	const char *what;
};

/* Data of the log so far. */
struct gp_amdlog_data {
	struct gp_amdlog_queue *queues;
	size_t n_queues;
	struct gp_amdlog_process *processes;
	size_t n_processes;
	struct gp_amdlog_problem *problems; /* the first ones */
	size_t kept;			    /* how many these are */
	uint64_t n_problems;		    /* all of them */
	uint64_t lines;
	uint64_t records;
	uint64_t other_lines; /* without a record: the program's own output */
	unsigned int level;   /* highest seen */
	char version[64];     /* HIP's own version text, or "" */
};

/* Lowest level at which each version logs packets, and a sentence on it for the user. */
#define GP_AMDLOG_PACKETS      5
#define GP_AMDLOG_PACKETS_FROM "ROCm logs packets from AMD_LOG_LEVEL=5 on, up to ROCm 7.2 from 4 on"

/* A packet that a program puts into a queue. */
struct gp_amdlog_packet {
	uint64_t line;
	int64_t us;
	int64_t pid;
	uint64_t hwq;
	bool dispatch; /* a kernel; else a barrier */
	int64_t rptr;  /* unknown before ROCm 6 */
	int64_t wptr;
};

typedef void gp_amdlog_packet_fn(void *data, const struct gp_amdlog_packet *packet);

struct gp_amdlog;

/*
 * An empty log, of the lines of the process @pid, or of all for GPREEMPT_UNKNOWN.
 * @packet gets each packet, and @data, or is NULL.
 */
struct gp_amdlog *gp_amdlog_new(int64_t pid, gp_amdlog_packet_fn *packet, void *data);
void gp_amdlog_free(struct gp_amdlog *log);

/* Read the next piece. */
void gp_amdlog_feed(struct gp_amdlog *log, const char *data, size_t len);

/* The log ends here. */
void gp_amdlog_end(struct gp_amdlog *log);

/* Returns the data, once the log has ended. */
const struct gp_amdlog_data *gp_amdlog_get(const struct gp_amdlog *log);

/* Records of ROCm's log, and the messages in them. */

/* A stretch of a line. */
struct gp_span {
	const char *at;
	const char *end;
	bool cut; /* another record goes on where it stops */
};

/* ":4:rocvirtual.cpp           :1083: 20162701614 us: [pid:1 tid: 0x2] ..." */
struct gp_record {
	unsigned int level;
	int64_t us;
	int64_t pid;
	struct gp_span message;
};

/* Mark before the text of ROCr's own records; they have no level. */
#define GP_ROCR_MARK "[***rocr***]"

enum gp_amdlog_kind {
	GP_AMDLOG_NOTHING, /* nothing about queues */
	GP_AMDLOG_CREATED,
	GP_AMDLOG_ACQUIRED,
	GP_AMDLOG_RELEASED,
	GP_AMDLOG_DELETED,
	GP_AMDLOG_DISPATCH,
	GP_AMDLOG_BARRIER,
	GP_AMDLOG_DUMP, /* a queue at a fault, perhaps with its indices */
	GP_AMDLOG_DUMP_KERNEL,
	GP_AMDLOG_DUMP_ERROR,
	GP_AMDLOG_DUMP_BEGIN,
	GP_AMDLOG_DUMP_INDICES,
	GP_AMDLOG_ABORTED, /* a fault in a queue */
	GP_AMDLOG_FAULT,   /* a fault; which queue is not there */
	GP_AMDLOG_KERNEL,
	GP_AMDLOG_VERSION,
	GP_AMDLOG_BROKEN, /* about a queue, but which one is not there */
};

struct gp_message {
	enum gp_amdlog_kind kind;
	uint64_t hwq, swq;
	bool by_swq;	      /* hwq is the address of a software queue */
	bool cut;	      /* an index is there, but not all of it */
	bool begins;	      /* a dump that needs no line before */
	bool idle;	      /* a dump of an empty queue */
	const char *priority; /* low, normal, high */
	int64_t id, size, rptr, wptr, code;
	struct gp_span rest; /* text behind the message's first words */
	struct gp_span error, kernel;
};

/*
 * Give @take each record of a line, which can hold several, when threads wrote at once; and the
 * text before the first one, without a record. A message that begins at NULL: the record's head is
 * cut off. Returns whether there is a record.
 */
bool gp_records_split(struct gp_span line,
		      void (*take)(void *data, struct gp_span text, const struct gp_record *record),
		      void *data);

/* A message about queues in a record; or, in text without one, in the dump of a queue. */
void gp_message_parse(struct gp_span text, bool record, struct gp_message *message);

struct text_guess;

/*
 * Read a log that was opened, or could not be, close and end it; as gp_amdlog_new(). *guess, if
 * @guess is not NULL: the kind of another file, by its first bytes. 0 or -errno.
 */
int amdlog_read_fd(int fd, int64_t pid, gp_amdlog_packet_fn *packet, void *data,
		   const struct text_guess **guess, struct gp_amdlog **out);

#endif
