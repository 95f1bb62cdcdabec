#!/usr/bin/env bash
# recipes.sh SOURCE RECIPE: "vcpkg" configures this source tree as the port does, with options that
# must exist. "conan" builds the recipe and its test package.
set -eu -o pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
  echo "recipes.sh: $*" >&2
  exit 1
}

run_conan() {
  command -v conan >/dev/null || { echo "skipped: conan is not installed"; exit 77; }
  export CONAN_HOME=$scratch/conan
  conan profile detect >/dev/null 2>&1
  # A copy, because conan builds the test package next to its recipe.
  mkdir "$scratch/tree"
  tar -C "$source" -c CMakeLists.txt LICENSE cmake include src packaging tests/consumer |
    tar -C "$scratch/tree" -x
  # The parts that need no package of a registry, which may be out of reach.
  conan create "$scratch/tree/packaging/conan" --no-remote -s compiler.cppstd=20 -o '&:redis=False'
}

port_version() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version-semver"])' "$1"
}

if [[ $2 == conan ]]; then
  run_conan
  exit
fi
port=$source/packaging/vcpkg/ports/holdfast
version=$(sed -n 's/.*HOLDFAST_VERSION "\(.*\)"/\1/p' "$source/include/holdfast/version.hpp")
[[ $(port_version "$port/vcpkg.json") == "$version" ]] || die "vcpkg.json is not of $version"
cmake -DPORT="$port" -DSCRATCH="$scratch" -P "$source/tests/consumer/vcpkg.cmake"
