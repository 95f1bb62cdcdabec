#include "cli/help.hpp"

#include "cli/help_of_run.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view overview = R"(Usage: holdfast COMMAND [OPTION...]

  run       run a program while holding a lock
  ls        the locks that are held
  show      who holds a lock
  wait      wait until nobody holds a lock
  break     take a lock away from its holder
  gc        remove what unused locks have left
  doctor    examine the place of the locks
  version   print the version
  help      this text, or as `holdfast help run` that of a command

The locks are those of this machine and user, or where --url or $HOLDFAST_URL says.

  holdfast run nightly -- sh -c 'echo token $HOLDFAST_TOKEN; sleep 5'
)";

constexpr std::string_view of_list = R"(Usage: holdfast ls [OPTION...] [PREFIX]

Lists the locks that are held and whose names start with PREFIX, a line for each holder: of readers
and of permits there may be several. On Redis a lock shows a second after it was taken, or as soon
as somebody waits for it; `holdfast show` knows any.

      --url URL   where the locks are (default: $HOLDFAST_URL, else this machine)
      --json      an array of objects, one a line, with these members; what is not known is null:
                    name, mode ("exclusive", "shared", "permit"), permits and of (of a semaphore),
                    holder (for break), token (a string), pid, host, note, held_ms,
                    left_ms (null: until the holder ends), waiting (how many wait),
                    dead (whether the process has ended; null: it is on another host)

Exit status: 0, also when nothing is held; 69: the locks cannot be reached; 64: wrong usage.
)";

constexpr std::string_view of_show = R"(Usage: holdfast show [OPTION...] NAME

Tells who holds the lock NAME.

      --url URL   where the locks are (default: $HOLDFAST_URL, else this machine)
      --json      {"name":..., "held":true or false, "holders":[...]}, each as in `holdfast ls`
  -q, --quiet     print nothing: the exit status tells

Exit status: 0: held; 1: free; 69: the locks cannot be reached; 64: wrong usage.
)";

constexpr std::string_view of_wait = R"(Usage: holdfast wait [OPTION...] NAME

Waits until nobody holds the lock NAME. Takes nothing and stands in no queue: it looks, at most once
a second, so that a lock which is handed on without a pause may never be seen free.

  -w, --wait SECONDS            wait so long at most; 0: only look
  -E, --conflict-exit-code CODE exit with CODE when it is still held (0 to 255, default 1)
  -q, --quiet                   do not say what it waits for
      --url URL                 where the locks are (default: $HOLDFAST_URL, else this machine)

Durations: 30 and 1.5 are seconds; 500ms, 2m, 1h.

Exit status: 0: free; 1 or -E: still held; 69: the locks cannot be reached; 64: wrong usage;
128 + the signal that ended the wait.
)";

constexpr std::string_view of_break = R"(Usage: holdfast break [OPTION...] NAME --holder ID

Takes the lock NAME away from the holder ID, which `holdfast show NAME` tells; from nobody else. Who
waits gets it. The holder learns of it with its next renewal: see to it that it does not go on.
Locks in files are kept by the kernel: there the answer is which process to end. At ZooKeeper the
holder is asked first, for ?revocation-timeout= (default 1s; 0s: not at all).

      --holder ID   the holder that was seen
      --url URL     where the locks are (default: $HOLDFAST_URL, else this machine)
      --json        {"name":..., "holder":..., "broken":true or false}, with "pid" and "host" where
                    that process has to be ended instead

Exit status: 0: taken away; 1: free, or another holds it; 64: cannot be done here, or wrong usage;
69: the locks cannot be reached.
)";

constexpr std::string_view of_gc = R"(Usage: holdfast gc [OPTION...]

Removes the files of locks that nobody uses. In the default directory, and where the URL says
?unlink=1, they go by themselves; killed processes leave some, which go a few with each new lock.

      --url URL   where the locks are (default: $HOLDFAST_URL, else this machine)
      --json      {"removed":N}, the number of locks whose files were removed

Exit status: 0: done; 64: locks leave nothing there, or ?unlink=1 is missing, or wrong usage;
69: the locks cannot be reached.
)";

constexpr std::string_view of_doctor = R"(Usage: holdfast doctor [OPTION...]

Examines the place of the locks: settings, rights, clocks and times, and what each does to a lock.
Prints a line for each finding, graded good, warn or bad, and below it what to do. Changes nothing.

      --url URL   where the locks are (default: $HOLDFAST_URL, else this machine)
      --json      an array of objects, one a line, with these members:
                    what (server, eviction, persistence, replicas, connections, rights, clock,
                    latency, counter; of files directory, path, filesystem, space; of memory store),
                    grade ("good", "warn", "bad"), why, remedy ("": nothing)

Exit status: 0: nothing is bad; 1: something is; 69: the locks cannot be reached; 64: wrong usage.
)";

struct page {
  std::string_view command, text;
};
constexpr page pages[] = {
    {"", overview},  {"help", overview},    {"version", overview}, {"run", help_of_run},
    {"ls", of_list}, {"show", of_show},     {"wait", of_wait},     {"break", of_break},
    {"gc", of_gc},   {"doctor", of_doctor},
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
