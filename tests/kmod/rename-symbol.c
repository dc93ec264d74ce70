// SPDX-License-Identifier: GPL-2.0-only
/*
 * rename-symbol IN OUT NAME: copies a module and changes the last letter of every
 * string of it that is NAME. A signature, which would no longer hold, is made
 * one that the kernel does not see.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int rename_all(char *data, size_t size, const char *name)
{
	size_t len = strlen(name);
	char *end = data + size, *at = data;
	int n = 0;

	while ((at = memmem(at, end - at, name, len + 1))) {
		if (at > data && !at[-1]) {
			at[len - 1] = at[len - 1] == 'X' ? 'Y' : 'X';
			n++;
		}
		at += len;
	}
	return n;
}

static void unsign(char *data, size_t size)
{
	static const char mark[] = "~Module signature appended~\n";
	const size_t len = sizeof(mark) - 1;

	if (size > len && !memcmp(data + size - len, mark, len))
		data[size - len] = ' ';
}

static bool write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	for (; size; data += n, size -= n) {
		n = write(fd, data, size);
		if (n <= 0)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	int in, out, n;
	struct stat st;
	char *data;

	if (argc != 4)
		return 2;
	in = open(argv[1], O_RDONLY);
	out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || fstat(in, &st)) {
		perror("rename-symbol");
		return 1;
	}
	data = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, in, 0);
	if (data == MAP_FAILED) {
		perror("rename-symbol");
		return 1;
	}
	unsign(data, st.st_size);
	n = rename_all(data, st.st_size, argv[3]);
	if (!n || !write_all(out, data, st.st_size)) {
		fprintf(stderr, "rename-symbol: no string %s, or no room\n", argv[3]);
		return 1;
	}
	return 0;
}
