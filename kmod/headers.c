// SPDX-License-Identifier: GPL-2.0-only
/*
 * An amdgpu without BTF: kmod/headers-layout has compiled its private headers
 * when this module was installed, and left the BTF of that in a file.
 *
 * The file begins with a line of HEAD_SIZE bytes, padded with blanks: its name
 * and version, and the build id of the amdgpu.ko that it is for. The build id
 * is a hash of that very file. (A srcversion would not do: distributions build
 * without it, and another configuration does not change it.)
 */

#include <linux/elf.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "file.h"
#include "headers.h"

#define NOTE	  "/sys/module/amdgpu/notes/.note.gnu.build-id"
#define NOTE_MAX  SZ_4K
#define FILE_MAX  SZ_16M
#define HEAD	  "gpreempt-layout 1 "
#define HEAD_SIZE 64
#define ID_MAX	  20 /* bytes: a SHA-1 */
#define ID_TYPE	  3  /* NT_GNU_BUILD_ID */
#define AGAIN \
	"install gpreempt again (dkms install --force), see docs/module.md\n"
#define NO_BTF \
	"no BTF of amdgpu, and no %s in its place: amdgpu was built without BTF, as amdgpu-dkms often is, or the kernel rejected it; "

/* The build id in a note, in hexadecimal digits. */
static int note_to_id(const void *data, size_t size, char id[2 * ID_MAX + 1])
{
	const struct elf64_note *note = data;
	size_t skip;

	if (size < sizeof(*note) || note->n_type != ID_TYPE ||
	    !note->n_descsz || note->n_descsz > ID_MAX || note->n_namesz > size)
		return -EINVAL;
	skip = sizeof(*note) + ALIGN(note->n_namesz, 4);
	if (size < skip + note->n_descsz)
		return -EINVAL;
	*bin2hex(id, data + skip, note->n_descsz) = '\0';
	return 0;
}

static int loaded_id(char id[2 * ID_MAX + 1])
{
	size_t size;
	void *data;
	int ret;

	ret = gp_file_read(NOTE, NOTE_MAX, &data, &size);
	if (ret)
		return ret;
	ret = note_to_id(data, size, id);
	vfree(data);
	return ret;
}

static int check_head(const char *path, char *head, size_t size, const char *id)
{
	size_t len = strlen(HEAD);

	if (size < HEAD_SIZE || strncmp(head, HEAD, len)) {
		pr_err("%s is not a layout of this version's: " AGAIN, path);
		return -EOPNOTSUPP;
	}
	head[HEAD_SIZE - 1] = '\0';
	strim(head);
	if (strcmp(head + len, id)) {
		pr_err("%s was made for another amdgpu (build id %.40s, loaded is %s): " AGAIN,
		       path, head + len, id);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void refuse_file(const char *path, int err)
{
	if (err == -ENOENT)
		pr_err(NO_BTF AGAIN, path);
	else
		pr_err("cannot read %s (%d)\n", path, err);
}

int gp_headers_read(void **data, void **btf, size_t *size)
{
	char path[__NEW_UTS_LEN + 64];
	char id[2 * ID_MAX + 1];
	int ret;

	snprintf(path, sizeof(path),
		 "/lib/modules/%s/updates/gpreempt-amdgpu.btf",
		 init_utsname()->release);
	ret = gp_file_read(path, FILE_MAX, data, size);
	if (ret) {
		refuse_file(path, ret);
		return ret == -ENOMEM ? ret : -EOPNOTSUPP;
	}
	if (loaded_id(id)) {
		pr_err("cannot tell which amdgpu is loaded: no build id in " NOTE
		       "\n");
		ret = -EOPNOTSUPP;
		goto err_data;
	}
	ret = check_head(path, *data, *size, id);
	if (ret)
		goto err_data;
	*btf = *data + HEAD_SIZE;
	*size -= HEAD_SIZE;
	return 0;

err_data:
	vfree(*data);
	return ret;
}
