// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "btf-blob.h"

struct blob base, driver;

void btf_die(const char *what)
{
	printf("btf-doctor: %s: %s\n", what, strerror(errno));
	exit(1);
}

void blob_load(const char *path, size_t head, struct blob *b)
{
	int fd = open(path, O_RDONLY);
	const struct btf_header *h;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) || lseek(fd, head, SEEK_SET) < 0)
		btf_die(path);
	b->head = head;
	b->data = malloc(st.st_size);
	while (n > 0 && b->size < (size_t)st.st_size) {
		n = read(fd, b->data + b->size, st.st_size - b->size);
		b->size += n > 0 ? n : 0;
	}
	close(fd);
	h = (const void *)b->data;
	if (b->size < sizeof(*h) || h->magic != 0xeb9f)
		btf_die("no BTF");
	b->types = b->data + h->hdr_len + h->type_off;
	b->types_len = h->type_len;
	b->strs = (const char *)b->data + h->hdr_len + h->str_off;
	b->strs_len = h->str_len;
}

const char *name_at(uint32_t off)
{
	if (off < base.strs_len)
		return base.strs + off;
	return off - base.strs_len < driver.strs_len ? driver.strs + off - base.strs_len : "";
}

size_t btf_tail_size(const struct btf_type *t)
{
	size_t vlen = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return BTF_INFO_KIND(t->info) == BTF_KIND_ARRAY ? 12 : 12 * vlen;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 8 * vlen;
	default:
		return 0;
	}
}

/* How many types a blob has. */
static uint32_t count(const struct blob *b)
{
	uint32_t pos = 0, n = 0;

	for (; pos < b->types_len; n++) {
		const struct btf_type *t = (const void *)(b->types + pos);

		pos += sizeof(*t) + btf_tail_size(t);
	}
	return n;
}

uint32_t other_type(uint32_t size)
{
	static uint32_t found;
	uint32_t pos = 0, id = count(&base) + 1;

	for (; !found && pos < driver.types_len; id++) {
		const struct btf_type *t = (const void *)(driver.types + pos);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT && t->size == size)
			found = id;
		pos += sizeof(*t) + btf_tail_size(t);
	}
	if (!found)
		btf_die("no structure of another size");
	return found;
}

/*
 * A structure of a blob by its name, or of a size and another name; the id of its first
 * type is there before. NULL: it has none.
 */
static const struct btf_type *find_struct(const struct blob *b, uint32_t *id, const char *name,
					  uint32_t size)
{
	uint32_t pos = 0;

	for (; pos < b->types_len; ++*id) {
		const struct btf_type *t = (const void *)(b->types + pos);
		bool same = !strcmp(name_at(t->name_off), name);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT && t->name_off &&
		    (size ? t->size == size && !same : same))
			return t;
		pos += sizeof(*t) + btf_tail_size(t);
	}
	return NULL;
}

uint32_t struct_size(const char *name)
{
	uint32_t id = 1;
	const struct btf_type *t = find_struct(&base, &id, name, 0);

	if (!t)
		t = find_struct(&driver, &id, name, 0);
	if (!t)
		btf_die(name);
	return t->size;
}

uint32_t other_struct(uint32_t size, const char *name)
{
	uint32_t id = 1;

	return find_struct(&base, &id, name, size) ? id : 0;
}

/* Id of the next type of a kind from *pos on, 0: none; *t is its record. */
static uint32_t next_type(uint32_t kind, uint32_t *pos, uint32_t *id, struct btf_type **t)
{
	while (*pos < driver.types_len) {
		struct btf_type *at = (void *)(driver.types + *pos);

		*pos += sizeof(*at) + btf_tail_size(at);
		++*id;
		if (BTF_INFO_KIND(at->info) != kind)
			continue;
		*t = at;
		return *id;
	}
	return 0;
}

uint32_t other_pointer(void)
{
	uint32_t pos = 0, id = count(&base), to = 0;
	struct btf_type *t;

	while (!to && next_type(BTF_KIND_STRUCT, &pos, &id, &t))
		if (!strcmp(name_at(t->name_off), "amdgpu_ring"))
			to = id;
	pos = 0;
	id = count(&base);
	while (to && next_type(BTF_KIND_PTR, &pos, &id, &t))
		if (t->type == to)
			return id;
	btf_die("no pointer to an amdgpu_ring");
}

uint32_t other_hook(void)
{
	uint32_t pos = 0, id = count(&base), i;
	struct btf_type *t;

	while (next_type(BTF_KIND_STRUCT, &pos, &id, &t)) {
		struct btf_member *m = (void *)(t + 1);

		for (i = 0; i < BTF_INFO_VLEN(t->info); i++)
			if (!strcmp(name_at(m[i].name_off), "hqd_destroy"))
				return m[i].type;
	}
	btf_die("no hook hqd_destroy");
}

struct btf_array *array_of(uint32_t want)
{
	uint32_t pos = 0, id = count(&base);
	struct btf_type *t;

	while (next_type(BTF_KIND_ARRAY, &pos, &id, &t))
		if (id == want)
			return (void *)(t + 1);
	btf_die("not an array");
}

uint32_t typedef_id(const char *name)
{
	const struct blob *b = base.size ? &base : &driver;
	uint32_t pos = 0, id = 1;

	for (; pos < b->types_len; id++) {
		const struct btf_type *t = (const void *)(b->types + pos);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_TYPEDEF &&
		    !strcmp(name_at(t->name_off), name))
			return id;
		pos += sizeof(*t) + btf_tail_size(t);
	}
	btf_die(name);
}
