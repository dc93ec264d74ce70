// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatches whose code is executed.  An engine in QEMU's process does that (vgpu_engine.h says
 * how it is asked); the virtual CPU stands still meanwhile.  What it executes takes as long as its
 * instructions, so a packet that is preempted has got as far as its time allows.
 *
 * Where there is no engine, and for packets without code, nothing here does anything.
 *
 * All under vgpu.lock; the request is one for all GPUs and has a lock of its own.
 */
#include <linux/debugfs.h>
#include <linux/vmalloc.h>
#include "vgpu_engine.h"
#include "vgpu_priv.h"

static struct engine_request *request; /* a page */
static DEFINE_MUTEX(request_lock);     /* the request, from its first field to its reply */
static atomic64_t unmapped, dispatches;
static bool there; /* an engine: a guest has one from its start to its end, or never */

/* The marked instruction.  Without an engine the word stays as it is. */
static u32 call(u32 op)
{
	request->op = op;
	asm volatile("movl %1, (%0)" : : "D"(&request->call), "i"(ENGINE_CALL) : "memory");
	return READ_ONCE(request->call);
}

/* Guest-physical address of a page of a process, or 0 */
static u64 page_of(struct vgpu *v, u32 pasid, u64 va)
{
	void *p = vgpu_user_ptr(v, pasid, va, PAGE_SIZE);

	return p ? (u64)vmalloc_to_pfn(p) << PAGE_SHIFT : 0;
}

static u32 ask(struct vgpu *v, struct vgpu_queue *q, u32 op)
{
	u32 reply;

	request->dispatch = q->work.dispatch;
	request->space = (u64)v->id << 32 | q->pasid;
	request->mapped = atomic64_read(&unmapped);
	request->tba = q->shader.tba;
	request->tma = q->shader.tma;
	request->lds_base = q->shader.lds_base;
	strscpy(request->target, vgpu_chip->name, sizeof(request->target));
	reply = call(op);
	while (reply == ENGINE_WANTS_PAGE) {
		request->page = page_of(v, q->pasid, request->want);
		reply = call(ENGINE_GO_ON);
	}
	return reply;
}

bool vgpu_shader_there(void)
{
	return there;
}

/* A mapping went away: the engine must forget its pages */
void vgpu_shader_unmapped(void)
{
	atomic64_inc(&unmapped);
}

/* The MQD of the i-th XCC that executes a queue; a PM4 queue has one XCC */
static struct v9_mqd *area_mqd(const struct vgpu_queue *q, int i)
{
	return vgpu_xcc_mqd(q, q->aql ? i : vgpu_xcc_target(q->mqd));
}

/* Where the MQD of each XCC has the save area: the driver's update_mqd() and init_mqd_v9_4_3() */
static void set_areas(struct vgpu *v, const struct vgpu_queue *q)
{
	const struct v9_mqd *m;
	int i;

	request->xccs = q->aql ? vgpu_num_xcc(v) : 1;
	for (i = 0; i < request->xccs; i++) {
		m = area_mqd(q, i);
		request->area[i] = (struct engine_area){
			.base = m->cp_hqd_ctx_save_base_addr_lo |
				(u64)m->cp_hqd_ctx_save_base_addr_hi << 32,
			.size = m->cp_hqd_ctx_save_size,
			.stack = m->cp_hqd_cntl_stack_size,
			.number = vgpu_xcc_number(m),
		};
	}
}

/* A dispatch that cannot go on: it ends, and the log says why */
static void end_fault(struct vgpu *v, struct vgpu_queue *q)
{
	request->why[sizeof(request->why) - 1] = '\0';
	dev_warn(v->adev.dev, "a dispatch of doorbell %#x ends: %s\n", q->doorbell, request->why);
	vgpu_count(v, code_faults);
	q->work.dispatch = 0;
	q->work.left_ns = 0;
}

/* Begin the code of a dispatch; false, and it takes packet_ns: there is none, or no engine */
bool vgpu_shader_begin(struct vgpu *v, struct vgpu_queue *q, const struct engine_launch *launch)
{
	u32 reply;

	q->work.left_ns = vgpu_clamp_ns(v->times.packet_ns);
	if (!there || (!launch->entry && !*(const u64 *)(launch->packet + AQL_KERNEL)))
		return false;
	mutex_lock(&request_lock);
	request->launch = *launch;
	set_areas(v, q);
	q->work.dispatch = atomic64_inc_return(&dispatches);
	reply = ask(v, q, ENGINE_START);
	if (reply == ENGINE_OK) {
		q->work.left_ns = VGPU_UNTIL_OVER;
		vgpu_count(v, code);
	} else if (reply == ENGINE_FAULT) {
		end_fault(v, q);
		q->work.left_ns = 1;
	} else {
		q->work.dispatch = 0;
	}
	mutex_unlock(&request_lock);
	return reply == ENGINE_OK || reply == ENGINE_FAULT;
}

/* Execute what takes ns at most, or one instruction; returns what it took */
u64 vgpu_shader_run(struct vgpu *v, struct vgpu_queue *q, u64 ns)
{
	u64 price = max(v->times.instruction_ns, 1ull);
	u32 reply;

	mutex_lock(&request_lock);
	request->budget = max(div64_u64(ns, price), 1ull);
	request->done = 0;
	request->clock_ns = v->time;
	request->price_ns = price;
	reply = ask(v, q, ENGINE_RUN);
	ns = max(request->done, 1ull) * price;
	atomic64_add(request->done, &v->counter[VGPU_CNT_instructions]);
	if (reply == ENGINE_OVER)
		q->work.left_ns = 0;
	else if (reply != ENGINE_OK)
		end_fault(v, q);
	mutex_unlock(&request_lock);
	return ns;
}

/* A wrong bit in what was saved of the first wave, on request */
static void flip(struct vgpu *v, struct vgpu_queue *q)
{
	u32 bit = READ_ONCE(v->faults.flip_saved), i;
	u8 *p = NULL;

	for (i = 0; bit && i < request->xccs; i++)
		if (request->area[i].used)
			break;
	if (!bit || i == request->xccs)
		return;
	bit--;
	p = vgpu_user_ptr(v, q->pasid, request->area[i].base + request->area[i].stack + bit / 8, 1);
	if (p)
		*p ^= 1 << bit % 8;
	WRITE_ONCE(v->faults.flip_saved, 0);
}

/* Memory of the state of a queue that is saved: behind its work, below the control stack */
static u32 *state_of(struct vgpu_queue *q)
{
	return q->mqd + PAGE_SIZE + VGPU_SAVE_BYTES;
}

static bool state_fits(const struct vgpu_queue *q)
{
	const struct v9_mqd *m = q->mqd;

	return VGPU_SAVE_BYTES + (request->words + ENGINE_STACK_WORDS) * 4 <=
	       m->cp_hqd_cntl_stack_size;
}

/* Control stack and offsets in the MQD of each XCC, as get_wave_state() reads them */
static void write_stacks(struct vgpu_queue *q)
{
	const u32 *word = request->stack;
	const struct engine_area *a;
	struct v9_mqd *m;
	int i;

	for (i = 0; i < request->xccs; i++) {
		a = &request->area[i];
		m = area_mqd(q, i);
		m->cp_hqd_cntl_stack_offset = m->cp_hqd_cntl_stack_size - a->words * 4;
		m->cp_hqd_wg_state_offset = m->cp_hqd_cntl_stack_size + a->used;
		memcpy((void *)m + PAGE_SIZE + m->cp_hqd_cntl_stack_offset, word, a->words * 4);
		word += a->words;
	}
}

/*
 * The waves of a queue that leaves its slot.  The handler writes them to the save area, and the
 * engine forgets them.
 */
void vgpu_shader_save(struct vgpu *v, struct vgpu_queue *q)
{
	u32 reply;

	if (!q->work.dispatch)
		return;
	mutex_lock(&request_lock);
	set_areas(v, q);
	reply = ask(v, q, ENGINE_SAVE);
	if (reply == ENGINE_OK && !state_fits(q)) {
		strscpy(request->why, "the control stack is full", sizeof(request->why));
		reply = ENGINE_FAULT;
	}
	if (reply == ENGINE_OK) {
		memcpy(state_of(q), request->state, request->words * 4);
		q->work.words = request->words;
		write_stacks(q);
		flip(v, q);
	} else {
		end_fault(v, q);
	}
	mutex_unlock(&request_lock);
}

/* They start at the handler's second word, and with nothing but their places. */
void vgpu_shader_restore(struct vgpu *v, struct vgpu_queue *q)
{
	u32 reply;

	if (!q->work.dispatch)
		return;
	mutex_lock(&request_lock);
	set_areas(v, q);
	request->words = q->work.words;
	memcpy(request->state, state_of(q), request->words * 4);
	reply = ask(v, q, ENGINE_RESTORE);
	if (reply != ENGINE_OK)
		end_fault(v, q);
	mutex_unlock(&request_lock);
}

/* Its waves are lost, as in a reset, or saved */
void vgpu_shader_drop(struct vgpu *v, struct vgpu_queue *q)
{
	if (!q->work.magic || !q->work.dispatch)
		return;
	mutex_lock(&request_lock);
	ask(v, q, ENGINE_DROP);
	mutex_unlock(&request_lock);
}

static int engine_get(void *data, u64 *val)
{
	*val = vgpu_shader_there();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(engine_fops, engine_get, NULL, "%llu\n");

void vgpu_shader_files(struct dentry *root)
{
	debugfs_create_file_unsafe("engine", 0400, root, NULL, &engine_fops);
}

int vgpu_shader_init(void)
{
	BUILD_BUG_ON(sizeof(*request) > PAGE_SIZE);
	request = (void *)get_zeroed_page(GFP_KERNEL);
	if (!request)
		return -ENOMEM;
	there = call(ENGINE_PROBE) == ENGINE_OK;
	return 0;
}

void vgpu_shader_exit(void)
{
	free_page((unsigned long)request);
}
