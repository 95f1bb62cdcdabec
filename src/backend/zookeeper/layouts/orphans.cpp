#include "backend/zookeeper/layouts/orphans.hpp"

#include <chrono>
#include <iterator>
#include <utility>

#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

using namespace std::chrono_literals;

namespace {

constexpr duration refused_pause = 10s;

}  // namespace

// Without a session there is no node of it.
void orphan_nodes::add(removed_by by, std::string parent, std::string text, time_point now) {
  if (over_->of_session().id() == 0) return;
  items_.emplace_back(*this, by, std::move(parent), std::move(text));
  items_.back().place = std::prev(items_.end());
  items_.back().start(now);
}

void orphan_nodes::resume(time_point now) {
  for (orphan_node& r : items_)
    if (r.is_cut) r.start(now);
}

void orphan_nodes::tick(time_point now) {
  for (orphan_node& r : items_) {
    if (r.retry_at <= now) r.start(now);
    over_->tick_by(r.retry_at);
  }
}

void orphan_node::start(time_point now) {
  is_cut = is_refused_ = false;
  retry_at = base::never;
  looks_ = by_ != removed_by::name;
  // Behind a sync: a create that was never answered may have been executed by another server.
  if (looks_) send(opcode::sync, path_body(parent_), now);
  switch (by_) {
    case removed_by::name: send(opcode::remove, delete_body(parent_ + '/' + text_), now); break;
    case removed_by::beginning:
      send(opcode::get_children2, watched_path_body(parent_, false), now);
      break;
    case removed_by::content: send(opcode::get_data, watched_path_body(parent_, false), now); break;
  }
  is_cut = awaited_ == 0;
}

void orphan_node::send(opcode op, std::string body, time_point now) {
  if (all_.over_->of_session().submit(*this, op, std::move(body), now)) ++awaited_;
}

void orphan_node::on_reply(const reply& r, const reply_context& context) {
  if (--awaited_ > 0 && looks_) return;  // sync
  if (!r.is_ok() && !r.is(error::no_node)) is_refused_ = true;
  if (looks_ && r.is_ok()) remove_found(r, context.now);
  if (awaited_ == 0) finish(context.now);
}

void orphan_node::remove_found(const reply& r, time_point now) {
  looks_ = false;
  if (by_ == removed_by::content) {
    if (is_ours(r)) send(opcode::remove, delete_body(parent_), now);
    return;
  }
  const auto all = read_children(r.body);
  if (!all) return;
  for (const std::string_view name : all->names)
    if (name.starts_with(text_))
      send(opcode::remove, delete_body(parent_ + '/' + std::string(name)), now);
}

bool orphan_node::is_ours(const reply& r) const {
  const auto node = read_data(r.body);
  return node && node->data.starts_with(text_) &&
         node->stat.ephemeral_owner == all_.over_->of_session().id();
}

void orphan_node::finish(time_point now) {
  if (is_cut) return;
  if (is_refused_) {
    retry_at = now + refused_pause;
    return all_.over_->tick_by(retry_at);
  }
  all_.items_.erase(place);
}

void orphan_node::on_cut(bool, const reply_context&) {
  --awaited_;
  is_cut = true;
}

}  // namespace holdfast::zookeeper
