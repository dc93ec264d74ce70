# SPDX-License-Identifier: GPL-2.0-only
# What the documents show is what the commands print.
# timeout: 240
# vgpu: gpus=1 xccs=4
cd /t/docs && sh /t/docs.sh check *.md
