// The part of the transport that combines queued statements into shared commits. A statement that
// finds a free connection is executed at once and alone. While no connection is free, statements
// wait, and the connection that becomes free takes several: the number of statements per commit
// grows with the load.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "backend/mysql/transport/transport.hpp"

namespace holdfast::mysql {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t statements_per_commit_max = 16;
constexpr std::size_t queue_scan_max = 64;  // of a queue that may have thousands
// The cause of a failure may persist, for example a row that another transaction has locked, or a
// proxy that closes the connection. The pause limits how often it delays other statements.
constexpr duration pause_after_failure = 10s;

}  // namespace

// The statement at `at` may start. The connection executes it, with those that share its commit.
void transport::execute(group& g, std::size_t at, member& m, time_point now) {
  queued_statement first = take(g, at);
  std::vector<queued_statement> all = take_sharing(g, at, first, now);
  const time_point due = base::saturating_add(now, where_.op_timeout);
  m.order = first.order;
  m.orders = first.orders;
  if (all.empty()) {
    m.connection->execute(std::move(first.statement), *first.handler, now, due);
  } else {
    all.push_back(std::move(first));
    shared_commit& made = shared_commits_.emplace_back(*this, std::move(all));
    made.place = std::prev(shared_commits_.end());
    m.orders = &made.orders();
    m.connection->execute(made.text(), made, now, due);
  }
  reactor_.wake_by(due);
}

queued_statement transport::take(group& g, std::size_t at) {
  queued_statement out = std::move(g.queue[at]);
  g.queue.erase(g.queue.begin() + static_cast<std::ptrdiff_t>(at));
  return out;
}

// Takes from the queue, beginning at `at`, the statements that share the commit of `first`.
std::vector<queued_statement> transport::take_sharing(group& g, std::size_t at,
                                                      const queued_statement& first,
                                                      time_point now) {
  std::vector<queued_statement> out;
  const auto can_share = [](const queued_statement& s) {
    return s.statement.has_row() && s.order != 0;
  };
  if (now < shares_from_ || !can_share(first)) return out;
  const bool is_last_free = std::ranges::count_if(g.members, &member::is_free) == 1;
  if (!is_last_free) return out;
  const auto is_taken = [&](std::size_t order) {
    const auto is_same = [&](const queued_statement& s) { return s.order == order; };
    return is_same(first) || std::ranges::any_of(out, is_same);
  };
  const std::size_t end = at + queue_scan_max;
  while (at < std::min(end, g.queue.size()) && out.size() + 1 < statements_per_commit_max) {
    const job& next = g.queue[at];
    const bool joins = can_share(next) && !is_taken(next.order) && may_start(g, at) &&
                       next.handler->has_requester();
    if (joins)
      out.push_back(take(g, at));
    else
      ++at;
  }
  return out;
}

std::list<shared_commit> transport::take_out(shared_commit& c) noexcept {
  std::list<shared_commit> out;
  out.splice(out.begin(), shared_commits_, c.place);
  return out;
}

void transport::execute_alone(std::vector<queued_statement> all, time_point now) {
  pause_sharing(now);
  for (; !all.empty(); all.pop_back()) of(lane::commands).queue.push_front({std::move(all.back())});
}

void transport::pause_sharing(time_point now) noexcept {
  shares_from_ = base::saturating_add(now, pause_after_failure);
}

}  // namespace holdfast::mysql
