// SPDX-License-Identifier: GPL-2.0-only
/* The frames of gfx 12. */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "mes_v12_api_def.h"

#define VGPU_MES_DECODE vgpu_mes_decode_v12
#include "vgpu_mes_decode.h"
