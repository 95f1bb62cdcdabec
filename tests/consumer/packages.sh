#!/usr/bin/env bash
# packages.sh SOURCE BUILD [FOLDER]: packs BUILD as Debian packages (into FOLDER), has lintian check
# them, and uses them in an empty Debian. Says what is skipped and why.
set -eu -o pipefail
here=$1 build=$2
scratch=$(mktemp -d)
empty=
trap 'rm -rf --one-file-system "$scratch" ${empty:+"$empty"}' EXIT
folder=${3:-$scratch/packages}

die() {
  echo "packages.sh: $*" >&2
  exit 1
}

pack() {
  rm -f "$folder"/*.deb
  if ! cpack --config "$build/CPackConfig.cmake" -B "$folder" >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    die "cpack failed"
  fi
  rm -rf "$folder/_CPack_Packages"
}

# has PACKAGE PATH...: the package has these files.
has() {
  local files path package=$1
  files=$(dpkg-deb -c "$folder/$package"_*.deb)
  shift
  for path; do
    grep -qE " \./usr/$path( ->.*)?$" <<<"$files" || die "$package lacks /usr/$path"
  done
}

# The command's manual page, where scdoc was found when the command was built.
check_manual_page() {
  local page=share/man/man1/holdfast.1.gz
  if [[ ! -e $build/cli/holdfast.1 ]]; then
    echo "skipped: the manual page: scdoc is not installed"
    return
  fi
  has holdfast "$page"
  dpkg-deb --fsys-tarfile "$folder"/holdfast_*.deb | tar -xO "./usr/$page" | gunzip |
    cmp - "$build/cli/holdfast.1" || die "the manual page is not that of the build"
}

check_contents() {
  local triplet
  triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  has "$library" "lib/$triplet/libholdfast.so.[0-9.]+"
  has libholdfast-dev "lib/$triplet/libholdfast.so" "lib/$triplet/pkgconfig/holdfast.pc" \
    "lib/$triplet/cmake/holdfast/holdfastConfig.cmake" include/holdfast/holdfast.hpp \
    include/holdfast/holdfast.h include/holdfast/detail/verbs.hpp
  has holdfast bin/holdfast share/bash-completion/completions/holdfast \
    share/zsh/site-functions/_holdfast share/fish/vendor_completions.d/holdfast.fish
  check_manual_page
  has python3-holdfast lib/python3/dist-packages/holdfast/{__init__.py,_library.py,py.typed}
  has holdfast-doc share/doc/holdfast-doc/docs/guides/c.md share/doc/holdfast-doc/README.md
}

lint() {
  if ! command -v lintian >/dev/null; then
    echo "skipped: lintian is not installed"
    return
  fi
  # cpack writes the scripts that call ldconfig, next to the trigger that would do.
  lintian --no-cfg --allow-root --fail-on error,warning \
    --suppress-tags maintscript-calls-ldconfig "$folder"/*.deb
}

# With the files of the packages, but on this machine, which has a compiler.
compile_consumers() {
  local root=$scratch/root package
  mkdir "$root"
  for package in "$library" libholdfast-dev; do dpkg-deb -x "$folder/$package"_*.deb "$root"; done
  PKG_CONFIG_PATH=$(dirname "$(find "$root" -name holdfast.pc)")
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046
  cc -std=c99 "$here/tests/consumer/main.c" $(pkg-config --cflags --libs holdfast) \
    -o "$scratch/c_consumer"
  cmake -S "$here/tests/consumer/find_package" -B "$scratch/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_SKIP_RPATH=ON >"$scratch/log" || cat "$scratch/log"
  ninja -C "$scratch/consumer" consumer >"$scratch/log" || { cat "$scratch/log"; exit 1; }
}

use() {
  cp "$folder"/*.deb "$scratch/c_consumer" "$scratch/consumer/consumer" "$empty/root"
  cat >"$empty/root/use.sh" <<'END'
set -eu
cd /root
apt-get -q update >log 2>&1 &&
  apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends ./*.deb >>log 2>&1 ||
  { tail -n 20 log; exit 77; }
ldd c_consumer | grep -q 'libholdfast.so.* => /lib/'
install -d -m 700 /run/locks
./c_consumer file:///run/c-locks
./consumer
holdfast run --url file:///run/locks nightly -- echo "the command runs under the lock"
python3 -c 'import holdfast
with holdfast.lock("file:///run/locks", "nightly") as lease: print("Python holds", lease.token)'
apt-get -q -y purge '*holdfast*' >>log 2>&1
[ -z "$(find /usr -path /usr/share/doc -prune -o -name '*holdfast*' -print)" ]
END
  in_root sh /root/use.sh || {
    local result=$?
    ((result == 77)) || die "the packages do not work in an empty Debian"
    if grep -qE 'Depends|broken|unmet' "$empty/root/log"; then die "a dependency is missing"; fi
    skip "apt-get cannot install there"
  }
}

skip() {
  echo "skipped: packages in an empty Debian: $*"
  LD_LIBRARY_PATH=$(dirname "$(find "$scratch/root" -name 'libholdfast.so.*.*.*')")
  export LD_LIBRARY_PATH
  "$scratch/c_consumer" "file://$scratch/locks"
  "$scratch/consumer/consumer"
  exit 0
}

library=libholdfast$(sed -n 's/.*HOLDFAST_VERSION "\([0-9]*\.[0-9]*\)\..*/\1/p' \
  "$here/include/holdfast/version.hpp")
. "$here/packaging/clean_root.sh"
mkdir -p "$folder"
pack
check_contents
lint
compile_consumers
make_clean_root
use
echo "packages: $(basename -a "$folder"/*.deb | tr '\n' ' ')"
