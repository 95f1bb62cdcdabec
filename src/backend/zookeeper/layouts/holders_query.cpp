#include "backend/zookeeper/layouts/holders_query.hpp"

#include <algorithm>
#include <chrono>

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using std::chrono::milliseconds;

void holders_query::send_first(time_point now) {
  const std::string root = chroot_.empty() ? "/" : chroot_;
  asked_.push_back({question::sync, root, {}});
  sync(root, now);
  if (scope_ == query_scope::one_lock) return ask_about(name_, now);
  asked_.push_back({question::locks, root, {}});
  list(root, now);
}

void holders_query::ask_list(std::string path, holder known, time_point now, unsigned kind) {
  asked_.push_back({question::list, std::move(path), std::move(known), kind});
  list(asked_.back().path, now);
}

void holders_query::ask_node(std::string path, holder known, time_point now) {
  asked_.push_back({question::node, std::move(path), std::move(known)});
  look(asked_.back().path, now);
}

void holders_query::fill(holder& h, const node_data& node, node_owner owner) const {
  constexpr std::int64_t turns_per_grant = 1024;
  h.host = std::move(owner.host);
  h.pid = owner.pid;
  h.note = std::move(owner.note);
  h.token = node.stat.czxid * turns_per_grant;
  const auto wall = std::chrono::duration_cast<milliseconds>(env().wall());
  h.held_for = std::max(wall - milliseconds{node.stat.ctime_ms}, milliseconds{0});
}

void holders_query::read(std::size_t, const reply& r, time_point now) {
  read_answer(r, now);
  ask_more(now);
}

// A few at a time: a renewal of the session waits for what is under way, and a server that is asked
// about thousands of locks at once seems not to answer.
void holders_query::ask_more(time_point now) {
  constexpr std::size_t asked_max = 64;
  while (!names_.empty() && asked_.size() < asked_max) {
    ask_about(names_.front(), now);
    names_.pop_front();
  }
}

void holders_query::read_answer(const reply& r, time_point now) {
  question q = std::move(asked_.front());
  asked_.pop_front();
  if (!r.is_ok()) {
    // Nobody holds it, or not any more. Among many locks, one that this user may not read is left
    // out.
    const bool is_needed = scope_ == query_scope::one_lock || q.about == question::locks;
    if (!r.is(error::no_node) && is_needed)
      return fail({errc_of(r.head.code), explain(r.head.code, q.path)});
    if (q.about == question::list) return read_list(std::move(q), nullptr, now);
    if (q.about == question::node) ask_again(q.found.name, now);
    return;
  }
  if (q.about == question::sync) return;
  if (q.about == question::node) {
    const auto node = read_data(r.body);
    if (!node) return fail({errc::unavailable, std::string(malformed_reply)});
    if (read_holder(*node, q.found)) result.push_back(std::move(q.found));
    return;
  }
  const auto all = read_children(r.body);
  if (!all) return fail({errc::unavailable, std::string(malformed_reply)});
  q.about == question::locks ? read_locks(*all) : read_list(std::move(q), &*all, now);
}

// A node that is removed after the list was made may have a successor: without this a lock that
// passes from one holder to the next would be reported as free (simulator: curator, seed 60096).
void holders_query::ask_again(const std::string& name, time_point now) {
  const auto is_of_it = [&](const question& q) { return q.found.name == name; };
  const bool has_holder = std::ranges::find(result, name, &holder::name) != result.end();
  if (has_holder || std::ranges::any_of(asked_, is_of_it)) return;
  const bool is_asked = repeats_left_-- > 0;
  if (is_asked && !base::planted(base::mutant::passing_lock_shown_free)) ask_about(name, now);
}

// In order.
void holders_query::read_locks(const node_children& all) {
  for (const std::string_view node : all.names) {
    auto name = lock_name(node);
    if (name && name->starts_with(name_) && lock_name_fault(chroot_, *name).empty())
      names_.push_back(std::move(*name));
  }
  std::ranges::sort(names_);
}

void holders_query::complete(std::vector<holder>& all) {
  std::ranges::stable_sort(all, {}, &holder::name);
}

}  // namespace holdfast::zookeeper
