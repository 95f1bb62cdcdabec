#include "contention/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contention/belongings.hpp"
#include "contention/dice.hpp"
#include "contention/player.hpp"

namespace holdfast::contention {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds opening_pause = 50ms, worker_glance = 10ms;

bool input_has_ended(std::chrono::milliseconds bound) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, static_cast<int>(bound.count())) > 0 && (input.revents & POLLHUP) != 0;
}

struct drawn_terms {
  url store;
  worker_terms terms;
};

// A lock that lingers is released at once when another client waits for it. A worker that is
// stopped keeps it for a ttl, as a holder does.
drawn_terms draw(worker_terms terms) {
  constexpr std::chrono::milliseconds shortest_ttl = 1s;
  constexpr std::array<const char*, 4> lingers = {"0", "0", "10ms", "1s"};
  constexpr std::array<const char*, 3> turns = {"1", "8", "128"};
  std::error_code ec;  // open() reports it again
  url store = url::parse(terms.url, ec);
  if (terms.draws_options) {
    dice d(terms.seed);
    terms.ttl = d.between(std::min(shortest_ttl, terms.ttl), terms.ttl);
    store = store.with("ttl", std::to_string(terms.ttl.count()) + "ms")
                .with("linger", lingers.at(d.below(lingers.size())))
                .with("turns", turns.at(d.below(turns.size())));
  }
  return {std::move(store), std::move(terms)};
}

// Servers may be down at that time. Empty: the input has ended before.
client open_client(const url& store) {
  for (;;) {
    std::error_code ec;
    client made = client::open(store, {}, ec);
    if (!ec) return made;
    if (ec == outcome::usage) {
      std::printf("%sthe client does not open: %s\n", complaint_mark, ec.message().c_str());
      return {};
    }
    if (input_has_ended(opening_pause)) return {};
  }
}

// What remains of the library in a process after its first client: it is no leak.
bool warm_up(const url& store, const worker_terms& terms) {
  client first = open_client(store);
  if (!first) return false;
  std::error_code ec;
  auto held = first.mutex(terms.locks.warm_up()).try_acquire({}, ec);
  held.unlock();
  first.close();
  return true;
}

// Elsewhere close() is false after any release whose outcome was unknown at first.
bool forgets_confirmed_releases(const std::string& url) {
  return url.starts_with("redis") || url.starts_with("file:");
}

void leave_behind(plant planted) {
  if (planted == plant::left_thread) std::thread([] { std::this_thread::sleep_for(1h); }).detach();
  if (planted == plant::left_descriptor) (void)::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
}

class troupe {
 public:
  troupe(const client& c, const worker_terms& terms) : history_(terms.history) {
    for (int i = 0; i < worker_threads; ++i)
      players_.emplace_back(c, history_,
                            player::terms{.process = terms.name + '.' + std::to_string(i),
                                          .resource = terms.resource,
                                          .names = terms.locks,
                                          .ttl = terms.ttl,
                                          .seed = terms.seed + static_cast<std::uint64_t>(i),
                                          .planted = terms.planted});
    for (player& one : players_)
      threads_.emplace_back([this, &one] {
        while (!over_) one.play();
      });
  }
  ~troupe() { over_ = true; }
  std::uint64_t grants() const {
    std::uint64_t all = 0;
    for (const player& one : players_) all += one.grants();
    return all;
  }

 private:
  std::atomic<bool> over_{false};
  history::history_writer history_;
  std::deque<player> players_;
  std::vector<std::jthread> threads_;
};

// Shuts down all connections of this process but those to the resource: its descriptors stay open.
void cut_connections() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM)
      ::shutdown(fd, SHUT_RDWR);
  }
}

// The next line of the input, or 0.
char next_command() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char letter = 0, end_of_line = 0;
  if (::poll(&input, 1, static_cast<int>(worker_glance.count())) <= 0 ||
      (input.revents & POLLIN) == 0 || ::read(STDIN_FILENO, &letter, 1) != 1)
    return 0;
  (void)!::read(STDIN_FILENO, &end_of_line, 1);
  return letter;
}

// Plays until the input ends.
void play(const client& c, const worker_terms& terms) {
  const troupe all(c, terms);
  std::uint64_t at_calm = 0;
  bool is_calm = false;
  while (!input_has_ended(0ms)) {
    const char command = next_command();
    if (command == cut_letter) cut_connections();
    if (command == calm_letter) {
      is_calm = true;
      at_calm = all.grants();
    }
    if (!is_calm || all.grants() == at_calm) continue;
    std::printf("%s\n", recovered_mark);
    is_calm = false;
  }
}

}  // namespace

int run_worker(const worker_terms& given) {
  ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const auto [store, terms] = draw(given);
  if (!warm_up(store, terms)) return 0;
  const belongings before = belongings_now();
  if (client c = open_client(store)) {
    play(c, terms);
    if (!c.close() && forgets_confirmed_releases(terms.url))
      std::printf("%sclose() left something in the store\n", complaint_mark);
  }
  leave_behind(terms.planted);
  if (const std::string left = left_since(before); !left.empty())
    std::printf("%s%s\n", complaint_mark, left.c_str());
  std::printf("%s\n", done_mark);
  return 0;
}

}  // namespace holdfast::contention
