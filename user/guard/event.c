// SPDX-License-Identifier: GPL-2.0-only
/* What happens, for the user: a note, or an event of JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "guard/guard.h"
#include "output/message.h"
#include "output/table.h"
#include "shared/clock.h"

void guard_clear_line(void)
{
	if (isatty(STDOUT_FILENO))
		fputs("\r\033[K", stdout);
}

static void put(struct json_object *o, const char *key,
		struct json_object *value)
{
	json_object_object_add(o, key, value);
}

struct json_object *guard_new_event(const struct guard *guard,
				    const char *event, uint64_t ns)
{
	struct json_object *o = json_object_new_object();

	put(o, "event", out_json_text(event));
	put(o, "t_us",
	    json_object_new_double((ns - guard->figures.start_ns) / 1000.0));
	put(o, "clock_us", json_object_new_double(ns / 1000.0));
	return o;
}

void guard_print_event(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o,
					    JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(o);
}

void guard_event(const struct guard *guard, const char *event, pid_t pid,
		 const char *format, ...)
{
	struct json_object *o;
	char text[768];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!guard->options->json) {
		guard_clear_line();
		ctl_say("%s", text);
		return;
	}
	o = guard_new_event(guard, event, shr_now_ns());
	put(o, "pid", out_json_number(pid));
	put(o, "text", out_json_text(text));
	guard_print_event(o);
}
