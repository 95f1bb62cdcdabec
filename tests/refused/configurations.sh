#!/bin/sh
# configurations.sh REFUSALS: cmake refuses each configuration that holdfast cannot be built for, in
# one sentence that names the remedy, and accepts the others. REFUSALS is cmake/refusals.cmake.
set -u
refusals=$1
failed=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT

configure() {
  cmake -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SIZEOF_VOID_P=8 -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
    -DCMAKE_CXX_COMPILER_ID=GNU -DCMAKE_CXX_COMPILER_VERSION=12.2.0 "$@" -P "$refusals" \
    >"$said" 2>&1
}

# accepted FLAG...
accepted() {
  configure "$@" && [ ! -s "$said" ] && return
  echo "refused with $*:"
  cat "$said"
  failed=1
}

# refused SENTENCE FLAG...
refused() {
  sentence=$1
  shift
  if configure "$@"; then
    echo "accepted with $*"
    failed=1
  # CMake wraps its lines.
  elif ! tr -s ' \n' '  ' <"$said" | grep -qF -- "$sentence"; then
    echo "with $* cmake does not print '$sentence', but:"
    cat "$said"
    failed=1
  fi
}

accepted
accepted -DCMAKE_CXX_COMPILER_ID=Clang -DCMAKE_CXX_COMPILER_VERSION=14.0.6
accepted -DCMAKE_SYSTEM_PROCESSOR=s390x -DCMAKE_CXX_FLAGS=-stdlib=libstdc++
refused 'holdfast needs a 64-bit machine (armv7l has pointers of 4 bytes): it locks bytes' \
  -DCMAKE_SIZEOF_VOID_P=4 -DCMAKE_SYSTEM_PROCESSOR=armv7l
refused 'holdfast needs GCC 12 or later, and this is GCC 11.3.0: name another compiler' \
  -DCMAKE_CXX_COMPILER_VERSION=11.3.0
refused 'holdfast needs Clang 14 or later, and this is Clang 13.0.1: name another compiler' \
  -DCMAKE_CXX_COMPILER_ID=Clang -DCMAKE_CXX_COMPILER_VERSION=13.0.1
refused 'holdfast needs libstdc++ (libc++ has no std::stop_token): leave out -stdlib=libc++' \
  '-DCMAKE_CXX_FLAGS=-O2 -stdlib=libc++'
refused 'holdfast needs Linux, and this is a build for Darwin: build it on Linux' \
  -DCMAKE_SYSTEM_NAME=Darwin
exit $failed
