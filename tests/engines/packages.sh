# SPDX-License-Identifier: GPL-2.0-only
# Our packages: purged, installed by apt in an older version, upgraded while a process is
# held and followed, removed and purged. From the command to install them to a list of the
# queues takes a minute at most. What DKMS does has a case of its own.
# timeout: 240
# gpreempt: no
. /t/lib.sh
. /t/engines.sh

new=/files/debs/new old=/files/debs/old
version=$(dpkg-deb -f $new/gpreempt_*.deb Version)
PROGRAMS="gpreempt libgpreempt0"
ALL="$PROGRAMS libgpreempt-dev"

# apt COMMAND WORDS...: as an operator has it, without a network
apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 \
		-o APT::Install-Recommends=false "$@" > "$W/apt" 2>&1 ||
		fail "apt-get $*: $(cat "$W/apt")"
}

step "the programs of the saved guest are purged"
for p in $PROGRAMS; do dpkg -L $p; done > "$W/files"
dpkg --purge $PROGRAMS || fail "purge: $?"
no_file "$W/files"
for d in /run/gpreempt /etc/gpreempt; do
	[ ! -e $d ] || fail "$d is left"
done

step "from apt-get install to a list, without the module"
start a --queues 2 --packet 1ms
now_cs
t0=$_cs
apt install $(for p in $PROGRAMS; do echo $old/${p}_*.deb; done)
ctl 0 list
says "$(pid a)"
[ -d /etc/gpreempt ] || fail "there is no /etc/gpreempt"
now_cs
echo "   $(((_cs - t0) / 100)) s"
between $(((_cs - t0) / 100)) 0 $((60 * PACE)) "seconds from apt-get install to a list"

step "with the module"
insmod /lib/modules/gpreempt.ko || fail "insmod: $?"
in_view "$(pid a)" || fail "the module shows no process"

step "upgraded while a process is held, and another is followed"
unit train --queues 1 --packet 1ms
follow_unit cgroup:/system.slice/train.service
systemctl freeze train
wait_for 15 off "$(pid train)"
hold "$(pid a)"
apt install $(for p in $ALL; do echo $new/${p}_*.deb; done)
for p in $ALL; do
	[ "$(dpkg-query -W -f '${db:Status-Status} ${Version}' $p)" = "installed $version" ] ||
		fail "$p: $(dpkg-query -W $p)"
done
expect_suspended "$(pid a)"
off "$(pid train)" || fail "the upgrade has let the followed process run"
release_target "$(pid a)"
systemctl thaw train
wait_for 15 running "$(pid train)"
ctl 0 doctor

step "the unit of the new version"
systemctl restart "$follower" || fail "the unit of the new version does not start"
systemctl stop "$follower" train
stop a
nothing_left

step "removed, then purged: no file, no unit"
for p in $ALL; do dpkg -L $p; done > "$W/files"
# shellcheck disable=SC2086 # words
apt remove $ALL
# shellcheck disable=SC2086 # words
dpkg --purge $ALL || fail "purge: $?"
no_file "$W/files"
systemctl daemon-reload
! systemctl cat gpreempt-guard@x.service 2> /dev/null || fail "the unit is left"
