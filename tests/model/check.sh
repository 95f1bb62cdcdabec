#!/bin/sh
# check.sh MODEL holds|ends|violated [-DMACRO...]: searches all states of the Promela model, with
# the macros, in the current folder. Exit 0 if the properties of the model hold; if every run of it
# ends; or, for a mutant, if a property is violated. Exit 77 if Spin is not installed.
set -eu
model=$1 expected=$2
shift 2
for program in spin cc; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done

kind=-DSAFETY effort=-O1 search=
if [ "$expected" = ends ]; then kind=-DNP search=-l; fi  # -l: for cycles
if [ "$expected" = violated ]; then effort=-O0; fi  # found sooner than a compiler optimises
spin -a "$@" "$model"
cc -w $effort $kind -DCOLLAPSE -DMEMLIM=1800 -o pan pan.c
./pan -m100000 -w22 $search >result 2>&1 || true
grep -E '^pan:[0-9]|State-vector|states, stored|total actual' result

found=another
if grep -qE '^pan:[0-9]+: assertion violated' result; then
  found=violated
elif grep -q 'errors: 0' result && ! grep -qE 'Search not completed|search depth too' result; then
  found=$([ "$expected" = ends ] && echo ends || echo holds)
fi
[ "$found" = "$expected" ] && exit
echo "expected: $expected; found: $found"
if [ "$found" = violated ]; then
  spin -k "${model##*/}.trail" -p -g "$@" "$model" | tail -n 200
else
  cat result
fi
exit 1
