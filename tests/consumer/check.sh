#!/bin/sh
# check.sh WAY SOURCE BUILD [COMPONENT...]: builds and runs programs against the library as a user
# gets it: installed from BUILD, or as SOURCE.
set -eu
way=$1 source=$2 build=$3
shift 3
here=$source/tests/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
export CXX="$compiler" TMPDIR="$scratch"

die() {
  echo "check.sh $way: $*" >&2
  exit 1
}

install_it() {
  cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
  # A moved installation must work.
  mv "$scratch/prefix" "$scratch/moved"
}

# must_say TEXT COMMAND...: what the command prints has TEXT in it.
must_say() {
  text=$1 failed=0
  shift
  "$@" >"$scratch/said" 2>&1 || failed=$?
  # CMake wraps its lines.
  tr -s ' \n' '  ' <"$scratch/said" | grep -qF -- "$text" || {
    cat "$scratch/said"
    die "nothing says: $text"
  }
  return $failed
}

run_c_program() {
  "$1" "file://$scratch/locks-of-${1##*/}"
}

configure_consumer() {
  cmake -S "$here/find_package" -B "$scratch/build" -G Ninja "$@"
}

find_package() {
  install_it
  configure_consumer -DCMAKE_PREFIX_PATH="$scratch/moved" -DCOMPONENTS="$*"
  ninja -C "$scratch/build"
  "$scratch/build/consumer"
  run_c_program "$scratch/build/c_consumer"
  [ ! -x "$scratch/build/asio_consumer" ] || "$scratch/build/asio_consumer"
}

pkg_config() {
  install_it
  folder=$(find "$scratch/moved" -name holdfast.pc -printf '%h')
  export PKG_CONFIG_PATH="$folder" LD_LIBRARY_PATH="${folder%/pkgconfig}"
  # shellcheck disable=SC2046
  $CXX -std=c++20 "$here/main.cpp" $(pkg-config --cflags --libs holdfast) -o "$scratch/consumer"
  "$scratch/consumer"
  # shellcheck disable=SC2046
  ${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror "$here/main.c" \
    $(pkg-config --cflags --libs holdfast) -o "$scratch/c_consumer"
  run_c_program "$scratch/c_consumer"
}

# The benchmarks are a component of their own, which is built and installed on demand.
bench() {
  if [ ! -x "$build/bench/holdfast-bench" ]; then
    echo "skipped: holdfast-bench is not built (./dev bench list)"
    exit 77
  fi
  cmake --install "$build" --component bench --prefix "$scratch/prefix" >/dev/null
  mv "$scratch/prefix" "$scratch/moved"
  program=$scratch/moved/bin/holdfast-bench
  must_say "survey [--quick]" "$program" survey --help
  # A bar that the installed file has, and the program of the build tree does not use.
  bars=$scratch/moved/share/holdfast/bench/bars.toml
  sed -i 's/^what = .*/what = "of this installation"/' "$bars"
  must_say "of this installation" "$program" list
  cd "$scratch"
  must_say "file" "$program" survey --quick --only file/flock/free
  [ -s "$scratch/holdfast-survey/survey.json" ] || die "the survey wrote no results"
  grep -q '<canvas id="rates">' "$scratch/holdfast-survey/survey.html" ||
    must_say "no page with charts" "$program" survey --report
  short="--seconds 0.01 --out run.json"  # too short to meet a bar reliably: exit code 1 will do
  # shellcheck disable=SC2086
  must_say "file/w1 ratio=" "$program" ratio file/w1 --pairs 5 $short || [ $? = 1 ]
  grep -q '"name": "file/w1"' run.json || die "the results of a row are not in its file"
  # shellcheck disable=SC2086
  must_say 'another value of "pairs"' "$program" ratio file/w1 --pairs 6 $short &&
    die "two runs are mixed in one file"
  return 0
}

# What an installed shared library lets others see.
symbols() {
  install_it
  library=$(find "$scratch/moved" -name 'libholdfast.so.*.*.*')
  nm -DC --defined-only "$library" | cut -d' ' -f3- | sed 's/@.*//' >"$scratch/symbols"
  ours='^_ZT[SIV]N8holdfast2v0|^_ZNK?8holdfast2v0|^HOLDFAST_[0-9.]+$|^holdfast_[a-z_]+$'
  if nm -D --defined-only "$library" | cut -d' ' -f3- | sed 's/@.*//' | grep -vE "$ours"; then
    die "these are no names of the public headers"
  fi
  functions=$(grep -o '\bholdfast_[a-z_]*(' "$source/include/holdfast/holdfast.h" | tr -d '(')
  for name in 'typeinfo for holdfast::v0::lock_error' 'vtable for holdfast::v0::lock_error' \
    holdfast::v0::client::open holdfast::v0::make_error_code holdfast::v0::to_prometheus \
    $functions; do
    grep -qF "$name" "$scratch/symbols" || die "not exported: $name"
  done
  soname=$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
  [ -L "${library%/*}/$soname" ] || die "the soname $soname is no link beside the library"
  [ "$soname.${library##*.}" = "${library##*/}" ] || die "soname $soname of ${library##*/}"
}

# A machine with a compiler and CMake only, and what find_package says of an installation from it.
bare() {
  must_say "HOLDFAST_TESTS is OFF, as there is no GTest" \
    cmake -S "$source" -B "$scratch/bare" -G Ninja -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON
  grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$scratch/bare/CMakeCache.txt" || die "not optimised"
  find_it="-Dholdfast_DIR=$scratch/bare"
  for component in redis zookeeper; do
    option=HOLDFAST_WITH_$(echo $component | tr '[:lower:]' '[:upper:]')
    remedy="it has: file, memory. Remedy: configure holdfast with -D$option=ON"
    if must_say "lacks the component \"$component\", $remedy" \
      configure_consumer "$find_it" -DCOMPONENTS=$component; then
      die "$component was found"
    fi
  done
  cmake --install "$scratch/bare" --component headers --prefix "$scratch/headers" >/dev/null
  headers=$scratch/headers/include/holdfast
  [ -e "$headers/detail/verbs.hpp" ] || die "headers are not installed"
  [ -z "$(find "$headers" -name 'asio*')" ] || die "headers of Boost.Asio are installed without it"
  must_say "lacks the component \"postbox\"" configure_consumer "$find_it" -DCOMPONENTS=postbox &&
    die "a component that does not exist was found"
  return 0
}

# must_refuse TEXT LINE...: CMake refuses a compiler that these lines of a toolchain file describe.
must_refuse() {
  text=$1
  shift
  {
    printf 'set(CMAKE_%s)\n' 'CXX_COMPILER_FORCED ON' 'CXX_COMPILER_ID_RUN 1' \
      'CXX_COMPILER_ID GNU' 'CXX_COMPILER_VERSION 12.2.0' 'SIZEOF_VOID_P 8'
    printf '%s\n' "$@"
  } >"$scratch/toolchain.cmake"
  rm -rf "$scratch/refused"
  if must_say "$text" cmake -S "$source" -B "$scratch/refused" -G Ninja \
    -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_TOOLCHAIN_FILE="$scratch/toolchain.cmake"; then
    die "CMake accepts: $*"
  fi
}

# build_inside CMAKE_OPTION...: the library as a part of a user's project.
build_inside() {
  cmake -S "$here/add_subdirectory" -B "$scratch/build" -G Ninja -DHOLDFAST_SOURCE="$source" \
    -DCMAKE_UNITY_BUILD=ON "$@"
  ninja -C "$scratch/build"
  "$scratch/build/consumer"
}

# The options of a user who looks for races in a program that uses the shared library.
shared_and_sanitized() {
  if ! echo 'int main() {}' | $CXX -fsanitize=thread -x c++ - -o "$scratch/none"; then
    echo "skipped: $CXX has no ThreadSanitizer"
    exit 77
  fi
  build_inside -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_FLAGS=-fsanitize=thread
}

case $way in
  find_package) find_package "$@" ;;
  pkg_config) pkg_config ;;
  symbols) symbols ;;
  bench) bench ;;
  bare) bare ;;
  add_subdirectory) build_inside ;;
  shared_and_sanitized) shared_and_sanitized ;;
  shared_build)  # kept, so that only what has changed is built the next time
    options=$(sed -n 's/^\(HOLDFAST_WITH_[A-Z]*\):BOOL\(=.*\)/-D\1\2/p' "$build/CMakeCache.txt")
    command=$(sed -n 's/^HOLDFAST_CLI:BOOL=//p' "$build/CMakeCache.txt")
    # shellcheck disable=SC2086
    cmake -S "$source" -B "$build/shared" -G Ninja -DCMAKE_CXX_COMPILER="$CXX" \
      -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" \
      -DCMAKE_INSTALL_PREFIX=/usr -DHOLDFAST_CLI="$command" -DHOLDFAST_TESTS=OFF \
      -DHOLDFAST_BENCH=OFF -DHOLDFAST_IN_PIECES=ON $options
    ninja -C "$build/shared"
    ;;
  headers)  # each can be the first that is included
    cd "$source/include"
    all=$(ls holdfast/*.hpp holdfast/detail/*.hpp)
    grep -q 'HOLDFAST_WITH_ASIO:BOOL=ON' "$build/CMakeCache.txt" ||
      all=$(echo "$all" | grep -v '/asio')
    # shellcheck disable=SC2016
    echo "$all" | xargs -P 2 -I HEADER sh -c \
      'echo "#include <HEADER>" | $CXX -std=c++20 -Wall -Wextra -fsyntax-only -I. -x c++ -'
    ;;
  older_standard)  # one line names the cause, before those that follow from it
    cd "$source/include"
    for header in holdfast/*.hpp; do
      case $header in */asio.hpp | */version.hpp) continue ;; esac
      echo "#include <$header>" | $CXX -std=c++17 -fsyntax-only -I. -x c++ - 2>"$scratch/said" &&
        die "$header compiles with -std=c++17"
      grep -m1 'error:' "$scratch/said" | grep -qF 'holdfast needs C++20' || {
        cat "$scratch/said"
        die "$header: the first error does not name C++20"
      }
    done
    ;;
  refused)
    must_refuse "holdfast needs a 64-bit machine" 'set(CMAKE_SIZEOF_VOID_P 4)'
    must_refuse "holdfast needs GCC 12 or later, and this is GCC 11.4.0" \
      'set(CMAKE_CXX_COMPILER_VERSION 11.4.0)'
    must_refuse "holdfast needs libstdc++" 'set(CMAKE_CXX_FLAGS -stdlib=libc++)'
    ;;
  command)
    install_it
    "$scratch/moved/bin/holdfast" version
    ;;
  *) exit 64 ;;
esac
