#!/usr/bin/env bash
# recipes.sh SOURCE RECIPE: "vcpkg" configures this source tree as the port does, with options that
# must exist. "conan" builds the recipe and its test package. Where there is no conan, the full
# suite gets it from PyPI into build/conan.
set -eu -o pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
  echo "recipes.sh: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# Sets `conan`, the command.
find_conan() {
  conan=(conan)
  command -v conan >/dev/null && return
  [[ -n ${HOLDFAST_FULL_SUITE-} ]] || skip "conan is not installed; ./dev test --full fetches it"
  local folder=$source/build/conan list=$source/packaging/conan/conan.txt
  mkdir -p "$folder"
  exec 9>"$folder/lock"
  flock 9
  if ! cmp -s "$list" "$folder/list"; then
    rm -rf "$folder/list" "$folder/program"
    /usr/bin/python3 -m pip --version >"$folder/log" 2>&1 || skip "python3-pip is not installed"
    timeout 200 /usr/bin/python3 -m pip install --quiet --disable-pip-version-check \
      --target "$folder/program" -r "$list" >"$folder/log" 2>&1 9>&- ||
      skip "PyPI does not give conan to this machine ($folder/log)"
    cp "$list" "$folder/list"
  fi
  exec 9>&-
  conan=(env PYTHONPATH="$folder/program" /usr/bin/python3 "$folder/program/bin/conan")
}

# create OPTION...: builds, installs and tests the package.
create() {
  "${conan[@]}" create "$scratch/tree/packaging/conan" --no-remote -s compiler.cppstd=20 "$@"
}

# All parts, over the libraries of this machine. Conan does not link them, so holdfast is shared.
create_with_libraries_of_the_system() {
  if [[ ! -e /usr/include/boost/asio.hpp ]] ||
    ! pkg-config --exists hiredis openssl libmariadb; then
    echo "skipped: conan with all parts: the libraries of this machine are not installed"
    return
  fi
  printf '%s\n' '[platform_requires]' boost/1.81.0 openssl/3.0.0 hiredis/0.14.0 \
    mariadb-connector-c/3.1.0 >"$scratch/system"
  create -pr default -pr "$scratch/system" -o '&:shared=True' -o '&:asio=True' -o '&:redis=True' \
    -o '&:zookeeper=True' -o '&:mysql=True'
}

run_conan() {
  find_conan
  export CONAN_HOME=$scratch/conan
  "${conan[@]}" profile detect >"$scratch/log" 2>&1 || die "$(cat "$scratch/log")"
  # A copy, because conan builds the test package next to its recipe.
  mkdir "$scratch/tree"
  tar -C "$source" -c CMakeLists.txt LICENSE cmake include src packaging tests/consumer |
    tar -C "$scratch/tree" -x
  # The parts that need no package of a registry, which may be out of reach.
  create -o '&:redis=False'
  create_with_libraries_of_the_system
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
