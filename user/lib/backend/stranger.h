/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_BACKEND_STRANGER_H
#define GP_BACKEND_STRANGER_H

/* Tests have another: the driver need not be there. */
#ifndef GP_KFD_DEVICE
#define GP_KFD_DEVICE "/dev/kfd"
#endif

/*
 * What the driver answers to the end of a debug session when neither the tracer
 * of the target nor the owner of a session asks. It is asked of a process that
 * is made for this and does nothing but have /dev/kfd open, so that no session
 * ends. Costs a line in the kernel log.
 *
 * -EPERM: the driver minds who asks. -EINVAL: it only looked for a session.
 * -EBUSY: amdgpu-dkms, which profiles a process just now. Others: it could not
 * be asked.
 */
int gp_ask_disable(void *be);

#endif
