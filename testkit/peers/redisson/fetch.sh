#!/usr/bin/env bash
# fetch.sh FOLDER: puts Redisson's jars, from Maven Central, and the classes of the driver into
# FOLDER. Once they are there it only compares time stamps. Where they cannot be had it says why on
# standard output and exits with 77; for ten minutes it then does not try again.
set -eu
sources=$(dirname -- "$(readlink -f -- "$0")")
mkdir -p "$1"
cd "$1"

unavailable() {
  echo "skipped: $1" | tee unavailable
  exit 77
}

exec 9>lock
flock 9
if [[ -n $(find . -maxdepth 1 -name unavailable -mmin -10) ]]; then
  cat unavailable
  exit 77
fi
rm -f unavailable
command -v javac >/dev/null || unavailable "the real Redisson needs default-jdk-headless"

if ! cmp -s pom.xml "$sources/pom.xml"; then
  command -v mvn >/dev/null || unavailable "the real Redisson needs maven to be fetched"
  rm -rf jars new-jars
  timeout 100 mvn -B -q -f "$sources/pom.xml" -Dmaven.repo.local="$PWD/repository" \
    dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$PWD/new-jars" \
    >maven.log 2>&1 9>&- || unavailable "Maven Central does not give the real Redisson"
  mv new-jars jars
  rm -rf repository classes
  cp "$sources/pom.xml" pom.xml
fi

if [[ ! -d classes || -n $(find "$sources" -name '*.java' -newer classes -print -quit) ]]; then
  rm -rf classes new-classes
  javac -cp 'jars/*' -d new-classes "$sources"/*.java 9>&-
  mv new-classes classes
  touch classes
fi
