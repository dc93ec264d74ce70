// SPDX-License-Identifier: GPL-2.0-only
/*
 * A TCG plugin of QEMU: the engine that executes waves for vgpu.ko, in QEMU's process and at the
 * host's speed. It serves a request (vgpu_engine.h) while the virtual CPU that made it stands
 * still.
 *
 * The guest's memory is a memory-backend-memfd. Pages of a GPU address space are mapped from it
 * into windows, where addresses that follow one another do so here as well. A page that is not
 * there yet is asked of vgpu.ko: the request ends with ENGINE_WANTS_PAGE in the middle of an
 * instruction of a wave, on a stack of its own, and goes on there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "dispatch.h"
#include "qemu.h"

#define PAGE	    4096ull
#define WINDOW_BITS 30
#define WINDOW	    (1ull << WINDOW_BITS)
#define VA_BITS	    48
#define STACK	    (256 << 10)
#define PAGES_MOST  32768 /* mappings: a process may have twice as many */

struct window {
	struct window *next;
	u64 space, number;
	u8 *at;
	u64 present[WINDOW / PAGE / 64];
};

int qemu_plugin_version = OLD_VERSION;

static int ram_fd = -1;
static u64 ram_size;
static u8 *ram;
static struct window *windows, *last;
static u64 mapped, pages;

static void *map(u64 at, u64 len);
static struct wave_gpu gpu = { .map = map };
static struct engine_request *request;
static ucontext_t vcpu, engine;
static u32 reply;
static bool pending;

/* -- memory ------------------------------------------------------------------ */

/* Find the guest's memory among this process's files */
static bool find_ram(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[300], to[300];
	struct dirent *e;
	struct stat st;
	ssize_t n;

	while (dir && ram_fd < 0 && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		if (!strncmp(to, "/memfd:memory-backend-memfd", 27))
			ram_fd = atoi(e->d_name);
	}
	if (dir)
		closedir(dir);
	if (ram_fd < 0 || fstat(ram_fd, &st))
		return false;
	ram_size = st.st_size;
	ram = mmap(NULL, ram_size, PROT_READ | PROT_WRITE, MAP_SHARED, ram_fd, 0);
	return ram != MAP_FAILED;
}

/* Offset of a guest-physical page: QEMU's machine "pc" has the rest from 4 GiB on */
static u64 ram_offset(u64 phys)
{
	u64 low = ram_size >= 0xe0000000 ? 0xc0000000 : ram_size;

	if (phys < low)
		return phys;
	if (phys >= 1ull << 32 && phys - (1ull << 32) + low < ram_size)
		return phys - (1ull << 32) + low;
	return UINT64_MAX;
}

static void flush(void)
{
	for (struct window *w = windows; w; w = w->next) {
		mmap(w->at, WINDOW, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		memset(w->present, 0, sizeof(w->present));
	}
	pages = 0;
}

static struct window *window_of(u64 space, u64 number)
{
	struct window *w;

	for (w = windows; w; w = w->next)
		if (w->space == space && w->number == number)
			return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->space = space;
	w->number = number;
	w->at = mmap(NULL, WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->at == MAP_FAILED) {
		free(w);
		return NULL;
	}
	w->next = windows;
	windows = w;
	return w;
}

static bool fetch(struct window *w, u64 page)
{
	u64 offset;

	request->want = w->number << WINDOW_BITS | page * PAGE;
	reply = ENGINE_WANTS_PAGE;
	swapcontext(&engine, &vcpu);
	offset = request->page ? ram_offset(request->page) : UINT64_MAX;
	if (offset == UINT64_MAX || offset % PAGE)
		return false;
	if (mmap(w->at + page * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ram_fd,
		 offset) == MAP_FAILED)
		return false;
	w->present[page / 64] |= 1ull << page % 64;
	pages++;
	return true;
}

static void *map(u64 at, u64 len)
{
	u64 first = at % WINDOW / PAGE, end = at % WINDOW + len;

	if (at >> VA_BITS || len > WINDOW || end > WINDOW || !len)
		return NULL;
	if (!last || last->number != at >> WINDOW_BITS || last->space != request->space)
		last = window_of(request->space, at >> WINDOW_BITS);
	if (!last)
		return NULL;
	for (u64 page = first; page * PAGE < end; page++)
		if (!(last->present[page / 64] >> page % 64 & 1) && !fetch(last, page))
			return NULL;
	return last->at + at % WINDOW;
}

/* -- requests ---------------------------------------------------------------- */

static const char *serve_dispatch(struct engine_request *r)
{
	struct dispatch *d = *dispatch_find(r->dispatch);
	bool begins = r->op == ENGINE_START || r->op == ENGINE_RESTORE;
	const char *why;

	if (begins && d)
		dispatch_free(d);
	if (begins)
		d = dispatch_new(r->dispatch, &gpu);
	if (!d)
		return begins ? "no memory" : r->op == ENGINE_DROP ? NULL : "no such dispatch";
	switch (r->op) {
	case ENGINE_START:
		why = dispatch_start(d, r);
		break;
	case ENGINE_RESTORE:
		why = dispatch_restore(d, r);
		break;
	case ENGINE_RUN:
		why = dispatch_run(d, r);
		break;
	case ENGINE_SAVE:
		why = dispatch_save(d, r);
		break;
	default:
		why = NULL;
	}
	reply = !why && r->op == ENGINE_RUN && dispatch_over(d) ? ENGINE_OVER : ENGINE_OK;
	if (why || reply == ENGINE_OVER || r->op == ENGINE_SAVE || r->op == ENGINE_DROP)
		dispatch_free(d);
	return why;
}

static void serve(void)
{
	const char *why;

	reply = ENGINE_OK;
	request->target[sizeof(request->target) - 1] = '\0';
	gpu.target = wave_target(request->target);
	gpu.shared_base = request->lds_base;
	if (mapped != request->mapped || pages > PAGES_MOST)
		flush();
	mapped = request->mapped;
	why = request->op == ENGINE_PROBE ? NULL : serve_dispatch(request);
	if (why) {
		reply = why == dispatch_no_code ? ENGINE_NO_CODE : ENGINE_FAULT;
		snprintf(request->why, sizeof(request->why), "%s", why);
	}
	pending = false;
}

/* The marked store was executed */
static void on_call(unsigned int cpu, u32 info, u64 at, void *data)
{
	static u8 stack[STACK];
	u64 offset;

	(void)cpu;
	(void)data;
	/* The guest's kernel alone: its half of the addresses. */
	if (!(at >> 63) || (!ram && !find_ram()))
		return;
	offset = ram_offset(qemu_plugin_hwaddr_phys_addr(qemu_plugin_get_hwaddr(info, at)));
	if (offset == UINT64_MAX || offset % PAGE || offset + PAGE > ram_size)
		return;
	request = (struct engine_request *)(ram + offset);
	if (request->op != ENGINE_GO_ON || !pending) {
		getcontext(&engine);
		engine.uc_stack.ss_sp = stack;
		engine.uc_stack.ss_size = sizeof(stack);
		engine.uc_link = &vcpu;
		makecontext(&engine, serve, 0);
	}
	pending = true;
	swapcontext(&vcpu, &engine);
	request->call = reply;
}

static void on_translate(u64 id, struct qemu_plugin_tb *tb)
{
	static const u8 marked[6] = { 0xc7,
				      0x07,
				      ENGINE_CALL & 255,
				      ENGINE_CALL >> 8 & 255,
				      ENGINE_CALL >> 16 & 255,
				      ENGINE_CALL >> 24 };

	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		u8 copy[sizeof(marked)];
		const void *bytes = copy;

		if (qemu_plugin_insn_size(insn) != sizeof(marked))
			continue;
		if (qemu_plugin_version == OLD_VERSION)
			bytes = qemu_plugin_insn_data(insn, NULL, 0);
		else
			qemu_plugin_insn_data(insn, copy, sizeof(copy));
		if (!memcmp(bytes, marked, sizeof(marked)))
			qemu_plugin_register_vcpu_mem_cb(insn, on_call, CB_NO_REGS, MEM_WRITE,
							 NULL);
	}
}

/* QEMU reads the version when this has run */
__attribute__((constructor)) static void find_version(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = NEW_VERSION;
}

int qemu_plugin_install(u64 id, const void *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
