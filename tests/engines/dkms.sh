# SPDX-License-Identifier: GPL-2.0-only
# The package gpreempt-dkms: when it is installed, DKMS builds the module for the running
# kernel; the module is loaded and shows a process; nothing of it is left after a purge.
# timeout: 1800
# gpreempt: no
. /t/lib.sh
. /t/engines.sh

deb=$(ls /files/debs/new/gpreempt-dkms_*.deb)
version=$(dpkg-deb -f "$deb" Version)

modules() { find /lib/modules/*/updates -name 'gpreempt.ko*' 2> /dev/null; }

start a --queues 1 --packet 1ms --rate 10

step "installed: DKMS builds for this kernel"
now_cs
t0=$_cs
DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 \
	-o APT::Install-Recommends=false install "$deb" > "$W/apt" 2>&1 ||
	fail "apt-get: $(tail -n 40 "$W/apt" /var/lib/dkms/gpreempt/*/build/make.log)"
now_cs
echo "   $(((_cs - t0) / 100)) s"
dkms status
dkms status gpreempt/"$version" | grep -q "$(uname -r).*: installed" || fail "DKMS has not built it"
[ -n "$(modules)" ] || fail "DKMS has installed no module"

step "loaded: it shows the process"
modprobe gpreempt || fail "modprobe: $?"
[ "$(modinfo -F filename gpreempt)" = "$(modules)" ] || fail "another module was loaded"
in_view "$(pid a)" || fail "the module does not show the process"
ctl 0 doctor
unload

step "removed, then purged: no file and no module"
dpkg -L gpreempt-dkms > "$W/files"
apt-get -qq -y remove gpreempt-dkms > "$W/apt" 2>&1 || fail "remove: $(cat "$W/apt")"
[ -z "$(modules)" ] || fail "left: $(modules)"
dpkg --purge gpreempt-dkms || fail "purge: $?"
no_file "$W/files"
[ ! -e /var/lib/dkms/gpreempt ] || fail "DKMS has it still"
stop a
