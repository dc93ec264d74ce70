# SPDX-License-Identifier: GPL-2.0-only
# What the documents show is what the commands print.
# timeout: 240
# vgpu: gpus=1 xccs=4
if [ -e /sys/module/amdgpu/version ]; then
	echo "the documents show what Debian's driver answers, and this is amdgpu-dkms"
	exit 77
fi
cd /t/docs && sh /t/docs.sh check *.md
