#!/usr/bin/env bash
# cross_root.sh PROCESSOR: makes build/cross/PROCESSOR, Debian's headers and libraries for aarch64
# or s390x, which tests for it are built and run with. No program of them is executed, so this
# needs no emulator. The folder is kept until the list of packages changes. Where it cannot be
# made, the script prints "skipped: " and the reason, and exits with 77.
set -eu -o pipefail
here=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
. "$here/packaging/clean_root.sh"
processor=$1
folder=$here/build/cross/$processor
case $processor in
  aarch64) architecture=arm64 ;;
  *) architecture=$processor ;;
esac

skip() {
  echo "skipped: $processor: $1"
  exit 77
}

# packages: the libraries of a build for this machine, and the C++ library of the cross compiler.
packages() {
  {
    echo libc6-dev
    echo "libstdc++-$("$processor-linux-gnu-g++" -dumpversion)-dev"
    grep -ohE '^[a-z0-9.+-]+-dev' "$here"/packaging/{build,redis,mysql,test}.txt
  } | sort -u | paste -s -d ,
}

make_root() {
  local codename mirror file options=()
  find_mirror
  for file in $(settings_of_network); do options+=("--aptopt=$file"); done
  # What was built with other headers is not newer than these.
  rm -rf "$folder" "$folder.new" "$here/build/$processor"
  mkdir -p "${folder%/*}"
  timeout 240 mmdebstrap --variant=extract "--architectures=$architecture" "${options[@]}" \
    "--include=$1" "$codename" "$folder.new" "$mirror" </dev/null >"$folder.log" 2>&1 ||
    skip "mmdebstrap from $mirror: $(tail -n 1 "$folder.log")"
  # The emulator opens a file of this root in place of the machine's, whichever a test names.
  find "$folder.new" -mindepth 1 -maxdepth 1 ! -name usr ! -name 'lib*' -exec rm -rf {} +
  echo "$1" >"$folder.new/packages"
  mv "$folder.new" "$folder"
}

for command in mmdebstrap "qemu-$processor" "$processor-linux-gnu-g++"; do
  command -v "$command" >/dev/null || skip "$command is not installed"
done
list=$(packages)
[[ $(cat "$folder/packages" 2>/dev/null) == "$list" ]] || make_root "$list"
