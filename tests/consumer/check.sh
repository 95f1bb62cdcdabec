#!/bin/sh
# check.sh WAY SOURCE BUILD: builds and runs a program against the library as a user gets it.
set -eu
way=$1 source=$2 build=$3
here=$source/tests/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

install_it() {
  cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
  # A moved installation must work.
  mv "$scratch/prefix" "$scratch/moved"
}

case $way in
  find_package)
    install_it
    cmake -S "$here/find_package" -B "$scratch/build" -G Ninja \
      -DCMAKE_PREFIX_PATH="$scratch/moved"
    ninja -C "$scratch/build"
    "$scratch/build/consumer"
    ;;
  add_subdirectory)
    cmake -S "$here/add_subdirectory" -B "$scratch/build" -G Ninja -DHOLDFAST_SOURCE="$source" \
      -DCMAKE_UNITY_BUILD=ON
    ninja -C "$scratch/build"
    "$scratch/build/consumer"
    ;;
  pkg_config)
    install_it
    PKG_CONFIG_PATH=$(dirname "$(find "$scratch/moved" -name holdfast.pc)")
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    c++ -std=c++20 "$here/main.cpp" $(pkg-config --cflags --libs holdfast) -o "$scratch/consumer"
    "$scratch/consumer"
    ;;
  headers)  # each can be the first that is included
    cd "$source/include"
    all=$(ls holdfast/*.hpp)
    grep -q 'HOLDFAST_WITH_ASIO:BOOL=ON' "$build/CMakeCache.txt" ||
      all=$(echo "$all" | grep -v '/asio')
    echo "$all" | xargs -P 2 -I HEADER sh -c \
      'echo "#include <HEADER>" | c++ -std=c++20 -Wall -Wextra -fsyntax-only -I. -x c++ -'
    ;;
  command)
    install_it
    "$scratch/moved/bin/holdfast" version
    ;;
  *) exit 64 ;;
esac
