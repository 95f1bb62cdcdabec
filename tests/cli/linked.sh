#!/bin/sh
# linked.sh COMMAND: the command needs no shared library, runs a program under a lock of a directory
# and of a server, reports a server that is out of reach, and refuses TLS and MySQL.
set -eu
holdfast=$1
locks=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$locks"' EXIT

if readelf -d "$holdfast" | grep -q NEEDED; then
  echo "it needs shared libraries:"
  readelf -d "$holdfast"
  exit 1
fi
# shellcheck disable=SC2016
"$holdfast" run --url "file://$locks" job -- sh -c '[ "$HOLDFAST_TOKEN" -gt 0 ]'
result=0
"$holdfast" list --url redis://127.0.0.1:1 2>"$locks/said" || result=$?
if ! { [ $result = 69 ] || grep -q HOLDFAST_WITH_REDIS "$locks/said"; }; then
  cat "$locks/said"
  exit 1
fi
has_redis=true
if grep -q HOLDFAST_WITH_REDIS "$locks/said"; then has_redis=false; fi
for url in rediss://127.0.0.1:1 zookeepers://127.0.0.1:1/job mysql://user@127.0.0.1:1/database; do
  result=0
  "$holdfast" list --url "$url" 2>"$locks/said" || result=$?
  if [ $result -gt 69 ] || ! grep -q -e 'linked statically' -e HOLDFAST_WITH_ "$locks/said"; then
    echo "$url: exit $result"
    cat "$locks/said"
    exit 1
  fi
done
$has_redis && command -v redis-server >/dev/null || exit 0
redis-server --port 0 --unixsocket "$locks/socket" --save '' --dir "$locks" >/dev/null &
server=$!
tries=0
while ! [ -S "$locks/socket" ] && [ $((tries += 1)) -le 600 ]; do sleep 0.1; done
"$holdfast" run --url "redis+unix://$locks/socket" job -- true
