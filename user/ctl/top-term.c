// SPDX-License-Identifier: GPL-2.0-only
#define NCURSES_NOMACROS	 1
#define NCURSES_WIDECHAR	 1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/program.h"
#include "top.h"
#include "cli/table.h"

#define SONAME	  "libncursesw.so.6"
#define ESCAPE_MS 25 /* from Esc to the rest of a key's code */

/* The prototype of term.h, which has words as "lines" for macros. */
char *tigetstr(const char *name);

/* No function that reads data of the library: its place may differ. */
#define CALLS(CALL)              \
	CALL(cbreak)             \
	CALL(clearok)            \
	CALL(curs_set)           \
	CALL(delscreen)          \
	CALL(endwin)             \
	CALL(has_colors)         \
	CALL(init_pair)          \
	CALL(keypad)             \
	CALL(newterm)            \
	CALL(newwin)             \
	CALL(nodelay)            \
	CALL(noecho)             \
	CALL(nonl)               \
	CALL(resizeterm)         \
	CALL(set_escdelay)       \
	CALL(setcchar)           \
	CALL(start_color)        \
	CALL(tigetstr)           \
	CALL(use_default_colors) \
	CALL(wadd_wch)           \
	CALL(wget_wch)           \
	CALL(wmove)              \
	CALL(wrefresh)           \
	CALL(wresize)

#define POINTER(call) __typeof__(&call) call;
#define ROW(call)     { #call, offsetof(struct calls, call) },

static struct calls {
	CALLS(POINTER)
} nc;

static const struct dynlib_call rows[] = { CALLS(ROW) DYNLIB_END };

DYNLIB_NOTE(ncurses_note, "top", "gpreempt-ctl top", SONAME);

/* State of the one terminal; static, since the handler of a crash needs it. */
static struct {
	SCREEN *screen;
	WINDOW *window;
	bool colour;
	struct termios before;
} term;

enum pair { NO_PAIR, GREEN, YELLOW, CYAN };

static const struct {
	attr_t colour; /* attributes beside the colour */
	attr_t plain;  /* and without colours */
	enum pair pair;
} looks[TOP_LOOKS] = {
	[TOP_PLAIN] = { WA_NORMAL, WA_NORMAL, NO_PAIR },
	[TOP_STRONG] = { WA_BOLD, WA_BOLD, NO_PAIR },
	[TOP_FAINT] = { WA_DIM, WA_NORMAL, NO_PAIR },
	[TOP_HEADING] = { WA_REVERSE, WA_REVERSE, GREEN },
	[TOP_SELECTED] = { WA_REVERSE, WA_REVERSE | WA_BOLD, CYAN },
	[TOP_GOOD] = { WA_NORMAL, WA_NORMAL, GREEN },
	[TOP_WARNING] = { WA_BOLD, WA_BOLD, YELLOW },
};

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Leave the screen, by calls that a handler may make: plain text, a cursor, the earlier screen. */
static void leave_at_crash(int signal)
{
	static const char leave[] = "\033[0m\033[?25h\033[?1049l\r\n";
	ssize_t n = write(STDOUT_FILENO, leave, sizeof(leave) - 1);

	(void)n;
	tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	raise(signal);
}

static void prepare_for_crash(void)
{
	struct sigaction action = { .sa_handler = leave_at_crash, .sa_flags = (int)SA_RESETHAND };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

static void set_colours(const struct out_form *form)
{
	term.colour = out_want_colour(form) && nc.has_colors();
	if (!term.colour)
		return;
	nc.start_color();
	nc.use_default_colors();
	nc.init_pair(GREEN, COLOR_GREEN, -1);
	nc.init_pair(YELLOW, COLOR_YELLOW, -1);
	nc.init_pair(CYAN, COLOR_CYAN, -1);
}

int top_term_open(const struct out_form *form)
{
	int width, height, ret = 0;

	if (!nc.newterm)
		ret = dynlib_load(SONAME, "libncursesw6", rows, &nc);
	if (ret)
		return ret;
	setlocale(LC_CTYPE, "");
	tcgetattr(STDIN_FILENO, &term.before);
	/* initscr() would end the process when it does not know the terminal. */
	term.screen = nc.newterm(NULL, stdout, stdin);
	/* A kind without "cup", as "dumb", cannot move its cursor. */
	if (term.screen && !nc.tigetstr("cup")) {
		nc.endwin();
		nc.delscreen(term.screen);
		term.screen = NULL;
	}
	if (!term.screen)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "set TERM to one that is known here, such as "
				     "xterm; or use --batch",
				     "the kind of terminal \"%s\" is not known, or cannot "
				     "move its cursor",
				     getenv("TERM") ? getenv("TERM") : "");
	top_term_size(&width, &height);
	term.window = shr_must(nc.newwin(height, width, 0, 0));
	prepare_for_crash();
	set_colours(form);
	nc.cbreak();
	nc.noecho();
	nc.nonl();
	nc.curs_set(0);
	nc.set_escdelay(ESCAPE_MS);
	nc.keypad(term.window, true);
	nc.nodelay(term.window, true);
	return 0;
}

void top_term_close(void)
{
	size_t i;

	if (!term.screen)
		return;
	nc.endwin();
	for (i = 0; i < ARRAY_SIZE(crashes); i++)
		signal(crashes[i], SIG_DFL);
	nc.delscreen(term.screen);
	term.screen = NULL;
}

void top_term_size(int *width, int *height)
{
	struct winsize size;

	*width = 80;
	*height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	*width = size.ws_col;
	*height = size.ws_row;
}

void top_term_resize(int width, int height)
{
	nc.resizeterm(height, width);
	nc.wresize(term.window, height, width);
	nc.clearok(term.window, true);
}

static void draw_line(const struct top_screen *s, int y)
{
	int x;

	nc.wmove(term.window, y, 0);
	for (x = 0; x < s->width; x++) {
		const struct top_cell *cell = &s->cells[y * s->width + x];
		bool colour = term.colour;
		cchar_t c;

		/* The right half of a wide character. */
		if (!*cell->text)
			continue;
		nc.setcchar(&c, cell->text,
			    colour ? looks[cell->look].colour : looks[cell->look].plain,
			    colour ? looks[cell->look].pair : NO_PAIR, NULL);
		nc.wadd_wch(term.window, &c);
	}
}

void top_term_draw(const struct top_screen *s, const struct top_screen *before)
{
	size_t len = s->width * sizeof(*s->cells);
	bool all = s->width != before->width || s->height != before->height;
	int y;

	for (y = 0; y < s->height; y++)
		if (all || memcmp(&s->cells[y * s->width], &before->cells[y * s->width], len))
			draw_line(s, y);
	nc.wrefresh(term.window);
}

int top_term_key(void)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP },
		{ KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME },
		{ KEY_END, TOP_KEY_END },
		{ KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		{ KEY_ENTER, TOP_KEY_ENTER },
	};
	wint_t c;
	size_t i;

	switch (nc.wget_wch(term.window, &c)) {
	case OK:
		return c == 0x7f || c == '\b' ? TOP_KEY_BACKSPACE : (int)c;
	case KEY_CODE_YES:
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (keys[i].code == c)
				return keys[i].key;
		if (c >= KEY_F(1) && c <= KEY_F(10))
			return TOP_KEY_F1 + (c - KEY_F(1));
		return TOP_KEY_NONE;
	default:
		return TOP_KEY_NONE;
	}
}
