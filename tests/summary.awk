# Reads ctest's JUnit report: how many mutants were killed, what did not apply, and last of all
# how many tests passed and failed.
/^\t<testcase / {
  match($0, /name="[^"]*"/)
  mutant = substr($0, RSTART + 6) ~ /^mutants\./
  state = $0
  sub(/.*status="/, "", state)
  sub(/".*/, "", state)
  count(mutant, state)
}
/^\t\t<skipped message="SKIP_/ { --failed; ++skipped; if (mutant) --mutants }

function count(mutant, state) {
  if (state == "disabled") { ++skipped; return }
  if (mutant) ++mutants
  if (state != "run") { ++failed; return }
  ++passed
  if (mutant) ++killed
}

END {
  if (mutants) printf "mutants killed: %d of %d\n", killed, mutants
  if (skipped) printf "not applicable: %d\n", skipped
  printf "%d passed, %d failed\n", passed, failed
}
