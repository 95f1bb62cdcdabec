# Reads ctest's JUnit report: how many mutants were killed by every test that must notice them, what
# did not apply, which tests failed, and last of all how many passed and failed.
/^\t<testcase / {
  match($0, /name="[^"]*"/)
  name = substr($0, RSTART + 6, RLENGTH - 7)
  mutant = name
  if (!sub(/^mutants\.mutants\./, "", mutant)) mutant = ""
  sub(/\/[^\/]*$/, "", mutant)
  state = $0
  sub(/.*status="/, "", state)
  sub(/".*/, "", state)
  count(state)
}
/^\t\t<skipped message="SKIP_/ {
  ++skipped
  delete failed[name]; delete alive[mutant]; delete seen[mutant]
}

function count(state) {
  if (state == "disabled") { ++skipped; return }
  if (mutant != "") seen[mutant] = 1
  if (state == "run") { ++passed; return }
  failed[name] = 1
  if (mutant != "") alive[mutant] = 1
}

END {
  for (mutant in seen) ++mutants
  for (mutant in alive) ++survivors
  for (name in failed) { ++failures; print "failed: " name }
  if (mutants) printf "mutants killed: %d of %d\n", mutants - survivors, mutants
  if (skipped) printf "not applicable: %d\n", skipped
  printf "%d passed, %d failed\n", passed, failures
}
