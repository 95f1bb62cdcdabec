# shellcheck shell=bash disable=SC2154
# For ./dev: the parts of `./dev test --full`, and the sum of their results. Expects $root, say,
# need, and the suites of ./dev test.

other_servers=(redis-6.2 valkey-9 zookeeper-3.9)
newer_compilers=(g++-14 clang++-19 clang++-22)
other_processors=(aarch64 s390x)

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

# full: prints the sum alone in the last line; exit 1 if anything failed.
full() {
  local -x HOLDFAST_FULL_SUITE=1
  local all_passed=0 all_failed=0 failures=() server compiler processor
  (need servers) || say "continuing without the packages that fetch servers and conan"
  part suite whole_suite
  for server in "${other_servers[@]}"; do
    part "on $server" on_other_server "$server"
  done
  part clang clang_suite
  for compiler in "${newer_compilers[@]}"; do
    part "$compiler in Debian 13" "$root/tests/debian-13.sh" "$compiler"
  done
  (need cross) || say "continuing without the packages that build for other processors"
  for processor in "${other_processors[@]}"; do
    part "on $processor" on_other_processor "$processor"
  done
  ((${#failures[@]} == 0)) || printf '%s\n' "${failures[@]}"
  echo "$all_passed passed, $all_failed failed"
  ((all_failed == 0))
}
