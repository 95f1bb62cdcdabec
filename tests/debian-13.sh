#!/usr/bin/env bash
# debian-13.sh COMPILER: builds and tests with COMPILER in a root of Debian 13, which has newer
# compilers, glibc, Boost, OpenSSL, hiredis (1.2) and Redis (8) than Debian 12. g++-14 compiles
# everything that has tests, optimised, and runs unit and contract tests; other compilers build the
# library and the command. The last line is "N passed, N failed", or "skipped: " and the reason
# where there can be no such root. For ./dev test --full.
set -eu -o pipefail
here=$(cd "${0%/*}/.." && pwd -P)
. "$here/packaging/clean_root.sh"
compiler=$1
folder=/build/$compiler

skip() {
  echo "skipped: Debian 13: $*"
  exit 0
}

# all_backends FLAGS: a tree with the warnings of this project as errors.
all_backends() {
  local option options=(IN_PIECES WERROR CLI TESTS WITH_REDIS WITH_ZOOKEEPER WITH_MYSQL WITH_ASIO)
  for option in "${!options[@]}"; do options[option]=-DHOLDFAST_${options[option]}=ON; done
  in_root cmake -S /source -B "$folder" -G Ninja -Wno-dev "-DCMAKE_CXX_COMPILER=$compiler" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=$1 -DNDEBUG" \
    -DHOLDFAST_BENCH=OFF "${options[@]}"
}

# build TARGET...: ends the script if that fails.
build() {
  local began=$SECONDS
  if ! in_root ninja -C "$folder" holdfast holdfast_cli "$@"; then
    printf 'failed: the build with %s\n0 passed, 1 failed\n' "$compiler"
    exit 1
  fi
  echo "built with $compiler in $((SECONDS - began)) s"
}

# suite LABELS: of the contract tests those of file: and of two layouts of Redis; of the unit tests
# all but one of a page, which needs Python.
suite() {
  in_root env CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$((4 * $(nproc)))}" \
    /source/tests/suite "$folder" -L "^($1)\$" -LE '^(codec|long)$' \
    -E '^unit[.]reference/|^contract[.].*(_memory|redisson_(rw|permits)_redis)$'
}

began=$SECONDS
in_root_seconds=1800  # of a machine that others use too
keep_root trixie debian-13
echo "a root of Debian 13 in $((SECONDS - began)) s"
case $compiler in
  g++-14)
    all_backends -O2  # GCC has warnings that need optimisation
    build unit_tests asio_tests contract_tests contract_process
    suite 'unit|contract'
    ;;
  *)
    all_backends -O0
    build
    if in_root "$folder/cli/holdfast" run nightly -- true; then echo "1 passed, 0 failed"
    else echo "0 passed, 1 failed"; fi
    ;;
esac
