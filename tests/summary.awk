# Reads ctest's JUnit report: how many mutants were killed by every test that must notice them, what
# did not apply, and last of all how many tests passed and failed.
/^\t<testcase / {
  match($0, /name="[^"]*"/)
  mutant = substr($0, RSTART + 6, RLENGTH - 7)
  if (!sub(/^mutants\.mutants\./, "", mutant)) mutant = ""
  sub(/\/[^\/]*$/, "", mutant)
  state = $0
  sub(/.*status="/, "", state)
  sub(/".*/, "", state)
  count(mutant, state)
}
/^\t\t<skipped message="SKIP_/ { --failed; ++skipped; delete alive[mutant]; delete seen[mutant] }

function count(mutant, state) {
  if (state == "disabled") { ++skipped; return }
  if (mutant != "") seen[mutant] = 1
  if (state == "run") { ++passed; return }
  ++failed
  if (mutant != "") alive[mutant] = 1
}

END {
  for (mutant in seen) ++mutants
  for (mutant in alive) ++survivors
  if (mutants) printf "mutants killed: %d of %d\n", mutants - survivors, mutants
  if (skipped) printf "not applicable: %d\n", skipped
  printf "%d passed, %d failed\n", passed, failed
}
