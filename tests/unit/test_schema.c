// SPDX-License-Identifier: GPL-2.0-only
/* The check of our JSON against its schemas: it refuses what it must. */
#include "cli/schema.h"
#include "unit.h"

/* The text of a schema, with single quotes. */
static const char schema_text[] =
	"{'type':'object','required':['n'],'properties':{"
	"'n':{'type':'integer','description':'number'},"
	"'x':{'type':['number','null'],'description':'perhaps'},"
	"'list':{'type':'array','description':'all','items':{'anyOf':["
	"{'type':'object','required':['e'],'properties':{'e':{'enum':['a'],'description':'what'}}},"
	"{'type':'object','required':['e','t'],'properties':{"
	"'e':{'enum':['b','c'],'description':'what'},'t':{'type':'string','description':'text'}}}]}},"
	"'free':{'type':'object','description':'any'}}}";

static struct json_object *parse(const char *text)
{
	char copy[1024];
	char *c;

	snprintf(copy, sizeof(copy), "%s", text);
	for (c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return json_tokener_parse(copy);
}

static const struct {
	const char *value;
	const char *why; /* NULL: it is accepted */
} values[] = {
	{ "{'n':1}", NULL },
	{ "{'n':1,'x':2}", NULL },
	{ "{'n':1,'x':null,'free':{'y':1}}", NULL },
	{ "{'n':1,'list':[{'e':'a'},{'e':'c','t':''}]}", NULL },
	{ "[]", "t: : [ ] is not \"object\"" },
	{ "{}", "t: : has no \"n\"" },
	{ "{'n':1.5}", "t: n: 1.5 is not \"integer\"" },
	{ "{'n':null}", "t: n: null is not \"integer\"" },
	{ "{'n':1,'x':'2'}", "t: x: \"2\" is not [ \"number\", \"null\" ]" },
	{ "{'n':1,'m':1}", "t: : the schema has no \"m\"" },
	{ "{'n':1,'list':[{'e':'b'}]}", "has no \"t\"" },
	{ "{'n':1,'list':[{'e':'d','t':''}]}", "\"d\" is not in" },
	{ "{'n':1,'list':[{'e':'b','t':'','u':1}]}", "the schema has no \"u\"" },
};

TEST_EACH(value, ARRAY_SIZE(values))
{
	struct json_object *schema = parse(schema_text);
	struct json_object *value = parse(values[_i].value);
	char why[SCHEMA_WHY] = "";
	bool good;

	ck_assert_ptr_nonnull(schema);
	ck_assert_ptr_nonnull(value);
	good = schema_accepts(schema, value, "t", NULL, why);
	ck_assert_msg(good == !values[_i].why, "%s: %s", values[_i].value, why);
	ck_assert_msg(good || strstr(why, values[_i].why), "%s", why);
	json_object_put(value);
	json_object_put(schema);
}

TEST(keys)
{
	struct json_object *schema = parse(schema_text);
	struct json_object *value = parse(values[3].value);
	char seen[256] = "", all[256] = "", why[SCHEMA_WHY];
	FILE *f = fmemopen(seen, sizeof(seen), "w");

	ck_assert(schema_accepts(schema, value, "t", f, why));
	fclose(f);
	ck_assert_str_eq(seen, "t: n: number\nt: e: what\nt: e: what\nt: t: text\nt: list: all\n");
	f = fmemopen(all, sizeof(all), "w");
	schema_print_keys(schema, "t", f);
	fclose(f);
	ck_assert_str_eq(all, "t: n: number\nt: x: perhaps\nt: list: all\nt: e: what\nt: e: what\n"
			      "t: t: text\nt: free: any\n");
	json_object_put(value);
	json_object_put(schema);
}
