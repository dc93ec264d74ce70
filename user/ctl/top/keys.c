// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/top/keys.h"

#define CODES(...)		 __VA_ARGS__
#define ROW(action, codes, help) { CODES codes },

/* Up to 0. */
static const int keys[TOP_ACTIONS][4] = { TOP_KEYS(ROW) };

enum top_action top_action_of(int code)
{
	enum top_action action;
	int i;

	for (action = 0; action < TOP_ACTIONS; action++)
		for (i = 0; keys[action][i]; i++)
			if (keys[action][i] == code)
				return action;
	return TOP_ACTIONS;
}
