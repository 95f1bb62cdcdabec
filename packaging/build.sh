# shellcheck shell=bash disable=SC2154
# For ./dev: builds into build/<preset>/, one at a time. Expects $root and say.

# with_lock NAME COMMAND...: one COMMAND at a time for each NAME. Everything it says goes to
# standard error, it does not read standard input, and what it starts does not inherit the lock.
with_lock() {
  local name=$1 lock=$root/build/.lock-$1 descriptor result=0
  shift
  if ! mkdir -p "$root/build" || ! touch "$lock"; then
    say "builds go to $root/build, and this user cannot write there"
    exit 69
  fi
  exec {descriptor}>"$lock"
  if ! flock -n "$descriptor"; then
    say "waiting until another dev has done its part ($name)"
    flock "$descriptor"
  fi
  (eval "exec $descriptor>&-" && "$@") </dev/null >&2 || result=$?
  exec {descriptor}>&-
  return $result
}

# configure PRESET [CMAKE FLAG...]
configure() {
  local preset=$1 cache=$root/build/$1/CMakeCache.txt fresh=()
  shift
  # A tree that was copied or moved cannot go on with its old cache.
  if [[ -e $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    fresh=(--fresh)
  fi
  say "configuring $preset"
  cmake -S "$root" --preset "$preset" "${fresh[@]}" "$@" -Wno-dev
}

# compile PRESET [TARGET...]
compile() {
  local preset=$1 folder=$root/build/$1
  shift
  # What a preset sets is in the cache only after it was asked for.
  if [[ ! -f $folder/build.ninja || $root/CMakePresets.json -nt $folder/.configured ]] ||
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    configure "$preset" && touch "$folder/.configured" || return
  fi
  ninja -C "$folder" "$@"
}

build_preset() {
  local began=$SECONDS
  with_lock "$1" compile "$@" || { say "the build of $1 failed"; exit 69; }
  say "built $1 in $((SECONDS - began)) s"
}

# is_built BACKEND: the command is there, has that backend, and is not older than any source. One
# look at the time stamps instead of a ninja that has nothing to do.
is_built() {
  local stamp=$root/build/run/.built newer
  [[ -f $stamp && -x $root/build/run/cli/holdfast ]] || return
  [[ -z $1 || " $(<"$stamp") " == *" $1 "* ]] || return
  newer=$(find "$root"/{CMakeLists.txt,CMakePresets.json,cmake,include,src,cli} \
    -newer "$stamp" -print -quit)
  [[ -z $newer ]]
}

# compile_to_run BACKEND: what was built on demand before is kept.
compile_to_run() {
  local folder=$root/build/run backend backends
  is_built "$1" && return
  backends=$(sort -u <(printf '%s\n' "$1") <(cat "$folder/.built" 2>/dev/null) | xargs)
  mkdir -p "$folder"
  echo "$backends" >"$folder/.building"  # older than what is edited from here on
  local flags=()
  for backend in $backends; do
    flags+=("-DHOLDFAST_WITH_${backend^^}=ON")
  done
  configure run "${flags[@]}" && ninja -C "$folder" holdfast_cli &&
    mv "$folder/.building" "$folder/.built"
}

build_to_run() {
  local began=$SECONDS needs=(build)
  [[ -n $1 && -f $root/packaging/$1.txt ]] && needs+=("$1")
  need "${needs[@]}"
  with_lock run compile_to_run "$1" || { say "the build failed"; exit 69; }
  say "built in $((SECONDS - began)) s"
}
