// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the files that the module needs when it is loaded.
 *
 * Not with kernel_read_file(): that is for what the kernel is going to trust,
 * its security hooks know no purpose such as this one, and IPE (Linux 6.12)
 * warns of it.
 */

#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/magic.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "file.h"

/*
 * The root of PID 1. Not that of this process, as modprobe may run in another
 * one, nor that of init_task, which is an empty file system on newer kernels.
 */
static int root_of_init(struct path *root)
{
	struct task_struct *init;
	int ret = -ESRCH;

	rcu_read_lock();
	init = pid_task(find_pid_ns(1, &init_pid_ns), PIDTYPE_PID);
	if (init)
		get_task_struct(init);
	rcu_read_unlock();
	if (!init)
		return ret;
	task_lock(init);
	if (init->fs) {
		get_fs_root(init->fs, root);
		ret = 0;
	}
	task_unlock(init);
	put_task_struct(init);
	return ret;
}

static struct file *open_for_init(const char *name)
{
	struct file *file;
	struct path root;
	int ret = root_of_init(&root);

	if (ret)
		return ERR_PTR(ret);
	file = file_open_root(&root, name, O_RDONLY, 0);
	path_put(&root);
	return file;
}

/*
 * Is a file of sysfs what the kernel has there? Root can mount another one over it, and
 * what is read out of it decides where the module reads and takes locks.
 */
static bool is_own(const struct file *file, const char *name)
{
	char buf[64];
	const char *path;

	if (strncmp(name, "/sys/", 5))
		return true;
	path = dentry_path_raw(file->f_path.dentry, buf, sizeof(buf));
	return file_inode(file)->i_sb->s_magic == SYSFS_MAGIC &&
	       !IS_ERR(path) && !strcmp(path, name + 4);
}

int gp_file_read(const char *name, size_t max, void **data, size_t *size)
{
	struct file *file = open_for_init(name);
	ssize_t len = -EFBIG;
	loff_t pos = 0;
	loff_t end;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (!is_own(file, name)) {
		fput(file);
		return -EXDEV;
	}
	end = i_size_read(file_inode(file));
	*data = end > 0 && end <= max ? vmalloc(end) : NULL;
	if (!*data && end > 0 && end <= max)
		len = -ENOMEM;
	while (*data && pos < end) {
		len = kernel_read(file, *data + pos, end - pos, &pos);
		if (len <= 0)
			break;
	}
	fput(file);
	if (*data && pos == end) {
		*size = end;
		return 0;
	}
	vfree(*data);
	*data = NULL;
	return len < 0 ? len : -EIO;
}

bool gp_file_there(const char *name)
{
	struct file *file = open_for_init(name);

	if (IS_ERR(file))
		return PTR_ERR(file) != -ENOENT;
	fput(file);
	return true;
}
