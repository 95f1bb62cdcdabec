#!/usr/bin/env bash
# abi.sh SOURCE BUILD [--accept]: compares what the shared library in BUILD exports, and the layout
# of the public types, with the ledger in abi/. With --accept, writes the ledger.
set -eu -o pipefail
export LC_ALL=C
source=$1 build=$2
ledger=$source/tests/consumer/abi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

skip() {
  echo "skipped: $*"
  exit 77
}

# Types of the standard library are left out: they have an ABI of their own.
describe_types() {
  ${CXX:-g++} -std=c++20 -g -O0 -fPIC -shared -I"$source/include" -ffile-prefix-map="$source/=" \
    "$source/tests/consumer/abi.cpp" -o "$scratch/libtypes.so"
  abidw --headers-dir "$source/include/holdfast" --drop-private-types --no-show-locs \
    --no-corpus-path --no-comp-dir-path --no-elf-needed --no-parameter-names --no-architecture \
    --no-write-default-sizes --suppressions "$ledger/suppressed.ini" \
    --out-file "$scratch/types.abi" "$scratch/libtypes.so"
}

# Without weak symbols, which are inline functions, and without the classes of namespace detail that
# the headers only declare.
describe_symbols() {
  local library
  library=$(find "$build" -maxdepth 1 -name 'libholdfast.so.*.*.*')
  [[ -n $library ]] || { echo "abi.sh: $build has no shared library" >&2; exit 1; }
  grep -rhoE '(class|struct) [a-z_]+ [^;(]*\{' "$source/include" | awk '{print $2}' | sort -u \
    >"$scratch/classes"
  nm -DC --defined-only "$library" | sed 's/@.*//' | awk -v classes="$scratch/classes" '
    BEGIN {while ((getline name <classes) > 0) defined[name] = 1}
    $2 == "W" {next}
    {$1 = $2 = ""; sub(/^ +/, "")}
    match($0, /holdfast::v0::detail::[a-z_]+(::|$)/) {
      name = substr($0, RSTART + 22, RLENGTH - 22)
      sub(/::$/, "", name)
      if (!(name in defined)) next
    }
    {print}' | sort -u >"$scratch/symbols.txt"
}

command -v abidw >/dev/null || skip "abigail-tools is not installed"
[[ $(uname -m) == x86_64 ]] || skip "the ledger is of x86_64"
if grep -qE 'WITH_(MEMORY|REDIS|ZOOKEEPER|MYSQL):BOOL=OFF' "$build/CMakeCache.txt"; then
  skip "a backend is not built"
fi
describe_types
describe_symbols
if [[ ${3-} == --accept ]]; then
  cp "$scratch/types.abi" "$scratch/symbols.txt" "$ledger"
  exit
fi
abidiff --no-added-syms --suppressions "$ledger/suppressed.ini" "$ledger/types.abi" \
  "$scratch/types.abi" || failed=1
removed=$(comm -23 "$ledger/symbols.txt" "$scratch/symbols.txt")
added=$(comm -13 "$ledger/symbols.txt" "$scratch/symbols.txt")
[[ -z $added ]] || printf 'added, which is allowed:\n%s\n' "$added"
[[ -z $removed ]] || { printf 'removed or changed:\n%s\n' "$removed"; failed=1; }
((failed == 0)) && exit
echo "The ABI differs from the ledger. If docs/compatibility.md allows the change, accept it with"
echo "$0 $source $build --accept"
exit 1
