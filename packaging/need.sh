# shellcheck shell=bash disable=SC2154
# For ./dev: what a purpose needs from Debian, by the lists beside this file. Expects $root, say
# and with_lock.

# missing LIST...: sets `lacking` to the packages that are not installed.
missing() {
  local list package probe
  lacking=()
  for list; do
    while read -r package probe; do
      case $probe in
        '') ;;
        /*) [[ -e $probe ]] || lacking+=("$package") ;;
        *) command -v "$probe" >/dev/null || lacking+=("$package") ;;
      esac
    done < <(grep -v '^#' "$root/packaging/$list.txt")
  done
}

# need LIST...: installs what is missing, or prints how to and ends. It needs rights only when
# something is missing.
need() {
  local lacking as_root=()
  missing "$@"
  ((${#lacking[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    say "please install what Debian calls: ${lacking[*]}"
    exit 69
  fi
  if ((EUID != 0)); then
    if ! sudo -n true 2>/dev/null; then
      local sudo=
      command -v sudo >/dev/null && sudo="sudo "
      say "packages are missing, and only root can install them. Please run as root, or with sudo:"
      echo "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends" \
        "${lacking[*]}" >&2
      exit 69
    fi
    as_root=(sudo -n)
  fi
  say "installing ${lacking[*]}"
  local began=$SECONDS
  with_lock apt "${as_root[@]}" sh "$root/packaging/apt-install.sh" "${lacking[@]}"
  missing "$@"
  ((${#lacking[@]} == 0)) || { say "still missing: ${lacking[*]}"; exit 69; }
  say "installed in $((SECONDS - began)) s"
}

# want LIST...: the same, where a test or a row of the benchmark says "skipped" without it.
want() {
  (need "$@") || say "going on without"
}
