// SPDX-License-Identifier: GPL-2.0-only
/* The named virtio-serial ports to the runner. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static const char *const names[WIRE_PORTS] = WIRE_PORT_NAMES;

static struct {
	int fd;
	unsigned long long sent; /* bytes */
} ports[WIRE_PORTS];

static int port_number(const char *device)
{
	char path[300], name[64] = "";
	int fd, i;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", device);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	name[strcspn(name, "\n")] = '\0';
	for (i = 0; i < WIRE_PORTS; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static int open_found(int port[WIRE_PORTS])
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *e;
	char path[300];
	int n, count = 0;

	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		n = port_number(e->d_name);
		if (n < 0)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		if (port[n] < 0)
			port[n] = open(path, O_RDWR | O_CLOEXEC);
		count += port[n] >= 0;
	}
	closedir(dir);
	return count;
}

/* The driver learns the names from the device, a little after its probe. */
int ports_open(int port[WIRE_PORTS])
{
	int i;

	for (i = 0; i < WIRE_PORTS; i++)
		port[i] = -1;
	for (i = 0; i < 500 && open_found(port) != WIRE_PORTS; i++)
		usleep(10000);
	for (i = 0; i < WIRE_PORTS; i++) {
		if (port[i] < 0)
			return -ENODEV;
		ports[i].fd = port[i];
	}
	return 0;
}

static void count(int fd, size_t n)
{
	int i;

	for (i = 0; i < WIRE_PORTS; i++)
		if (ports[i].fd == fd)
			ports[i].sent += n;
}

int write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		count(fd, n);
		p += n;
		len -= n;
	}
	return 0;
}

void say(int fd, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	write_all(fd, line, n);
}

void say_sent(int ms)
{
	say(ports[WIRE_VERDICT].fd, "sent %llu %llu %llu after %d", ports[WIRE_OUTPUT].sent,
	    ports[WIRE_ERROR].sent, ports[WIRE_LOG].sent, ms);
}

static int fill(struct reader *r)
{
	ssize_t n;

	if (r->len == sizeof(r->buf))
		return -E2BIG;
	n = read(r->fd, r->buf + r->len, sizeof(r->buf) - r->len);
	if (n < 0)
		return -errno;
	/* No data and no error: the runner has not connected yet. */
	if (!n)
		usleep(10000);
	r->len += n;
	return 0;
}

static void consume(struct reader *r, size_t n)
{
	r->len -= n;
	memmove(r->buf, r->buf + n, r->len);
}

int read_line(struct reader *r, char *line, size_t size)
{
	char *end;
	size_t n;
	int ret;

	while (!(end = memchr(r->buf, '\n', r->len))) {
		ret = fill(r);
		if (ret)
			return ret;
	}
	n = end - r->buf;
	if (n >= size)
		return -E2BIG;
	memcpy(line, r->buf, n);
	line[n] = '\0';
	consume(r, n + 1);
	return 0;
}
