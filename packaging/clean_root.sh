# shellcheck shell=bash disable=SC2154
# An empty Debian, to try what a user gets, and a Debian with packages that is kept. For scripts,
# which define `skip REASON` and set `here` to the source tree. Nothing else is left behind: the
# mounts live in a namespace of their own and go with it.

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

# bootstrap CODENAME: fills the folder `empty` with that release from `mirror`.
bootstrap() {
  local log last
  log=$empty.log
  if ! timeout 480 debootstrap --variant=minbase "$1" "$empty" "$mirror" </dev/null \
    >"$log" 2>&1; then
    last=$(tail -n 1 "$log")
    rm -f "$log"
    skip "debootstrap of $1 from $mirror: $last"
  fi
  rm -f "$log"
  settings_of_network | xargs -r cp -t "$empty/etc/apt/apt.conf.d"
  cp -L /etc/resolv.conf "$empty/etc/resolv.conf"
}

# make_clean_root: sets `empty` to a folder with the root, of this machine's release; an archive of
# it is kept in build/ for the next one.
make_clean_root() {
  local codename mirror archive
  require_clean_root
  find_mirror
  empty=$(mktemp -d)
  chmod 755 "$empty"  # apt downloads as a user of its own
  archive=$here/build/empty-$codename.tar
  if [[ -n $(find "$archive" -mtime -7 2>/dev/null) ]]; then
    tar -C "$empty" -xf "$archive" && return
  fi
  bootstrap "$codename"
  mkdir -p "$here/build"
  tar -C "$empty" -cf "$archive.$$" . && mv "$archive.$$" "$archive"
}

# keep_root CODENAME LIST: sets `empty` to a root of that release with the packages of LIST, which
# stays in build/ until the list changes. in_root shows the source tree there in /source, read-only.
keep_root() {
  local kept=$here/build/root-$1 list=$here/packaging/$2.txt lock packages
  local codename mirror
  require_clean_root
  find_mirror
  mkdir -p "$here/build"
  exec {lock}>"$kept.lock"
  flock "$lock"
  if ! cmp -s "$list" "$kept/packages"; then
    rm -rf --one-file-system "$kept" "$kept.new"
    mkdir -m 755 "$kept.new"
    empty=$kept.new
    bootstrap "$1"
    mkdir "$empty/source"
    echo "127.0.0.1 localhost" >"$empty/etc/hosts"
    echo force-unsafe-io >"$empty/etc/dpkg/dpkg.cfg.d/unsafe-io"  # only a complete root is kept
    cp "$here/packaging/apt-install.sh" "$empty/apt-install.sh"
    mapfile -t packages < <(grep -v '^#' "$list")
    in_root /apt-install.sh "${packages[@]}" >"$kept.log" 2>&1 ||
      skip "its packages cannot be installed: $(grep '^E: ' "$kept.log" | head -n 1)"
    cp "$list" "$empty/packages"
    mv "$kept.new" "$kept"
  fi
  empty=$kept
  exec {lock}>&-
}

# in_root COMMAND...: in the empty root, with a /proc and a /dev of its own; all of it ends with it.
in_root() {
  # shellcheck disable=SC2016
  timeout "${in_root_seconds:-600}" unshare -m -p -f --kill-child sh -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && cd "$1" || exit 99
    [ ! -d source ] || mount --bind -o ro "$2" source || exit 99
    shift 2; exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
      http_proxy="$http_proxy" https_proxy="$https_proxy" "$@"' sh "$empty" "$here" "$@" </dev/null
}
