# Completions of holdfast(1) for fish.

# The words of the command after --, with the one at the cursor.
function __holdfast_command
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words)
    or return 1
    test "$words[2]" = run
    or return 1
    set -e words[1..$at]
    string join -- ' ' $words (commandline -ct)
    return 0 # not that of string join, which fails for a single word
end

function __holdfast_is_at -a command
    set -l words (commandline -opc)
    test "$words[2]" = "$command"
    and not contains -- -- $words
end

# The names of the profiles in holdfast.toml, as they are given to --url.
function __holdfast_profiles
    set -l folder "$XDG_CONFIG_HOME"
    string match -q '/*' -- $folder
    or set folder "$HOME/.config"
    awk -F= '
      /^[ \t]*\[/ { table = $0; gsub(/[ \t]|#.*/, "", table); next }
      NF > 1 {
        gsub(/[ \t"\047]/, "", $1)
        if (table == "" && !sub(/^profiles\./, "", $1)) next
        if (table != "" && table != "[profiles]") next
        if ($1 ~ /^[A-Za-z0-9_.-]+$/) print "@" $1
      }' "$folder/holdfast.toml" 2>/dev/null
end

complete -c holdfast -f
complete -c holdfast -n __holdfast_command -a '(complete -C (__holdfast_command))'

complete -c holdfast -n __fish_use_subcommand -a run -d 'Run a command while holding a lock'
complete -c holdfast -n __fish_use_subcommand -a list -d 'List the locks that are held'
complete -c holdfast -n __fish_use_subcommand -a top -d 'Show the locks that are held, live'
complete -c holdfast -n __fish_use_subcommand -a holders -d 'Show the holders of a lock'
complete -c holdfast -n __fish_use_subcommand -a wait -d 'Wait until a lock is free'
complete -c holdfast -n __fish_use_subcommand -a break -d 'Take a lock away from its holder'
complete -c holdfast -n __fish_use_subcommand -a prune -d 'Remove the files and rows of unused locks'
complete -c holdfast -n __fish_use_subcommand -a diagnose -d 'Examine the store of the locks'
complete -c holdfast -n __fish_use_subcommand -a explain -d 'Show what happened to locks'
complete -c holdfast -n __fish_use_subcommand -a schema -d 'Print the SQL of a mysql: store'
complete -c holdfast -n __fish_use_subcommand -a drill -d 'Show locks when programs fail'
complete -c holdfast -n __fish_use_subcommand -a version -d 'Print the version'
complete -c holdfast -n __fish_use_subcommand -a help -d 'Print the help of a command'
complete -c holdfast -n '__holdfast_is_at help' \
    -a 'run list top holders wait break prune diagnose explain schema drill version'

for command in run list top holders wait break prune diagnose schema drill
    complete -c holdfast -n "__holdfast_is_at $command" -l url -x -d 'The store of the locks' \
        -a 'file: file:/// redis:// zookeeper:// mysql:// (__holdfast_profiles)'
end
for command in list holders break prune diagnose explain drill
    complete -c holdfast -n "__holdfast_is_at $command" -l json -d 'Print JSON'
end
for command in run holders wait
    complete -c holdfast -n "__holdfast_is_at $command" -s q -l quiet -d 'Print less'
end
for command in run wait
    set -l at "__holdfast_is_at $command"
    complete -c holdfast -n $at -s w -l wait -x -d 'Wait at most this long'
    complete -c holdfast -n $at -s E -l conflict-exit-code -x -d 'Exit status when busy'
end
complete -c holdfast -n '__holdfast_is_at explain' -s n -l lines -x -d 'Print the last N events'
complete -c holdfast -n '__holdfast_is_at top' -s n -l count -x -d 'End after N frames'
complete -c holdfast -n '__holdfast_is_at top' -l interval -x -d 'The time between two frames'
complete -c holdfast -n '__holdfast_is_at top' -l once -d 'Print one frame'
complete -c holdfast -n '__holdfast_is_at break' -l owner -x -d 'The holder to take it from'

set -l at '__holdfast_is_at drill'
complete -c holdfast -n $at -l yes -d 'Start'
complete -c holdfast -n $at -l minutes -x -d 'How long it takes'
complete -c holdfast -n $at -l workers -x -d 'The number of processes'
complete -c holdfast -n $at -l failover -x -d 'A command at half time, or auto'
complete -c holdfast -n $at -l seed -x -d 'Repeat the faults of an earlier drill'

set -l at '__holdfast_is_at run'
complete -c holdfast -n $at -s x -l exclusive -d 'Exclude every other holder'
complete -c holdfast -n $at -s s -l shared -d 'Share the lock with other runs that use -s'
complete -c holdfast -n $at -s p -l permits -x -d 'A semaphore with N permits'
complete -c holdfast -n $at -l take -x -d 'Permits to acquire'
complete -c holdfast -n $at -s n -l nonblock -d 'Do not wait'
complete -c holdfast -n $at -l nb -d 'Do not wait'
complete -c holdfast -n $at -l timeout -x -d 'Wait at most this long'
complete -c holdfast -n $at -l verbose -d 'Report the store, the wait and the token'
complete -c holdfast -n $at -l note -x -d 'A text that is shown to waiters'
complete -c holdfast -n $at -s o -l close -d 'The command does not inherit a file lock'
complete -c holdfast -n $at -l ttl -x -d 'How long the lock outlives a dead holder'
complete -c holdfast -n $at -l no-renew -d 'End the command after the ttl'
complete -c holdfast -n $at -l grace -x -d 'Time between SIGTERM and SIGKILL'
