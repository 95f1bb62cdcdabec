#include "torture/many_waiters.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "contention/belongings.hpp"
#include "history/history.hpp"
#include "testkit/participant.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;
using history::operation;

// The callers of one client are one waiter of the store.
constexpr std::size_t client_count = 8, callers_of_a_client = 75;
constexpr std::chrono::milliseconds longest_patience = 2s;

class caller final : public testkit::participant {
 public:
  caller(const client& c, history::history_writer& history, std::string process, std::uint64_t seed)
      : participant(std::move(process), history, seed), lock_(c.mutex(name_)) {}

  void play() override {
    auto begun = begin(name_, operation::acquire);
    const std::chrono::milliseconds limit(
        up_to(static_cast<std::uint64_t>(longest_patience.count())));
    std::error_code ec;
    lease held = lock_.try_acquire_for(limit, {}, {}, ec);
    is_misused_ = ec == outcome::usage;
    if (!granted(std::move(begun), held, ec)) return;
    (void)check(name_, held);
    leave(name_, std::move(held));
  }
  bool is_misused() const noexcept { return is_misused_; }

 private:
  const std::string name_ = names.mutex(0);
  const mutex lock_;
  bool is_misused_ = false;
};

// Servers may be down. Fewer clients come then, or none.
std::deque<client> open_clients(const std::string& url, std::size_t count) {
  std::deque<client> all;
  for (std::size_t i = 0; i < count; ++i) {
    std::error_code ec;
    client one = client::open(url, {}, ec);
    if (!ec) all.push_back(std::move(one));
  }
  return all;
}

void close(std::deque<client>& all) {
  std::vector<std::jthread> threads;
  for (client& each : all) threads.emplace_back([&each] { each.close(); });
}

// Whether each call was a valid one.
bool play(const std::deque<client>& clients, const many_waiters_terms& terms) {
  history::history_writer history(terms.history);
  std::deque<caller> callers;
  for (const client& each : clients)
    for (std::size_t i = 0; i < callers_of_a_client; ++i)
      callers.emplace_back(each, history, terms.name + '.' + std::to_string(callers.size()),
                           terms.seed + callers.size());
  {
    std::vector<std::jthread> threads;
    for (caller& each : callers) threads.emplace_back([&each] { each.play(); });
  }
  for (const caller& each : callers)
    if (each.is_misused()) return false;
  return true;
}

}  // namespace

int run_many_waiters(const many_waiters_terms& terms) {
  // What remains of the library in a process after its first client is no leak.
  std::deque<client> first = open_clients(terms.url, 1);
  if (first.empty()) return 0;
  std::error_code ignored;
  first.front().mutex(names.warm_up()).try_acquire({}, ignored).unlock();
  close(first);
  first.clear();
  const belongings before = belongings_now();
  std::deque<client> clients = open_clients(terms.url, client_count);
  const bool is_valid = play(clients, terms);
  close(clients);
  clients.clear();
  const std::string left = left_since(before);
  if (!is_valid) std::printf("a call was refused as a wrong one\n");
  if (!left.empty()) std::printf("%s\n", left.c_str());
  return is_valid && left.empty() ? 0 : 1;
}

}  // namespace holdfast::torture
