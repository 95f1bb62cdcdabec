#!/bin/sh
# check.sh SOURCE COMPILER [FLAG...]: SOURCE compiles, and does not with the macro of any of its
# lines "// refuses MACRO: EXPRESSION". Then an error matches the extended regular expression.
set -eu
source=$1 compiler=$2
shift 2
command -v "$compiler" >/dev/null || {
  echo "skipped: there is no $compiler"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
errors=$folder/errors header=$folder/all.hpp
include=$(dirname "$0")/../../include

compiles() {
  "$compiler" -std=c++20 -fsyntax-only -I"$include" "$@" -include "$header" "$source" 2>"$errors"
}

# Precompiled once: reading it is most of the work of each compilation.
echo '#include <holdfast/holdfast.hpp>' >"$header"
"$compiler" -std=c++20 -I"$include" "$@" -x c++-header "$header" -o "$header.gch"

compiles "$@" || {
  cat "$errors"
  echo "$source does not compile as it is"
  exit 1
}
failed=0 count=0
while IFS=' ' read -r macro expression; do
  count=$((count + 1))
  if compiles "$@" "-D${macro%:}"; then
    failed=1
    echo "$source compiles with ${macro%:}"
  elif ! grep -E 'error:' "$errors" | grep -qE -- "$expression"; then
    failed=1
    cat "$errors"
    echo "$source, ${macro%:}: no error matches $expression"
  fi
done <<END
$(sed -n 's|^// refuses ||p' "$source")
END
[ "$count" -gt 0 ] || failed=1
echo "$count uses refused by $compiler"
exit "$failed"
