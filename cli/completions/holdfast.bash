# shellcheck shell=bash
# Completions of holdfast(1) for bash.

_holdfast_options() {
  case $1 in
    run)
      echo -x --exclusive -s --shared -p --permits --take -n --nonblock --nb -w --wait \
        --timeout -E --conflict-exit-code -q --quiet --verbose --note --url -o --close --ttl \
        --no-renew --grace
      ;;
    list | prune | diagnose) echo --url --json ;;
    top) echo --count -n --interval --once --url ;;
    holders) echo --url --json -q --quiet ;;
    wait) echo -w --wait -E --conflict-exit-code -q --quiet --url ;;
    break) echo --owner --url --json ;;
    schema) echo --url ;;
    drill) echo --yes --minutes --workers --failover --seed --url --json ;;
    explain) echo --json -n --lines ;;
  esac
}

# _holdfast_offer WORDS [START]: those of WORDS that start with START, by default with the word at
# the cursor.
_holdfast_offer() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "${2-${COMP_WORDS[COMP_CWORD]}}")
}

# Prints the names of the profiles in holdfast.toml, as they are given to --url. Names with other
# characters than letters, digits and ._- are left out: compgen expands its words.
_holdfast_profiles() {
  local folder=${XDG_CONFIG_HOME-}
  [[ $folder == /* ]] || folder=${HOME-}/.config
  awk -F= '
    /^[ \t]*\[/ { table = $0; gsub(/[ \t]|#.*/, "", table); next }
    NF > 1 {
      gsub(/[ \t"\047]/, "", $1)
      if (table == "" && !sub(/^profiles\./, "", $1)) next
      if (table != "" && table != "[profiles]") next
      if ($1 ~ /^[A-Za-z0-9_.-]+$/) print "@" $1
    }' "$folder/holdfast.toml" 2>/dev/null
}

# Offers the URLs and profiles that start with $1. A profile is a whole word, a URL is not.
_holdfast_offer_url() {
  [[ $1 == @* ]] || compopt -o nospace 2>/dev/null
  _holdfast_offer "file: file:/// redis:// zookeeper:// mysql:// $(_holdfast_profiles)" "$1"
}

# Completes the command that starts at the word number $1.
_holdfast_command_at() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    compopt -o default
  fi
}

_holdfast() {
  local commands='run list top holders wait break prune diagnose explain schema drill' i
  commands+=' version help'
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _holdfast_offer "$commands"
    return
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    [[ ${COMP_WORDS[1]} != run ]] || _holdfast_command_at $((i + 1))
    return
  done
  # Characters that end a word are words of their own, one word if they are side by side:
  # --url=@name is --url, =@ and name.
  local option_at=$((COMP_CWORD - 1)) value
  case ${COMP_WORDS[option_at]} in = | @ | =@) ((option_at -= 1)) ;; esac
  local option=${COMP_WORDS[option_at]}
  case ${COMP_WORDS[1]}$option in
    explain-n | explain--lines | top-n) return ;;
  esac
  case $option in
    --url)
      printf -v value %s "${COMP_WORDS[@]:option_at + 1:COMP_CWORD - option_at}"
      _holdfast_offer_url "${value#=}"
      return
      ;;
    -p | -c | --permits | --take | -w | --wait | --timeout | -E | --conflict-exit-code | --note | \
      --ttl | --grace | --owner | --count | --interval | --minutes | --workers | --failover | \
      --seed) return ;;
  esac
  if [[ ${COMP_WORDS[1]} == help ]]; then
    _holdfast_offer "$commands"
  elif [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
    _holdfast_offer "$(_holdfast_options "${COMP_WORDS[1]}")"
  fi
}

complete -F _holdfast holdfast
