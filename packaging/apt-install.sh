#!/bin/sh
# Installs Debian packages without asking anything. Needs root. Servers that come with a package
# are not started: the tests start their own.
set -eu
export DEBIAN_FRONTEND=noninteractive

guard=/usr/sbin/policy-rc.d
if [ ! -e $guard ]; then
  trap 'rm -f $guard' EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\nexit 101\n' >$guard
  chmod 755 $guard
fi

apt() {
  apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}
have_lists() {
  for list in /var/lib/apt/lists/*_Packages*; do
    [ -e "$list" ] && return 0
  done
  return 1
}

have_lists || apt update
if ! apt install -y --no-install-recommends "$@"; then
  echo "apt-install: once more, with new package lists" >&2
  apt update
  apt install -y --no-install-recommends "$@"
fi
