// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where "make install" puts the holder: fixed when the library is built. */
#include "lib/hold/start.h"

const char gp_holder_path[] = GP_HOLDER;
