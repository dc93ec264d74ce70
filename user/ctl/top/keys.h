/* SPDX-License-Identifier: GPL-2.0-only */
/* The one table of keys: what they do, --help, the manual and the help on the screen. */
#ifndef CTL_TOP_KEYS_H
#define CTL_TOP_KEYS_H

#include <stddef.h>

/* Keys that are no characters; term.c has those of the terminal for them. */
enum top_key_code {
	TOP_KEY_NONE = 0,
	TOP_KEY_ENTER = '\n',
	TOP_KEY_ESCAPE = 0x1b,
	TOP_KEY_UP = 0x200000, /* no character has such a number */
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKSPACE,
	TOP_KEY_F1,
	TOP_KEY_F4 = TOP_KEY_F1 + 3,
	TOP_KEY_F5,
	TOP_KEY_F6,
	TOP_KEY_F9 = TOP_KEY_F1 + 8,
	TOP_KEY_F10,
};

/* ROW(action, codes, up to three, in the help) */
/* clang-format off */
#define TOP_KEYS(ROW) \
	ROW(TOP_UP, (TOP_KEY_UP), \
	    "  Up             the process above\n") \
	ROW(TOP_DOWN, (TOP_KEY_DOWN, 'j'), \
	    "  Down j         the process below\n") \
	ROW(TOP_PAGE_UP, (TOP_KEY_PAGE_UP), \
	    "  PgUp           one page up\n") \
	ROW(TOP_PAGE_DOWN, (TOP_KEY_PAGE_DOWN), \
	    "  PgDn           one page down\n") \
	ROW(TOP_HOME, (TOP_KEY_HOME), \
	    "  Home           the first process\n") \
	ROW(TOP_END, (TOP_KEY_END), \
	    "  End            the last process\n") \
	ROW(TOP_DETAILS, (TOP_KEY_ENTER, '\r'), \
	    "  Enter          GPUs, history and queues of the process; Esc goes back\n") \
	ROW(TOP_FILTER, ('/', TOP_KEY_F4, '\\'), \
	    "  / F4           show the processes that have a text; Esc shows all\n") \
	ROW(TOP_CYCLE_TREE, ('t', TOP_KEY_F5), \
	    "  t F5           group by cgroup, by container, by pod, or not\n") \
	ROW(TOP_CYCLE_GPU, ('g'), \
	    "  g              one GPU, the next one, or all\n") \
	ROW(TOP_SORT_BEFORE, ('<', ','), \
	    "  < ,            sort by the column to the left\n") \
	ROW(TOP_SORT_NEXT, ('>', '.', TOP_KEY_F6), \
	    "  > . F6         sort by the column to the right\n") \
	ROW(TOP_SORT_BUSY, ('P'), \
	    "  P              sort by BUSY%\n") \
	ROW(TOP_SORT_VRAM, ('M'), \
	    "  M              sort by VRAM\n") \
	ROW(TOP_SORT_PID, ('N'), \
	    "  N              sort by PID\n") \
	ROW(TOP_INVERT, ('I', 'R'), \
	    "  I R            turn the order around\n") \
	ROW(TOP_FASTER, ('-'), \
	    "  -              half the time from one refresh to the next\n") \
	ROW(TOP_SLOWER, ('+', '='), \
	    "  + =            twice that time\n") \
	ROW(TOP_PAUSE, ('p', 'Z', ' '), \
	    "  p Z Space      keep the screen as it is, and go on\n") \
	ROW(TOP_SUSPEND, ('s'), \
	    "  s              suspend the process until it is resumed (asks; root)\n") \
	ROW(TOP_RESUME, ('r'), \
	    "  r              resume it (asks; root)\n") \
	ROW(TOP_SIGNAL, ('k', TOP_KEY_F9), \
	    "  k F9           send it a signal (asks; root)\n") \
	ROW(TOP_HELP, ('?', 'h', TOP_KEY_F1), \
	    "  ? h F1         help\n") \
	ROW(TOP_QUIT, ('q', TOP_KEY_F10), \
	    "  q F10 Ctrl-C   quit\n")

#define TOP_KEYS_NAME(action, codes, help) action,
enum top_action { TOP_KEYS(TOP_KEYS_NAME) TOP_ACTIONS };

#define TOP_KEYS_HELP_OF(action, codes, help) help
/* One string. */
#define TOP_KEYS_HELP TOP_KEYS(TOP_KEYS_HELP_OF)
/* clang-format on */

/* The action of a key; TOP_ACTIONS: it has none. */
enum top_action top_action_of(int code);

#endif
