// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races on purpose.  On a guest's only CPU a thread runs until it sleeps or its slice
 * is over, so another one hardly ever runs between two of its steps.  A timer at
 * pseudo-random times changes that.  A thread of a program that it meets sleeps on
 * its way back to user space, for a pseudo-random time, so that another one runs.
 * All others lose the CPU to a thread of ours for a moment, anywhere in the kernel if
 * that is preemptible (preempt=full), and the scheduler picks again.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/task_work.h>
#include "vgpu_priv.h"

static unsigned int first_seed;
module_param_named(chaos, first_seed, uint, 0444);
MODULE_PARM_DESC(chaos, "switch threads at times that this seed gives; 0: not (0)");

/* The shortest of each, and how often it may double */
#define NEXT_NS	     20000 /* until the timer is due again: 2.5 ms at most */
#define NEXT_DOUBLES 7
#define STOP_NS	     20000 /* a stop: 41 ms at most */
#define STOP_DOUBLES 11
#define BUSY_NS	     1000 /* the CPU is taken: 64 us at most */
#define BUSY_DOUBLES 6
#define ALIGN_NS     (100 * NSEC_PER_MSEC)
#define STOPS_ONE_IN 4 /* one in so many times that the timer is due */

static struct chaos {
	struct hrtimer timer;
	struct task_struct *thread; /* NULL: off */
	u32 seed, random;
	u32 busy_ns;
	atomic_t stops, switches;

	/* One thread at a time is on its way to its stop */
	struct callback_head work;
	struct task_struct *victim; /* its work has not begun */
	u32 stop_ns;
	atomic_t asleep;
} chaos;
static DEFINE_MUTEX(chaos_lock); /* on and off */
static struct callback_head *(*cancel_match)(struct task_struct *task,
					     bool (*match)(struct callback_head *work, void *data),
					     void *data);

static u32 chaos_random(void)
{
	u32 x = chaos.random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	chaos.random = x;
	return x >> 8;
}

/* All magnitudes between the least and the greatest are as likely as each other */
static u32 chaos_time(u32 least, u32 doubles)
{
	least <<= chaos_random() % doubles;
	return least + chaos_random() % least;
}

/* Stop in the thread's own context, as its last act in the kernel */
static void chaos_stop(struct callback_head *work)
{
	ktime_t time = ns_to_ktime(chaos.stop_ns);

	atomic_inc(&chaos.asleep);
	/* stop_ns has been read, and may change */
	smp_store_release(&chaos.victim, NULL);
	put_task_struct(current);
	atomic_inc(&chaos.stops);
	/* Sleep as a thread that waits for something: signals and debuggers end it. */
	set_current_state(TASK_INTERRUPTIBLE);
	schedule_hrtimeout(&time, HRTIMER_MODE_REL);
	atomic_dec(&chaos.asleep);
}

static bool is_ours(struct callback_head *work, void *data)
{
	return work == &chaos.work;
}

/*
 * A thread that was chosen and then waits in the kernel comes to its stop much later,
 * or never: it is let off.  False: it has come there just now.
 */
static bool chaos_let_off(void)
{
	/* stop_ns is written after this */
	struct task_struct *victim = smp_load_acquire(&chaos.victim);

	if (!victim)
		return true;
	if (!cancel_match(victim, is_ours, NULL))
		return false;
	chaos.victim = NULL;
	put_task_struct(victim);
	return true;
}

static void chaos_choose(u32 ns)
{
	if (!chaos_let_off())
		return;
	chaos.stop_ns = ns;
	chaos.victim = get_task_struct(current);
	if (!task_work_add(current, &chaos.work, TWA_RESUME))
		return;
	chaos.victim = NULL; /* the victim has ended */
	put_task_struct(current);
}

static enum hrtimer_restart chaos_due(struct hrtimer *timer)
{
	bool stop = !(chaos_random() % STOPS_ONE_IN);
	u32 stop_ns = chaos_time(STOP_NS, STOP_DOUBLES);
	u32 busy_ns = chaos_time(BUSY_NS, BUSY_DOUBLES);

	hrtimer_forward_now(timer, ns_to_ktime(chaos_time(NEXT_NS, NEXT_DOUBLES)));
	if (is_idle_task(current) || current == chaos.thread)
		return HRTIMER_RESTART;
	if (stop && !(current->flags & PF_KTHREAD)) {
		chaos_choose(stop_ns);
	} else {
		chaos.busy_ns = busy_ns;
		wake_up_process(chaos.thread);
	}
	return HRTIMER_RESTART;
}

static int chaos_thread(void *unused)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop()) {
			schedule();
			atomic_inc(&chaos.switches);
		}
		__set_current_state(TASK_RUNNING);
		ndelay(READ_ONCE(chaos.busy_ns));
	}
	return 0;
}

static void chaos_off(void)
{
	if (!chaos.thread)
		return;
	hrtimer_cancel(&chaos.timer);
	while (!chaos_let_off() || atomic_read(&chaos.asleep))
		msleep(20);
	synchronize_rcu_tasks(); /* the last lines of chaos_stop() */
	kthread_stop(chaos.thread);
	chaos.thread = NULL;
}

/* Where the kernel's own ticks are as they were the last time */
static void chaos_align(void)
{
	ktime_t then = ns_to_ktime(roundup(ktime_get_ns(), (u64)ALIGN_NS));

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&then, HRTIMER_MODE_ABS);
}

/* Start with a seed: the same seed gives the same times from now on */
static int chaos_on(u32 seed)
{
	struct task_struct *t;

	chaos_off();
	chaos.seed = seed;
	atomic_set(&chaos.stops, 0);
	atomic_set(&chaos.switches, 0);
	if (!seed)
		return 0;
	t = kthread_run(chaos_thread, NULL, "vgpu-chaos");
	if (IS_ERR(t))
		return PTR_ERR(t);
	sched_set_fifo(t);
	chaos.thread = t;
	chaos.random = seed * 0x9e3779b9u; /* odd: 0 only of 0 */
	chaos_align();
	vgpu_hrtimer_setup(&chaos.timer, chaos_due);
	hrtimer_start(&chaos.timer, ns_to_ktime(NEXT_NS), HRTIMER_MODE_REL);
	return 0;
}

static ssize_t chaos_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char text[80];
	int n = scnprintf(text, sizeof(text), "seed %u stops %d switches %d\n", chaos.seed,
			  atomic_read(&chaos.stops), atomic_read(&chaos.switches));

	return simple_read_from_buffer(buf, len, pos, text, n);
}

static ssize_t chaos_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	u32 seed;
	int ret = kstrtou32_from_user(buf, len, 0, &seed);

	if (ret)
		return ret;
	mutex_lock(&chaos_lock);
	ret = chaos_on(seed);
	mutex_unlock(&chaos_lock);
	return ret ?: len;
}

static const struct file_operations chaos_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = chaos_read,
	.write = chaos_write,
};

void vgpu_chaos_init(struct dentry *root)
{
	init_task_work(&chaos.work, chaos_stop);
	cancel_match = (void *)vgpu_kernel_sym("task_work_cancel_match");
	if (cancel_match)
		debugfs_create_file("chaos", 0600, root, NULL, &chaos_fops);
}

int vgpu_chaos_start(void)
{
	if (!first_seed)
		return 0;
	if (!cancel_match) {
		pr_err("vgpu: the kernel has no task_work_cancel_match\n");
		return -ENOENT;
	}
	return chaos_on(first_seed);
}

void vgpu_chaos_exit(void)
{
	chaos_off();
}
