# shellcheck shell=bash
# For tidy and headers, which look at each file in a process of their own, `$0 --one FILE`: as many
# at a time as there are processors, and after a while no new one.

# A source of the library or of a program, with every backend and what the suite's build generates.
# shellcheck disable=SC2034  # both use it
as_source=(-std=c++20 -Iinclude -Isrc -I. -Ibuild/suite/generated -isystem /usr/include/mariadb
  -DHOLDFAST_WITH_MEMORY -DHOLDFAST_WITH_REDIS -DHOLDFAST_WITH_ZOOKEEPER -DHOLDFAST_WITH_MYSQL
  -DHOLDFAST_WITH_NETWORK -DHOLDFAST_VERSION_OF_HEADERS)

# is_late FILE: the time is over, and FILE counts as not looked at.
is_late() {
  (($(date +%s) > LATE_AFTER)) && echo "$1" >>"$NOT_LOOKED_AT"
}

# in_turn: the lines of standard input in an order that each commit has for itself.
in_turn() { shuf --random-source=<(yes "$(git rev-parse HEAD)"); }

# look_at_each NAME SECONDS: at the files in standard input. Exit 1 if one has failed.
look_at_each() {
  local result left
  NOT_LOOKED_AT=$(mktemp)
  LATE_AFTER=$(($(date +%s) + $2))
  export NOT_LOOKED_AT LATE_AFTER
  xargs -P "$(nproc)" -n 1 "$0" --one
  result=$?
  left=$(wc -l <"$NOT_LOOKED_AT")
  rm -f "$NOT_LOOKED_AT"
  ((left == 0)) || echo "$1: out of time, $left files were not looked at"
  return $((result != 0))
}
