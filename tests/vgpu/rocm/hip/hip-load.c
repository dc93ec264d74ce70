// SPDX-License-Identifier: GPL-2.0-only
/*
 * hip-load: a HIP program. It loads a module, launches its kernel on several
 * streams, each launch adding 1 to a cell of its own, and copies pinned and
 * pageable memory to the GPU and back, compared.
 *
 *   hip-load MODULE STREAMS PACKET-US [LAUNCHES]
 *
 * LAUNCHES a stream; without it until SIGTERM. Prints what vgpu-load prints.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../vgpu.h"
#include "hip.h"

#define MAX_STREAMS 16
#define SLOTS	    64 /* launches in flight a stream */
#define COPY_BYTES  (1 << 20)
#define NAP_NS	    2000000

struct stream {
	hipStream_t stream;
	uint64_t *cells; /* one a slot, pinned: the GPU's marks */
	uint64_t seen[SLOTS];
	uint64_t head, tail; /* launched, found complete */
	uint64_t doubled;
};

struct load {
	hipModule_t module;
	hipFunction_t kernel;
	struct stream streams[MAX_STREAMS];
	unsigned int num_streams;
	uint64_t packet_ns;
	uint64_t launches; /* a stream; 0: no limit */
	uint64_t start_ns, next_ns, last_completed;

	void *vram;
	uint8_t *pinned, *pageable, *back;
	uint64_t copies, differ;
};

static void nap(void)
{
	struct timespec ts = { .tv_nsec = NAP_NS };

	nanosleep(&ts, NULL);
}

static int launch(struct load *load, struct stream *stream)
{
	struct vgpu_kernarg arg = {
		.magic = VGPU_KERNARG_MAGIC,
		.duration_ns = load->packet_ns,
		.address = (uintptr_t)&stream->cells[stream->head % SLOTS],
		.addend = 1,
	};
	void *params[] = { &arg.magic, &arg.duration_ns, &arg.address, &arg.addend };

	TRY(hipModuleLaunchKernel(load->kernel, 1, 1, 1, 1, 1, 1, 0, stream->stream, params, NULL));
	stream->head++;
	return 0;
}

/* In order within a stream: a launch is complete when it left its mark. */
static void retire(struct stream *stream)
{
	uint64_t marks, cell;
	unsigned int slot;

	for (; stream->tail < stream->head; stream->tail++) {
		slot = stream->tail % SLOTS;
		cell = __atomic_load_n(&stream->cells[slot], __ATOMIC_ACQUIRE);
		marks = cell - stream->seen[slot];
		if (!marks)
			return;
		stream->seen[slot] = cell;
		stream->doubled += marks - 1;
	}
}

/* Another pattern each round, so that old data does not pass for new. */
static int copy_round(struct load *load)
{
	bool use_pinned = load->copies % 4 == 0;
	uint8_t *from = use_pinned ? load->pinned : load->pageable;
	hipStream_t stream = load->streams[0].stream;

	memset(from, (int)(load->copies % 251) + 1, COPY_BYTES);
	from[load->copies % COPY_BYTES] = 0;
	memset(load->back, 0xff, COPY_BYTES);
	if (use_pinned) {
		TRY(hipMemcpyAsync(load->vram, from, COPY_BYTES, hipMemcpyHostToDevice, stream));
		TRY(hipStreamSynchronize(stream));
	} else {
		TRY(hipMemcpy(load->vram, from, COPY_BYTES, hipMemcpyHostToDevice));
	}
	TRY(hipMemcpy(load->back, load->vram, COPY_BYTES, hipMemcpyDeviceToHost));
	load->differ += memcmp(from, load->back, COPY_BYTES) != 0;
	load->copies += 2;
	return 0;
}

static uint64_t total(const struct load *load, bool completed)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < load->num_streams; i++)
		sum += completed ? load->streams[i].tail : load->streams[i].head;
	return sum;
}

static void progress(struct load *load)
{
	uint64_t now = now_ns(), completed = total(load, true);

	if (now < load->next_ns)
		return;
	printf("t %.3f submitted %" PRIu64 " completed %" PRIu64 " rate %.0f\n",
	       (double)(now - load->start_ns) / NS_PER_S, total(load, false), completed,
	       (double)(completed - load->last_completed) * NS_PER_S /
		       (double)(now - load->next_ns + REPORT_NS));
	load->last_completed = completed;
	load->next_ns = now + REPORT_NS;
}

static bool all_launched(const struct load *load)
{
	return stop_requested ||
	       (load->launches && total(load, false) >= load->launches * load->num_streams);
}

static int fill(struct load *load, struct stream *stream)
{
	while (stream->head - stream->tail < SLOTS &&
	       (!load->launches || stream->head < load->launches))
		if (launch(load, stream))
			return -1;
	return 0;
}

static int run(struct load *load)
{
	unsigned int i;

	load->start_ns = now_ns();
	load->next_ns = load->start_ns + REPORT_NS;
	while (!all_launched(load)) {
		for (i = 0; i < load->num_streams; i++) {
			retire(&load->streams[i]);
			if (fill(load, &load->streams[i]))
				return -1;
		}
		if (copy_round(load))
			return -1;
		progress(load);
		nap();
	}
	for (i = 0; i < load->num_streams; i++) {
		TRY(hipStreamSynchronize(load->streams[i].stream));
		retire(&load->streams[i]);
	}
	return 0;
}

static int prepare(struct load *load, const char *file)
{
	struct stream *stream;
	unsigned int i;

	TRY(hipModuleLoad(&load->module, file));
	TRY(hipModuleGetFunction(&load->kernel, load->module, "vgpu_kernel"));
	for (i = 0; i < load->num_streams; i++) {
		stream = &load->streams[i];
		TRY(hipStreamCreateWithFlags(&stream->stream, hipStreamNonBlocking));
		TRY(hipHostMalloc((void **)&stream->cells, SLOTS * sizeof(uint64_t), 0));
		memset(stream->cells, 0, SLOTS * sizeof(uint64_t));
	}
	TRY(hipMalloc(&load->vram, COPY_BYTES));
	TRY(hipHostMalloc((void **)&load->pinned, COPY_BYTES, 0));
	load->pageable = malloc(COPY_BYTES);
	load->back = malloc(COPY_BYTES);
	return load->pageable && load->back ? 0 : -1;
}

static int clean_up(struct load *load)
{
	unsigned int i;

	for (i = 0; i < load->num_streams; i++) {
		TRY(hipStreamDestroy(load->streams[i].stream));
		TRY(hipHostFree(load->streams[i].cells));
	}
	TRY(hipFree(load->vram));
	TRY(hipHostFree(load->pinned));
	TRY(hipModuleUnload(load->module));
	free(load->pageable);
	free(load->back);
	return 0;
}

/* All streams are synchronized: a launch without a mark is lost. */
static int verdict(const struct load *load)
{
	uint64_t submitted = total(load, false), completed = total(load, true), doubled = 0;
	unsigned int i;

	for (i = 0; i < load->num_streams; i++)
		doubled += load->streams[i].doubled;
	printf("done submitted %" PRIu64 " completed %" PRIu64 " lost %" PRIu64 " doubled %" PRIu64
	       " copies %" PRIu64 " differ %" PRIu64 "\n",
	       submitted, completed, submitted - completed, doubled, load->copies, load->differ);
	return submitted != completed || doubled || load->differ;
}

int main(int argc, char **argv)
{
	static struct load load;
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4) {
		fputs("usage: hip-load MODULE STREAMS PACKET-US [LAUNCHES]\n", stderr);
		return 2;
	}
	load.num_streams = (unsigned int)atoi(argv[2]);
	load.packet_ns = strtoull(argv[3], NULL, 10) * 1000;
	load.launches = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	if (!load.num_streams || load.num_streams > MAX_STREAMS)
		return 2;
	catch_stop();
	/* The first copy builds HIP's own kernels, which takes seconds. */
	if (prepare(&load, argv[1]) || copy_round(&load))
		return 1;
	printf("ready pid %d streams %u\n", (int)getpid(), load.num_streams);
	if (run(&load))
		return 1;
	ret = verdict(&load);
	return clean_up(&load) ? 1 : ret;
}
