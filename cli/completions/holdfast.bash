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

# _holdfast_offer WORDS: those of WORDS that start with the word at the cursor. In --url=WORD the
# '=' is a word of its own.
_holdfast_offer() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]#=}")
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
  local option=${COMP_WORDS[COMP_CWORD - 1]}
  [[ $option != = ]] || option=${COMP_WORDS[COMP_CWORD - 2]}
  case ${COMP_WORDS[1]}$option in
    explain-n | explain--lines | top-n) return ;;
  esac
  case $option in
    --url)
      compopt -o nospace 2>/dev/null
      _holdfast_offer 'file: file:/// redis:// zookeeper:// mysql://'
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
