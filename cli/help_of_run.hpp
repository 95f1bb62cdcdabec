#pragma once
#include <string_view>

namespace holdfast::cli {

inline constexpr std::string_view help_of_run =
    R"(Usage: holdfast run [OPTION...] NAME... -- COMMAND [ARGUMENT...]

Acquires the lock NAME, runs COMMAND (without a shell) and releases the lock. Of several NAMEs all
locks are acquired or none, and two runs never deadlock, whatever the order. A NAME that starts with
'-' comes after --: holdfast run [OPTION...] -- -x -- COMMAND.

  -x, --exclusive               exclude every other holder (the default)
  -s, --shared                  share the lock with other runs that use -s
  -p, --permits N               a semaphore: N permits, the same N in all programs
      --take K                  acquire K of the N permits (default 1)
  -n, --nonblock, --nb          do not wait: exit when the lock is held
  -w, --wait, --timeout SECONDS wait at most this long
  -E, --conflict-exit-code CODE exit with CODE when the lock is not acquired (0 to 255, default 1)
  -q, --quiet                   do not report waits, nor that the lock is not acquired
      --verbose                 report the store, the length of the wait and the token
      --note TEXT               a text that is shown to waiters
      --url URL                 the store of the lock (default: $HOLDFAST_URL, else file:)
  -o, --close                   file locks: COMMAND does not inherit the lock, so processes that it
                                leaves running do not keep it
      --ttl D                   how long the lock outlives a dead holder (default 30s); no effect
                                where it ends with a process, session or connection
      --no-renew                end COMMAND after the ttl instead of renewing the lock; only where
                                locks have a ttl
      --grace D                 the time between SIGTERM and SIGKILL when the lock may be lost
                                (default: 5s, or a fifth of the ttl if that is less; at most a third
                                of it); no effect on file locks, which are not lost

Durations: 30 and 1.5 are seconds; 500ms, 2m, 1h, 1d.

COMMAND has HOLDFAST_NAME and HOLDFAST_TOKEN in its environment: let the resource that it writes to
refuse smaller tokens. On servers it also has HOLDFAST_EXPIRES (when the lock expires unless it is
renewed), and where locks have a ttl HOLDFAST_TTL (seconds). For several locks HOLDFAST_NAME has one
line each, HOLDFAST_TOKEN has commas between the tokens, and HOLDFAST_EXPIRES is the earliest.
HOLDFAST_URL and variables with passwords are removed.

Exit status: that of COMMAND, or 128 + N if signal N ended it or the wait; 1 or -E: not acquired;
75: the lock was lost and COMMAND was ended; 69: the store cannot be reached; 64: wrong usage;
126: COMMAND cannot be executed; 127: COMMAND does not exist.

Manual: man holdfast

Examples:
  holdfast run -n nightly -- ./backup          from cron: skip the run while another one is active
  holdfast run -s catalogue -- ./export        readers at the same time, never with a writer
  holdfast run -p 4 encoder -- ffmpeg ...      at most four at the same time
)";

}  // namespace holdfast::cli
