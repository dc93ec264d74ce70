// SPDX-License-Identifier: GPL-2.0-only
/* Our terminal, while a shell in the guest uses it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "vmrun.h"

#define KEY_END 0x1d /* Ctrl-]: for a guest that hangs */

static struct termios saved;
static bool changed;
static volatile sig_atomic_t resized;

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

void tty_restore(void)
{
	if (changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	changed = false;
}

static void on_end(int sig)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	_exit(128 + sig);
}

int tty_raw(void)
{
	struct sigaction sa = { .sa_handler = on_resize };
	struct sigaction end = { .sa_handler = on_end };
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &saved))
		return -errno;
	raw = saved;
	cfmakeraw(&raw);
	changed = true;
	atexit(tty_restore);
	sigaction(SIGWINCH, &sa, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) ? -errno : 0;
}

bool tty_resized(unsigned short *rows, unsigned short *columns)
{
	struct winsize size;

	if (!resized)
		return false;
	resized = 0;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		return false;
	*rows = size.ws_row;
	*columns = size.ws_col;
	return true;
}

/* Our input to the guest; false when there is no more of it. */
bool tty_keys(int to)
{
	char buf[512];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	if (memchr(buf, KEY_END, n)) {
		tty_restore();
		die("ended by Ctrl-]");
	}
	return write(to, buf, n) == n;
}
