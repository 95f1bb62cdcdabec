#include "cli/help.hpp"

#include "cli/help_of_run.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view overview = R"(Usage: holdfast COMMAND [OPTION...]

  run       run a command while holding a lock
  list      list the locks that are held
  top       show the locks that are held, live
  holders   show the holders of a lock
  wait      wait until a lock is free
  break     take a lock away from its holder
  prune     remove the files and rows of unused locks
  diagnose  examine the store of the locks
  explain   show what the programs of this machine did with their locks, and check it
  schema    print the SQL statements that create the tables of a mysql: store
  drill     show how locks behave in this store when programs fail
  version   print the version
  help      print this text, or with a command, as in `holdfast help run`, the help of that command

The store is set with --url, else with $HOLDFAST_URL. The default is file:, the directory of this
machine and user. Other stores are file:///dir, redis://host, zookeeper://host1,host2/path and
mysql://user@host/database. @NAME is the URL that ~/.config/holdfast.toml has for NAME.

Manual: man holdfast

Examples:
  holdfast run nightly -- sh -c 'echo token $HOLDFAST_TOKEN; sleep 5'
  holdfast list
  holdfast help run
)";

constexpr std::string_view of_list = R"(Usage: holdfast list [OPTION...] [PREFIX]

Lists the locks that are held and whose names start with PREFIX, one line for each holder: several
readers or holders of permits have one line each. On Redis with the default layout, a lock that a
program using the library holds without a note is listed one second after the grant, or as soon as
another client waits for it; `holdfast holders` shows it at once.

      --url URL   the store of the locks (default: $HOLDFAST_URL, else file:)
      --json      print an array with one object per line and these members; null: not known
                    name, mode ("exclusive", "shared", "permit"), permits, total_permits,
                    owner (for break), token (a string), pid, host, note, held_for_ms,
                    expires_in_ms (null: ends with its holder), waiting (number of waiters),
                    dead (whether the process has ended; null: it is on another host)

Exit status: 0: success, even when no lock is held; 69: the store cannot be reached; 64: wrong
usage.

Manual: man holdfast

Examples:
  holdfast list                     all locks of the default store
  holdfast list --json backup/      those whose names start with backup/, for a program
)";

constexpr std::string_view of_top = R"(Usage: holdfast top [OPTION...] [PREFIX]

Shows the locks that are held and whose names start with PREFIX, as `holdfast list` does, the locks
with the most waiters first, and updates the terminal until a signal ends it (Ctrl-C). While the
store cannot be reached it shows why, and continues. If standard output is not a terminal, it prints
one frame.

  -n, --count N           end after N frames
      --interval SECONDS  the time between two frames (default: 1, at least 100ms)
      --once              print one frame, without clearing the terminal
      --url URL           the store of the locks (default: $HOLDFAST_URL, else file:)

Exit status: 0: success, even when no lock is held; 69: the store cannot be reached; 64: wrong
usage, or the locks of this store cannot be listed; 128 + N: signal N ended it.

Manual: man holdfast

Examples:
  holdfast top                      all locks of the default store
  holdfast top --interval 5 --url redis://db1 backup/
  holdfast top -n 60 >locks.log     one frame per second for a minute
)";

constexpr std::string_view of_holders = R"(Usage: holdfast holders [OPTION...] NAME

Shows the holders of the lock NAME. If a holder is shown as dead, see man holdfast for how to find
the process that keeps the lock.

      --url URL   the store of the lock (default: $HOLDFAST_URL, else file:)
      --json      print {"name":..., "held":true or false, "holders":[...]}; each holder as in
                  `holdfast list`
  -q, --quiet     print nothing, only set the exit status

Exit status: 0: held; 1: free; 69: the store cannot be reached; 64: wrong usage, or NAME holds other
data.

Manual: man holdfast

Examples:
  holdfast holders nightly          the holder, since when, and how many wait
  holdfast holders -q nightly || echo free
)";

constexpr std::string_view of_wait = R"(Usage: holdfast wait [OPTION...] NAME

Waits until the lock NAME is free. Acquires nothing and has no place in the queue: it polls at most
once per second, so a lock that is handed on without a pause may never be seen free.

  -w, --wait SECONDS            wait at most this long; 0: query once
  -E, --conflict-exit-code CODE exit with CODE when the lock is still held (0 to 255, default 1)
  -q, --quiet                   do not report the wait
      --url URL                 the store of the lock (default: $HOLDFAST_URL, else file:)

Durations: 30 and 1.5 are seconds; 500ms, 2m, 1h, 1d.

Exit status: 0: free; 1 or -E: still held; 69: the store cannot be reached; 64: wrong usage, or NAME
holds other data; 128 + N: signal N ended the wait.

Manual: man holdfast

Examples:
  holdfast wait -w 10m nightly      wait at most ten minutes
  holdfast wait -w 0 nightly        query once: is it free?
)";

constexpr std::string_view of_break = R"(Usage: holdfast break [OPTION...] NAME --owner ID

Takes the lock NAME away from the holder ID, as `holdfast holders NAME` prints it, and from no other
holder. The next waiter is granted the lock. The holder notices the loss with its next renewal: end
it first where that is possible. A file lock cannot be taken away: the process to end is printed.
With zookeeper: the holder is asked first and has ?revocation-timeout= (default 1s; 0s: do not ask)
to release.

      --owner ID    the holder, as `holdfast holders` prints it
      --url URL     the store of the lock (default: $HOLDFAST_URL, else file:)
      --json        print {"name":..., "owner":..., "broken":true or false}, with "pid" and "host"
                    if that process has to be ended instead

Exit status: 0: taken away; 1: free, or held by another holder; 64: not possible in this store, or
wrong usage; 69: the store cannot be reached.

Manual: man holdfast

Examples:
  holdfast holders nightly          prints the ID
  holdfast break nightly --owner ID
)";

constexpr std::string_view of_prune = R"(Usage: holdfast prune [OPTION...]

Removes the files of unused locks from the default directory, or from one whose URL has ?unlink=1.
Programs remove these files themselves. Killed processes leave some, which are removed a few at a
time when another lock's file is created. From a mysql: store it removes expired readers and holders
of permits, and with ?strategy=insert expired records.

      --url URL   the store of the locks (default: $HOLDFAST_URL, else file:)
      --json      print {"removed":N}, the number of locks removed

Exit status: 0: success; 64: this store needs no pruning, or ?unlink=1 is missing, or wrong usage;
69: the store cannot be reached.

Manual: man holdfast

Examples:
  holdfast prune                    the default directory
  holdfast prune --json --url 'file:///srv/locks?unlink=1'
)";

constexpr std::string_view of_diagnosis = R"(Usage: holdfast diagnose [OPTION...]

Examines the store of the locks: its settings, rights, clocks and latency, and their effect on
locks. Prints one line for each finding, graded good, warn or bad, and the remedy. Changes nothing,
except that it creates and deletes a node in ZooKeeper.

      --url URL   the store of the locks (default: $HOLDFAST_URL, else file:)
      --json      print an array with one object per line and these members:
                    what (for example server, rights, clock, latency; man holdfast lists those
                    of each store), grade ("good", "warn", "bad"), why, remedy ("": nothing to do)

Exit status: 0: nothing is bad; 1: something is bad; 69: the store cannot be reached; 64: wrong
usage.

Manual: man holdfast

Examples:
  holdfast diagnose --url redis://db1
  holdfast diagnose --json | jq '.[] | select(.grade == "bad")'
)";

constexpr std::string_view of_explanation = R"(Usage: holdfast explain [OPTION...] [NAME]

Shows what happened to the lock NAME, or to all locks, on this machine. Each program that uses locks
keeps a recording of its last 4,096 lock events in memory, which survives its end. This command
merges the recordings of this user, of all users if it runs as root, prints the events in the order
of their times, and checks them: whether two held the lock at the same time, whether the tokens
grew, which leases were lost and why, and which process ended or was stopped while it held the lock.

  -n, --lines N   print the last N events (default 50; 0: all)
      --json      print an object with these members:
                    grants, losses, held, abandoned, waiting (numbers), verdict (a sentence),
                    faults (an array of what, first_pid, second_pid, text), events (an array of
                    time, pid, program, store, name, event, token (a string), text)

Recordings are files in /dev/shm/holdfast-UID, or in the directory $HOLDFAST_RECORDER. They hold
names of locks, and neither passwords nor notes. HOLDFAST_RECORDER=off, or recorder=0 in a URL,
turns them off.

Exit status: 0: nothing is wrong; 1: two held a lock at the same time, or a token did not grow;
2: there is no recording of the lock; 69: a recording cannot be read; 64: wrong usage.

Manual: man holdfast

Examples:
  holdfast explain nightly          what happened to nightly
  holdfast explain --json | jq .verdict
)";

constexpr std::string_view of_schema = R"(Usage: holdfast schema [OPTION...]

Prints the SQL statements that create the tables of the locks of a mysql: URL, for a user that may
create tables. Without the tables a program creates them itself, if its user may. Connects to
nothing: the strategy, the name of the table and the names of columns are those in the URL.

      --url URL   the store of the locks (default: $HOLDFAST_URL, else file:)

Exit status: 0: success; 64: the locks of this store need no tables, or wrong usage.

Manual: man holdfast

Examples:
  holdfast schema --url mysql://app@db1/shop
  holdfast schema --url mysql://app@db1/shop | mariadb --user=admin -p shop
)";

constexpr std::string_view of_drill = R"(Usage: holdfast drill --yes [OPTION...]

Shows how locks in this store behave when programs fail: for a staging deployment. Starts processes
of its own that contend for a few locks whose names start with holdfast-drill/, and stops (SIGSTOP)
and kills them at random. Their connections pass through proxies of the drill, which cut, refuse,
delay and silence them at random. Reports how often each fault was played, how long a hand-off
takes, how long after a dead holder's deadline the lock is granted again, when living holders were
notified of a loss, and how many late writes the fencing token refused: those of holders, and those
that it plants. Uses no other lock, and releases its own. Needs no root. Without --yes it prints
what it would do.

      --yes             start
      --minutes M       how long it takes (default: 10)
      --workers N       the number of processes, 2 to 64 (default: 4)
      --failover COMMAND
                        at half time, run COMMAND with sh. auto: with redis+sentinel: or
                        redis+cluster: the drill itself sends SENTINEL FAILOVER, or CLUSTER FAILOVER
                        to a replica of each master, with the credentials of the URL
      --seed N          repeat the faults of an earlier drill, which has printed its seed
      --url URL         the store of the locks (default: $HOLDFAST_URL, else file:). Leases get a
                        ttl of 2 s unless the URL has ttl=
      --json            print one object with seed, calls, grants, losses, hand_off, margin,
                        notice_before_grant, notice_after_deadline (these four with count,
                        min_us, median_us, p99_us, max_us), writes, planted_writes,
                        stale_without_token, planted_stale_without_token, stale_with_token,
                        two_holders, other_violations, faults (each with its count), no_proxies
                        (the reason, or "") and complaints

Exit status: 0: no violation; 1: two held a lock at a time, a stale write was accepted, or a process
did not recover; 64: wrong usage, or --yes is missing; 69: the store cannot be reached; 128 + N:
signal N ended the drill.

Manual: man holdfast

Examples:
  holdfast drill --url redis://staging --minutes 1 --yes
  holdfast drill --url redis+sentinel://s1,s2,s3/main --failover=auto --yes
)";

struct page {
  std::string_view command, text;
};
constexpr page pages[] = {
    {"", overview},        {"help", overview},
    {"version", overview}, {"run", help_of_run},
    {"list", of_list},     {"holders", of_holders},
    {"wait", of_wait},     {"break", of_break},
    {"prune", of_prune},   {"diagnose", of_diagnosis},
    {"ls", of_list},       {"show", of_holders},
    {"gc", of_prune},      {"doctor", of_diagnosis},
    {"schema", of_schema}, {"explain", of_explanation},
    {"drill", of_drill},   {"top", of_top},
};

}  // namespace

std::string_view help_text(std::string_view command) {
  for (const page& p : pages)
    if (p.command == command) return p.text;
  return {};
}

std::string_view usage_of(std::string_view command) {
  constexpr std::string_view front = "Usage: ";
  const auto text = help_text(command);
  return text.substr(front.size(), text.find('\n') - front.size());
}

}  // namespace holdfast::cli
