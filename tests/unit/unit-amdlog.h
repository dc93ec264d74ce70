/* SPDX-License-Identifier: GPL-2.0-only */
/* ROCm's log, read from strings and files by a parser that a test has. */
#ifndef UNIT_AMDLOG_H
#define UNIT_AMDLOG_H

#include "lab/amdlog.h"
#include "unit.h"

#define AMDLOG_PACKETS 64

/* A record of a packet, and the beginning of its head. */
#define AT     ":4:rocvirtual.cpp           :1083: "
#define PACKET "HWq=0xa0, Dispatch Header = 0xb02 (type=2), rptr=5, wptr=9"
/* Heads of records, of two processes. */
#define R     ":3:rocdevice.cpp :1: 10 us: [pid:7 tid: 0x1] "
#define OTHER ":3:rocdevice.cpp :1: 99 us: [pid:8 tid: 0x1] "

/* Data of the log, after end_log(). */
extern const struct gp_amdlog_data *log_data;
/* The first packets, and how many there were. */
extern struct gp_amdlog_packet packets[AMDLOG_PACKETS];
extern size_t n_packets;

/* A parser for all processes. */
void amdlog_setup(void);
void amdlog_teardown(void);
/* Or, in place of it, for one. */
void amdlog_start(int64_t pid);

void feed_log(const char *at, size_t len);
void feed_text(const char *text);
void end_log(void);
/* Both. */
void read_log(const char *text);
/* A file, in steps of so many bytes; false: it is not there. */
bool read_log_file(const char *path, size_t step);

#endif
