# SPDX-License-Identifier: LGPL-2.1-or-later
"""The version of libgpreempt that this package is for."""

VERSION = "0.2.0"
