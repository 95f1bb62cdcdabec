#include "lab/page.hpp"

#include "lab/story.hpp"

namespace holdfast::lab {

namespace {

constexpr const char* introduction = R"(# Failures of distributed locks

This page is an explanation for engineers who write, choose or review a distributed lock. Each
section is one failure: the events, a simple lock that these events break, and holdfast in the same
events. The pictures were drawn from real runs on real servers. `./dev lab run NAME` in the source
tree repeats a story, `./dev lab list` lists all of them, and `./dev lab svg` draws the pictures
again.

In each picture time runs from left to right, and each lane is a client, a server or the protected
data. A green bar is a client that holds the lock. A red bar is a client that acts as the holder
although the store no longer agrees. An amber bar is a process that does not run, and a violet bar
is the lock of a client that has crashed. A shaded area marks the time in which two clients act as
holders.

Each run ends in one of three ways:

- **breaks**: two clients hold the lock, data are damaged, a lock stays locked for no holder, no
  client gets a free lock, or each release costs the server more than one waiter needs.
- **stands**: none of these.
- **only the fence stands**: no lock can prevent what happens in these events, for example that two
  clients hold the lock at the same time. The [fencing token](../guides/fencing.md) keeps the late
  write away from the data.
)";

}  // namespace

std::string failures_page() {
  std::string page = introduction;
  for (const story& s : all_stories()) {
    std::string title = s.title;
    page += "\n## " + title + "\n\n" + s.question + "\n\n![" + title + "](failures/" + s.name +
            ".svg)\n\n" + s.answer + "\n\n`./dev lab run " + s.name + "`\n";
  }
  return page;
}

}  // namespace holdfast::lab
