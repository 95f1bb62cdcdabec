# shellcheck shell=bash disable=SC2154
# An empty Debian of this machine's release, to try what a user gets. For scripts, which define
# `skip REASON` and set `here` to the source tree. Nothing is left behind: the mounts live in a
# namespace of their own and go with it.

require_clean_root() {
  ((EUID == 0)) || skip "an empty root needs root"
  command -v apt-get >/dev/null || skip "this is not a Debian"
  unshare -m -p -f true 2>/dev/null || skip "this machine allows no mount namespace"
  if ! command -v debootstrap >/dev/null || ! command -v git >/dev/null; then
    timeout 180 "$here/packaging/apt-install.sh" debootstrap git </dev/null >&2 ||
      skip "debootstrap cannot be installed"
  fi
}

# find_mirror: sets `codename` and `mirror` to what apt uses here, and exports its proxies.
find_mirror() {
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format "\$(REPO_URI)" "Created-By: Packages" "Component: main" \
    "Codename: $codename" | head -n 1)
  [[ -n $mirror ]] || skip "apt knows no mirror of $codename"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  export http_proxy=${http_proxy-} https_proxy=${https_proxy-}
}

# settings_of_network: the files of apt with a proxy or certificates. Most machines have none.
settings_of_network() {
  grep -lE 'Proxy|CaInfo' /etc/apt/apt.conf /etc/apt/apt.conf.d/* 2>/dev/null || true
}

# make_clean_root: sets `empty` to a folder with the root; an archive of it is kept in build/ for
# the next one.
make_clean_root() {
  local codename mirror archive log
  require_clean_root
  find_mirror
  empty=$(mktemp -d)
  chmod 755 "$empty"  # apt downloads as a user of its own
  archive=$here/build/empty-$codename.tar
  if [[ -n $(find "$archive" -mtime -7 2>/dev/null) ]]; then
    tar -C "$empty" -xf "$archive" && return
  fi
  log=$empty.log
  if ! timeout 240 debootstrap --variant=minbase "$codename" "$empty" "$mirror" </dev/null \
    >"$log" 2>&1; then
    local last
    last=$(tail -n 1 "$log")
    rm -f "$log"
    skip "debootstrap from $mirror: $last"
  fi
  rm -f "$log"
  settings_of_network | xargs -r cp -t "$empty/etc/apt/apt.conf.d"
  cp -L /etc/resolv.conf "$empty/etc/resolv.conf"
  mkdir -p "$here/build"
  tar -C "$empty" -cf "$archive.$$" . && mv "$archive.$$" "$archive"
}

# in_root COMMAND...: in the empty root, with a /proc and a /dev of its own; all of it ends with it.
in_root() {
  # shellcheck disable=SC2016
  timeout 600 unshare -m -p -f --kill-child sh -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && cd "$1" || exit 99
    shift; exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
      http_proxy="$http_proxy" https_proxy="$https_proxy" "$@"' sh "$empty" "$@" </dev/null
}
