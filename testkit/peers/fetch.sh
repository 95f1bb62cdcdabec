#!/usr/bin/env bash
# fetch.sh NAME FOLDER: puts the jars of a Java library, from Maven Central by NAME/pom.xml, and the
# classes of its driver into FOLDER. Where Maven Central does not give them, the jars of Debian that
# NAME/debian.txt lists will do. Once they are there it only compares time stamps. Where they cannot
# be had it says why on standard output and exits with 77, and does not try again for ten minutes.
set -eu
all_sources=$(dirname -- "$(readlink -f -- "$0")")
name=$1
sources=$all_sources/$name
mkdir -p "$2"
cd "$2"

unavailable() {
  echo "skipped: $1" | tee unavailable
  exit 77
}

# Jars of Debian's Java libraries, all or none.
debian_jars() {
  local jar found=()
  [[ -f $sources/debian.txt ]] || return 1
  while read -r jar; do
    [[ -e /usr/share/java/$jar ]] || return 1
    found+=("/usr/share/java/$jar")
  done < <(grep -v '^#' "$sources/debian.txt")
  mkdir -p new-jars
  ln -sf "${found[@]}" new-jars/
}

central_jars() {
  command -v mvn >/dev/null || { why="the real $name needs maven to be fetched"; return 1; }
  why="Maven Central does not give the real $name"
  timeout 100 mvn -B -q -f "$sources/pom.xml" -Dmaven.repo.local="$PWD/repository" \
    dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$PWD/new-jars" \
    >maven.log 2>&1 9>&-
}

exec 9>lock
flock 9
if [[ -n $(find . -maxdepth 1 -name unavailable -mmin -10) ]]; then
  cat unavailable
  exit 77
fi
rm -f unavailable
command -v javac >/dev/null || unavailable "the real $name needs default-jdk-headless"

if ! cmp -s pom.xml "$sources/pom.xml"; then
  rm -rf jars new-jars
  central_jars || { rm -rf new-jars; debian_jars; } || unavailable "$why"
  mv new-jars jars
  rm -rf repository classes
  cp "$sources/pom.xml" pom.xml
fi

if [[ ! -d classes ||
  -n $(find "$sources" "$all_sources/java" -name '*.java' -newer classes -print -quit) ]]; then
  rm -rf classes new-classes
  javac -cp 'jars/*' -d new-classes "$all_sources"/java/*.java "$sources"/*.java 9>&-
  mv new-classes classes
  touch classes
fi
