#pragma once
#include <string_view>

namespace holdfast::cli {

inline constexpr std::string_view help_of_run =
    R"(Usage: holdfast run [OPTION...] NAME... -- COMMAND [ARGUMENT...]

Waits for the lock NAME, runs COMMAND (no shell) and gives the lock back. Of several NAMEs it takes
all or none, and no order of theirs makes two runs wait for each other. NAMEs that start with '-'
stand between two --: holdfast run [OPTION...] -- -x -- COMMAND.

  -s, --shared                  share the lock with others that say -s; without -s it is exclusive
  -c, --permits N               so many may hold it at once; the same N for all who use the name
      --take K                  of these take K (default 1)
  -n, --nonblock                do not wait: exit when the lock is held
  -w, --wait SECONDS            wait so long at most
  -E, --conflict-exit-code CODE exit with CODE when the lock was not got (0 to 255, default 1)
  -q, --quiet                   do not say what it waits for, nor that the lock was not got
      --note TEXT               shown to those that wait
      --url URL                 where the locks are (default: $HOLDFAST_URL, else this machine)
      --close                   file locks: COMMAND does not inherit the lock, so what it
                                leaves running in the background does not keep it
      --ttl D                   how long a lock outlives its dead holder (default 30s); file locks
                                never do, so there it has no effect
      --no-renew                servers: end COMMAND when the ttl is over instead of renewing it
      --grace D                 time between SIGTERM and SIGKILL when the lock may be lost (default:
                                5s, at most a fifth of the ttl; at most a third); no effect on file
                                locks, which are not lost

Durations: 30 and 1.5 are seconds; 500ms, 2m, 1h.

COMMAND sees HOLDFAST_NAME and HOLDFAST_TOKEN (a fencing token: let what you write to refuse smaller
ones), on servers also HOLDFAST_EXPIRES (when the lock runs out unless renewed) and HOLDFAST_TTL
(seconds). Of several locks HOLDFAST_NAME has a line for each and HOLDFAST_TOKEN commas between
theirs; HOLDFAST_EXPIRES is the earliest. HOLDFAST_URL and variables with passwords are taken out.

Exit status: that of COMMAND, or 128 + the signal that ended it or the wait; 1 or -E: not got;
75: the lock was lost and COMMAND ended; 69: the locks cannot be reached; 64: wrong usage;
126: COMMAND cannot be executed; 127: there is no such command.
)";

}  // namespace holdfast::cli
