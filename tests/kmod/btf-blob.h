/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTF_BLOB_H
#define BTF_BLOB_H

/*
 * The BTF of the kernel and of amdgpu as a program reads it: names, and the ids of
 * types. A layout that stands in the place of amdgpu's is whole in itself: the kernel's
 * is empty then. What is not there ends the program with a line that names it.
 */
#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>

#define BTF_DIR "/sys/kernel/btf/"

struct blob {
	size_t head; /* bytes of the file before data */
	uint8_t *data;
	size_t size;
	uint8_t *types;
	uint32_t types_len;
	const char *strs;
	uint32_t strs_len;
};

/* BTF of the kernel, and of amdgpu, whose ids and names continue the kernel's. */
extern struct blob base, driver;

/* Print the failed call, and errno's text; exit with 1. */
_Noreturn void btf_die(const char *what);

void blob_load(const char *path, size_t head, struct blob *b);

/* Number of bytes that belong to a type, behind its record. */
size_t btf_tail_size(const struct btf_type *t);

/* Name at an offset that a type has, "" if there is none. */
const char *name_at(uint32_t off);

/* Id of a structure of that size, which no field has. */
uint32_t other_type(uint32_t size);

/* Size of a structure. */
uint32_t struct_size(const char *name);

/* Id of a structure of the kernel's of that size, and not of that name; 0: none. */
uint32_t other_struct(uint32_t size, const char *name);

/* Id of a pointer to a structure that no row's field points to. */
uint32_t other_pointer(void);

/* Type of a hook that has a prototype of its own. */
uint32_t other_hook(void);

/* The array of that id, to be changed. */
struct btf_array *array_of(uint32_t want);

/* Id of a type definition of the kernel's, or of a layout. */
uint32_t typedef_id(const char *name);

#endif
