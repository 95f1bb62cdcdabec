// The transport's part that has statements share a commit. A statement that finds a free connection
// is executed at once and alone. While all of them are busy, statements wait, and the one that
// becomes free takes several: the busier the server, the more locks a commit is for.
#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/mysql/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_of_commit = 16;
constexpr std::size_t most_looked_at = 64;  // of a queue that may have thousands
// Another transaction that keeps a row makes a shared commit fail, or its reply overdue, and may go
// on: the statements of other rows do not wait with it again and again.
constexpr duration pause_after_failure = 10s;

}  // namespace

// The one at that place, which may start, and those that may share its commit.
std::vector<queued_statement> transport::take_from_queue(group& g, std::size_t at, time_point now) {
  std::vector<queued_statement> out;
  const auto take = [&](std::size_t from) {
    out.push_back(std::move(g.queue[from]));
    g.queue.erase(g.queue.begin() + static_cast<std::ptrdiff_t>(from));
  };
  const auto may_share = [&](const queued_statement& s) {
    const auto is_of_same = [&](const queued_statement& o) { return o.order == s.order; };
    return !s.statement.row().empty() && s.order != 0 && std::ranges::none_of(out, is_of_same);
  };
  const bool is_last_free = std::ranges::count_if(g.members, &member::is_free) == 1;
  const bool shares = is_last_free && now >= shares_from_ && may_share(g.queue[at]);
  take(at);
  const std::size_t seen = shares ? at + most_looked_at : 0;
  while (at < std::min(seen, g.queue.size()) && out.size() < most_of_commit) {
    const job& next = g.queue[at];
    may_share(next) && may_start(g, at) ? take(at) : void(++at);
  }
  return out;
}

void transport::start(member& m, std::vector<queued_statement> all, time_point now) {
  const time_point due = base::saturating_add(now, where_.op_timeout);
  m.order = all.front().order;
  m.orders = all.front().orders;
  if (all.size() == 1) {
    m.connection->execute(std::move(all.front().statement), *all.front().handler, now, due);
  } else {
    shared_commit& made = shared_commits_.emplace_back(*this, std::move(all));
    made.place = std::prev(shared_commits_.end());
    m.orders = &made.orders();
    m.connection->execute(made.text(), made, now, due);
  }
  reactor_.wake_by(due);
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
