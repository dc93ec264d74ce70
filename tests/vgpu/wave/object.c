// SPDX-License-Identifier: GPL-2.0-only
/* Code objects: ELF files, which anyone can have made. All offsets are checked. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "group.h"

/* Offsets in the kernel descriptor, from LLVM's "User Guide for AMDGPU Backend". */
enum { KD_LDS = 0, KD_ENTRY = 16, KD_RSRC3 = 44, KD_RSRC1 = 48, KD_RSRC2 = 52, KD_PROPERTIES = 56 };
enum { KD_SIZE = 64, SEGMENTS_MAX = 64 };

static bool read_at(const void *file, size_t len, u64 at, void *to, size_t size)
{
	if (at > len || size > len - at)
		return false;
	memcpy(to, (const u8 *)file + at, size);
	return true;
}

static int load_segment(struct wave_gpu *gpu, u64 at, const void *file, size_t len,
			const Elf64_Phdr *p)
{
	u8 *to;

	if (p->p_filesz > p->p_memsz || p->p_vaddr > gpu->size || p->p_offset > len ||
	    p->p_filesz > len - p->p_offset)
		return -EINVAL;
	to = gpu_memory(gpu, at + p->p_vaddr, p->p_memsz);
	if (!to)
		return -ENOMEM;
	memcpy(to, (const u8 *)file + p->p_offset, p->p_filesz);
	memset(to + p->p_filesz, 0, p->p_memsz - p->p_filesz);
	return 0;
}

int wave_object_load(struct wave_gpu *gpu, u64 at, const void *file, size_t len)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;
	int status = 0;
	u32 k;

	if (!read_at(file, len, 0, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_machine != EM_AMDGPU || e.e_phentsize != sizeof(p) || e.e_phnum > SEGMENTS_MAX)
		return -EINVAL;
	for (k = 0; k < e.e_phnum && !status; k++) {
		if (!read_at(file, len, e.e_phoff + k * sizeof(p), &p, sizeof(p)))
			return -EINVAL;
		if (p.p_type == PT_LOAD)
			status = load_segment(gpu, at, file, len, &p);
	}
	return status;
}

/* A symbol of .dynsym, whose strings are in the section that it names. */
static bool find_symbol(const void *file, size_t len, const char *name, Elf64_Sym *symbol)
{
	size_t name_len = strlen(name) + 1;
	Elf64_Shdr section, strings;
	Elf64_Ehdr e;
	char text[256];
	u64 k, n;

	if (!read_at(file, len, 0, &e, sizeof(e)) || name_len > sizeof(text))
		return false;
	for (k = 0; k < e.e_shnum; k++) {
		if (!read_at(file, len, e.e_shoff + k * sizeof(section), &section, sizeof(section)))
			return false;
		if (section.sh_type != SHT_DYNSYM ||
		    !read_at(file, len, e.e_shoff + section.sh_link * sizeof(strings), &strings,
			     sizeof(strings)))
			continue;
		for (n = 0; n < section.sh_size / sizeof(*symbol); n++) {
			if (!read_at(file, len, section.sh_offset + n * sizeof(*symbol), symbol,
				     sizeof(*symbol)))
				return false;
			if (read_at(file, len, strings.sh_offset + symbol->st_name, text,
				    name_len) &&
			    !memcmp(text, name, name_len))
				return true;
		}
	}
	return false;
}

void wave_kernel_read(const u8 *d, u64 at, struct wave_kernel *k)
{
	memcpy(&k->lds, d + KD_LDS, 4);
	memcpy(&k->entry, d + KD_ENTRY, 8);
	memcpy(&k->rsrc1, d + KD_RSRC1, 4);
	memcpy(&k->rsrc2, d + KD_RSRC2, 4);
	memcpy(&k->rsrc3, d + KD_RSRC3, 4);
	memcpy(&k->properties, d + KD_PROPERTIES, 4);
	k->entry += at;
}

/* In these objects what is read only is at its address in the file. */
int wave_object_kernel(const void *file, size_t len, const char *name, struct wave_kernel *k)
{
	char descriptor[256];
	Elf64_Sym symbol;
	u8 d[KD_SIZE];

	snprintf(descriptor, sizeof(descriptor), "%s.kd", name);
	if (!find_symbol(file, len, descriptor, &symbol))
		return -ENOENT;
	if (!read_at(file, len, symbol.st_value, d, sizeof(d)))
		return -EINVAL;
	wave_kernel_read(d, symbol.st_value, k);
	return 0;
}
