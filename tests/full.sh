# shellcheck shell=bash disable=SC2154
# For ./dev: the parts of `./dev test --full`, and the sum of their results. Expects $root, say,
# need, and the suites of ./dev test.

# What tests again what the suite has tested: about how many hundredths of the suite's time it
# takes, and its command, whose last word names it.
sanitizers=('30 sanitized asan' '40 sanitized tsan')
repeats=(
  '25 on_other_server redis-6.2'
  '25 clang_suite'
  '15 on_other_processor aarch64'
  '15 on_other_server zookeeper-3.9'
  '20 on_debian_13 g++-14'
  '10 on_debian_13 clang++-19'
  '25 on_other_server valkey-9'
  '15 on_other_processor s390x'
  '10 on_debian_13 clang++-22'
)

# part NAME COMMAND...: adds what COMMAND reports in its last line, "N passed, N failed", and the
# tests that it names as "failed: TEST", with the lines below them that begin with "  |". A command
# that ends without that last line has failed; its errors, or else its last lines, tell why.
part() {
  local name=$1 log began=$SECONDS result=0 passed=0 failed=0
  shift
  log=$(mktemp)
  echo "== $name"
  ("$@") </dev/null 2>&1 | tee "$log" || result=$?
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
  fi
  mapfile -t -O "${#failures[@]}" failures < <(
    sed -n "s#^failed: #failed: $name: #p; /^  |/p" "$log")
  if ((result != 0 && failed == 0)); then
    failed=1
    failures+=("failed: $name: it ended without a result")
    mapfile -t -O "${#failures[@]}" failures < <(
      { grep -m 5 'error: ' "$log" || tail -n 5 "$log"; } | sed 's/^/  | /')
  fi
  rm -f "$log"
  all_passed=$((all_passed + passed))
  all_failed=$((all_failed + failed))
  echo "== $name: $((SECONDS - began)) s"
}

sanitized() { whole_suite "$1_programs" -L "^$1$"; }

# on_other_server SERVER: the tests of what is asked of a server, without the longest, on another
# version. An older one runs the scripts of all layouts; on a newer one, one layout stands for those
# that differ by their codecs. The faults are those of links and processes.
on_other_server() {
  local variable kinds='^(contract|interop|rounds)$' backend=redis without='^(codec|long)$'
  if [[ $1 == redis-6.2 ]]; then without='^long$'; fi
  if [[ $1 == zookeeper-* ]]; then backend=zookeeper; fi
  if ! variable=$("$root/packaging/servers/fetch.sh" "$1" "$root/build/servers"); then
    echo "$variable"
    [[ $variable == skipped:* ]]
    return
  fi
  env "$variable" "$root/tests/suite" "$root/build/suite" -L "$kinds" -L "^$backend$" \
    -LE "$without"
}

# on_other_processor PROCESSOR: the unit tests, built for another processor and run in an emulator.
# A test that fails runs once more, because qemu 7.2 forks where a program calls posix_spawn(), and
# rarely the child of a process with threads hangs before it executes its program. A fault that
# depends on the processor fails again.
on_other_processor() {
  local processor=$1 reason
  if ! reason=$("$root/packaging/cross_root.sh" "$processor"); then
    echo "$reason"
    [[ $reason == skipped:* ]]
    return
  fi
  build_preset "$processor" unit_tests
  "$root/tests/suite" "$root/build/$processor" -L '^emulated$' --repeat until-pass:2
}

on_debian_13() { "$root/tests/debian-13.sh" "$1"; }

# repeat SHARE COMMAND...: a part that is left out, as `full` then reports, if its share of the
# suite's time is more than what is left of FULL_SECONDS. Without that variable nothing is left out.
repeat() {
  local expected=$((suite_seconds * $1 / 100)) name=${!#} left
  shift
  if [[ -n ${FULL_SECONDS-} ]]; then
    left=$((FULL_SECONDS > SECONDS ? FULL_SECONDS - SECONDS : 0))
    if ((left < expected)); then
      left_out+=("skipped: $name: it takes about $expected s, and $left s are left")
      return
    fi
  fi
  part "$name" "$@"
}

# in_turn WHAT...: repeats each, beginning with another one in each commit, so that a slow machine
# does not always leave out the same ones.
in_turn() {
  local first what words
  first=$(($(git -C "$root" rev-list --count HEAD || echo 0) % $#))
  for what in "${@:first + 1}" "${@:1:first}"; do
    read -ra words <<<"$what"
    repeat "${words[@]}"
  done
}

# full: prints the sum alone in the last line; exit 1 if anything failed.
full() {
  local -x HOLDFAST_FULL_SUITE=1
  local all_passed=0 all_failed=0 failures=() left_out=() suite_seconds=$SECONDS
  (need servers) || say "continuing without the packages that fetch servers and conan"
  part suite whole_suite '' -LE '^(asan|tsan)$'
  suite_seconds=$((SECONDS - suite_seconds))
  (need cross) || say "continuing without the packages that build for other processors"
  in_turn "${sanitizers[@]}"
  in_turn "${repeats[@]}"
  ((${#left_out[@]} == 0)) || printf '%s\n' "${left_out[@]}"
  ((${#failures[@]} == 0)) || printf '%s\n' "${failures[@]}"
  echo "$all_passed passed, $all_failed failed"
  ((all_failed == 0))
}
