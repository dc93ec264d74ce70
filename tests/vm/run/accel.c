// SPDX-License-Identifier: GPL-2.0-only
/*
 * KVM or TCG. /dev/kvm may be there and not work (nested hosts), so a guest is
 * booted to the point where it is ready; what came out is kept for this host.
 */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "vmrun.h"

#define PROBE_TIMEOUT 20 /* s; a working KVM needs 3 */

static void host_name(char *buf, size_t size)
{
	struct utsname u;

	uname(&u);
	snprintf(buf, size, "%s %s %s", u.nodename, u.release, u.version);
}

static bool read_choice(struct bench *b, const char *path, const char *host)
{
	char line[512] = "";
	FILE *f = fopen(path, "re");
	bool known;

	if (!f)
		return false;
	known = fscanf(f, "%7s ", b->accel) == 1 && fgets(line, sizeof(line), f);
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return known && !strcmp(line, host);
}

static void write_choice(const struct bench *b, const char *path, const char *host)
{
	char new[PATH_MAX + 8];
	FILE *f;

	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "we");
	if (!f)
		return;
	fprintf(f, "%s %s\n", b->accel, host);
	fclose(f);
	rename(new, path);
}

static bool kvm_boots(const struct bench *b)
{
	struct vm vm = { .pid = 0 };
	int ret;

	snprintf(vm.dir, sizeof(vm.dir), "%s/kvm", b->run);
	ret = guest_boot(&vm, b, "kvm", NULL, PROBE_TIMEOUT);
	vm_stop(&vm);
	return !ret;
}

void accel_choose(struct bench *b)
{
	char path[PATH_MAX], host[400];
	int lock;

	if (b->counted)
		return;
	host_name(host, sizeof(host));
	snprintf(path, sizeof(path), "%s/vm/accel.lock", b->build);
	lock = lock_file(path);
	snprintf(path, sizeof(path), "%s/vm/accel", b->build);
	if (!read_choice(b, path, host)) {
		strcpy(b->accel, "tcg");
		if (!access("/dev/kvm", R_OK | W_OK)) {
			complain("trying KVM (up to %d s, once)", PROBE_TIMEOUT);
			if (kvm_boots(b))
				strcpy(b->accel, "kvm");
			else
				complain("KVM does not boot a guest here, using TCG");
		}
		write_choice(b, path, host);
	}
	close(lock);
}
