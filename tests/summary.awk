# Reads ctest's JUnit report: which tests failed, with the first lines of what they report, how many
# mutants were killed by every test that must notice them, what did not apply, and last of all how
# many passed and failed.
BEGIN { most_lines = 24; lines_each = 8 }
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
  lines = wanted = is_of_sanitizer = 0
  last = ""
}
name in failed {
  if (/^\t\t<failure message="[^"]/) {
    sub(/^\t\t<failure message="/, "")
    sub(/".*/, "")
    tell($0)
  }
  if (/: Failure$/) wanted = lines_each
  if (/^\[ *(OK|FAILED|RUN|SKIPPED) *\]|^$/) wanted = 0
  if (wanted-- > 0) tell($0)
  if (/(WARNING|ERROR): [A-Za-z]+Sanitizer|: runtime error: /) is_of_sanitizer = 1
  if (is_of_sanitizer && NF) tell($0)
  if (/^SUMMARY: /) is_of_sanitizer = 0
  if (/<\/system-out>/ && lines == 0) tell(last)
  if (/[^ ]/) last = $0
}
/^\t\t<skipped message="SKIP_/ {
  ++skipped
  delete failed[name]; delete alive[mutant]; delete seen[mutant]
}

# One line of the report of the test at hand.
function tell(line) {
  if (++lines > most_lines) return
  gsub(/&lt;/, "<", line); gsub(/&gt;/, ">", line); gsub(/&quot;/, "\"", line)
  gsub(/&amp;/, "\\&", line)
  told[name] = told[name] "  | " line "\n"
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
  for (name in failed) { ++failures; printf "failed: %s\n%s", name, told[name] }
  if (mutants) printf "mutants killed: %d of %d\n", mutants - survivors, mutants
  if (skipped) printf "not applicable: %d\n", skipped
  printf "%d passed, %d failed\n", passed, failures
}
