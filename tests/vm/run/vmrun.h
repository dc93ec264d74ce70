/* SPDX-License-Identifier: GPL-2.0-only */
/* Runner: declarations that its files share. */
#ifndef VM_VMRUN_H
#define VM_VMRUN_H

#include <limits.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../wire.h"

#define COUNTED_TEST	4 /* ns of an instruction: a power of two */
#define COUNTED_COMMAND 2
#define DEFAULT_TIMEOUT 60     /* s, of one job */
#define BOOT_TIMEOUT	240    /* s, until "ready" after a boot */
#define RESTORE_TIMEOUT 60     /* s, until "accepted" after a restore */
#define PREPARE_TIMEOUT 240    /* s, until "ready" once more */
#define GRACE		30000  /* ms, until a guest reports what it has done */
#define GRACE_LEAKS	300000 /* ms, for two looks through all memory */
#define HASH_START	0xcbf29ce484222325ULL
#define JOB_FILE	"job" /* in a machine's directory */

/* Paths, and the common parts of every machine of this run. */
struct bench {
	char build[PATH_MAX - 512]; /* absolute */
	char run[PATH_MAX - 256];   /* this runner's own directory */
	char saved[PATH_MAX];	    /* the guest to restore; "": boot one */
	const char *harness;	    /* directory of verify-kernel */
	const char *cases;	    /* directory that is /t in the guest */
	const char *payload;
	const char *payload_name; /* the user's path: payload is a link to it */
	const char *qemu;
	const char *kernel; /* its version, for the rows of skips */
	const char *skips;  /* file with the skips that are expected, or NULL */
	const char *image;  /* directory of initrd.img, in build/vm */
	const char *memory;
	const char *append; /* to the kernel command line, or NULL */
	const char *processors;
	char accel[8];	       /* "tcg" or "kvm" */
	char engine[PATH_MAX]; /* plugin that executes waves; "": none */
	bool waves;	       /* shader code is executed */
	bool plain;	       /* boot each time, save nothing */
	bool real;	       /* two CPUs in real time for all */
	bool keep;	       /* results of the same input are kept */
	bool fresh;	       /* run all the same */
	bool chaos;	       /* vgpu.ko forces threads to switch, by the seed */
	int seed;
	uint64_t key, host_key, payload_key; /* hashes of what a job depends on */
	int counted;			     /* ns of an instruction; 0: time is ours */
	int slow;			     /* the guest is so many times slower */
	int pace;			     /* and this host, see pace.c */
	int jobs;			     /* guests at the same time */
	bool leaks;			     /* look for lost memory after a job */
	bool judge;			     /* check a command's log as a test's */
	struct reports *reports;	     /* known reports of the kernel, or NULL */
};

struct vm {
	pid_t pid;
	double cpu; /* s of a processor that QEMU took, after its end */
	int qmp;
	int port[WIRE_PORTS];
	char dir[PATH_MAX]; /* serial.log, qemu.log and the job's logs */
};

#define JOB_FILES 8

struct job {
	const char *command; /* "": an interactive shell */
	const char *vgpu;    /* parameters; NULL: not loaded */
	bool gpreempt;
	bool merge;
	bool tty;
	const char *file[JOB_FILES]; /* below the harness, put below /t */
	int files;
	int timeout;	    /* s of a quick guest's clock; 0: none */
	long long patience; /* ms of ours, after which the guest is lost */
	FILE *output, *error, *log;
};

enum verdict { V_EXIT, V_SIGNAL, V_TIMEOUT, V_FAILED, V_LOST };

struct outcome {
	enum verdict verdict;
	int number;	/* exit status, signal, or seconds until a timeout */
	int guest_ms;	/* how long the job took by the guest's clock */
	char text[512]; /* for V_FAILED and V_LOST */
};

#define CASE_ALLOW_MAX 32

/* A test and the wishes in the comments at its top. */
struct test_case {
	char name[128];
	char script[160];  /* in the guest, below /t */
	char with[3][160]; /* further scripts that it runs */
	int with_count;
	char vgpu[512];
	char memory[8];	 /* MiB; "": as the others */
	char append[64]; /* to the kernel command line; "": as the others */
	bool load_vgpu;
	bool gpreempt;
	bool counted; /* its clock counts instructions */
	bool race;    /* check-races runs it, too */
	bool gate;    /* make check runs it */
	bool waves;   /* shader code is executed */
	int timeout;
	int allowed;
	char *allow[CASE_ALLOW_MAX];
};

/* util.c */
__attribute__((format(printf, 1, 2))) void complain(const char *fmt, ...);
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);
int lock_file(const char *path);
int make_dirs(const char *path);
void *shared_zeros(size_t size);
void remove_tree(const char *path);
long long now_ms(void);
int spawn_wait(char *const argv[]);
char *read_file(const char *path, size_t *size);

/*
 * qemu.c: 0 or -errno; incoming: where a saved guest comes from, item: under which name
 * the guest finds the file job of its directory; each may be NULL
 */
int vm_start(struct vm *vm, const struct bench *b, const char *accel, const char *incoming,
	     const char *item);
void vm_stop(struct vm *vm);
bool vm_died(struct vm *vm, int *status);
void vm_command_line(const struct bench *b, char *buf, size_t size);

/* qmp.c: 0 or -errno */
int qmp_open(int fd);
int qmp_run(int fd, const char *command);
int qmp_migrate(int fd, const char *uri, int timeout);
int qmp_go_on(int fd, int timeout);

/* verdict.c: one line of the verdict port within timeout s; 0 or -errno */
int verdict_line(struct vm *vm, char *line, size_t size, long long until_ms);
void verdict_parse(const char *line, struct outcome *o);
void verdict_lost(struct vm *vm, struct outcome *o, const char *what);

/* pace.c: factors of limits of time, in the guest and out of it */
int pace_measure(void);
int pace_inside(const struct bench *b);
int pace_outside(const struct bench *b);
void bench_count(struct bench *b, int ns);

/* accel.c */
void accel_choose(struct bench *b);

/* snapshot.c: finds or makes the guest to restore for a job; without it each job boots */
int bench_keys(struct bench *b);
uint64_t bench_key(const struct bench *b);
uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n);
bool snapshot_boot(struct bench *b);
void snapshot_make(struct bench *b, const struct job *job);

/* guest.c: 0 or -errno; guest_job_text() is the caller's */
int guest_boot(struct vm *vm, const struct bench *b, const char *accel, const char *item,
	       int timeout);
int guest_restore(struct vm *vm, const struct bench *b, const char *from, const char *item,
		  const char *word);
char *guest_job_text(const struct bench *b, const struct job *job, size_t *size);
int guest_put_job(const struct vm *vm, const struct bench *b, const struct job *job);
void guest_run(struct vm *vm, const struct bench *b, const struct job *job, struct outcome *o);

/* pump.c */
void pump(struct vm *vm, const struct job *job, struct outcome *o);

/* tty.c */
int tty_raw(void);
bool tty_keys(int to);
void tty_restore(void);
bool tty_resized(unsigned short *rows, unsigned short *columns);

/* reports.c: reports of the kernel that are known, and not of our modules */
struct reports *reports_read(const char *path);
bool reports_know(struct reports *r, char *const *lines, size_t n);
void reports_tell(const struct reports *r);

/*
 * klog.c: the first line of the log that makes a test fail, or false. Lines
 * that t allows and reports that r knows do not.
 */
bool klog_dirty(const char *path, const struct test_case *t, struct reports *r, char *line,
		size_t size);

/* case.c */
/* cases: the directory that is /t in the guest */
int case_read(const char *cases, const char *path, struct test_case *t);
void case_free(struct test_case *t);

/* report.c: a failed test as a person wants to see it */
void report_failure(FILE *to, const struct bench *b, const struct vm *vm, const struct test_case *t,
		    const struct outcome *o, double seconds);
void last_line(const char *dir, const char *prefix, char *last, size_t size);

/* results.c: results of cases, by a hash of all that they ran on */
uint64_t result_key(const struct bench *b, const struct job *job);
bool result_kept(const struct bench *b, const char *name, uint64_t key);
double result_seconds(const struct bench *b, const char *name);
void result_keep(const struct bench *b, const char *name, uint64_t key, double seconds);

/* suite.c, single.c: exit status */
int suite_run(struct bench *b, char *const *paths, int n);
int single_run(struct bench *b, const struct job *job);

#endif
