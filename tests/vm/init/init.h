/* SPDX-License-Identifier: GPL-2.0-only */
/* PID 1 of the bench's guest: declarations that its files share. */
#ifndef VM_INIT_H
#define VM_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../wire.h"

struct job {
	char vgpu[512]; /* parameters */
	bool load_vgpu;
	bool load_gpreempt;
	bool merge;
	bool leaks;
	bool tty;
	unsigned short rows, columns;
	unsigned int timeout; /* s, 0: none */
	char *command;	      /* NULL: only prepare the guest for one */
};

/* A port read by lines. */
struct reader {
	int fd;
	size_t len;
	char buf[4096];
};

/* mount.c */
void mount_all(void);

/* root.c: 0, as a child of systemd, once that is up; or -errno */
bool root_is_disk(void);
int root_enter(void);

/* module.c: 0 or -errno */
int module_load(const char *path, const char *parameters);
int module_load_list(const char *list);

/* port.c */
int ports_open(int port[WIRE_PORTS]);
int write_all(int fd, const void *buf, size_t len);
void say_sent(int ms);
__attribute__((format(printf, 2, 3))) void say(int fd, const char *fmt, ...);
int read_line(struct reader *r, char *line, size_t size);

/* klog.c */
int klog_open(void);
void klog_drain(int from, int to);

/* leaks.c */
void leaks_forget(void);
void leaks_find(int log);

/* fwcfg.c: the text of an item, which the caller frees; -ENOENT: none has that name */
int fwcfg_read(const char *name, char **text);

/* job.c */
int job_find(const char *name, struct job *job);
bool job_prepare(const struct job *job, char *why, size_t size);
void job_run(const int port[WIRE_PORTS], int klog, struct reader *r, struct job *job);

/* child.c */
struct child {
	pid_t pid;
	int out, err; /* our ends; err is -1 when merged or on a terminal */
};

int child_start(struct child *c, const struct job *job);
void child_resize(const struct child *c, unsigned short rows, unsigned short columns);

/* relay.c: until the child has ended; returns its wait status, or -ETIME */
int relay(const int port[WIRE_PORTS], struct reader *r, struct child *c, const struct job *job,
	  int klog);

#endif
