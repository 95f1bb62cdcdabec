#include "backend/zookeeper/layouts/removals.hpp"

#include <chrono>
#include <iterator>
#include <utility>

#include "backend/zookeeper/layouts/request_bodies.hpp"

namespace holdfast::zookeeper {

using namespace std::chrono_literals;

namespace {

constexpr duration refused_pause = 10s;

}  // namespace

void removals::add(std::string parent, std::string name, bool is_known, time_point now) {
  items_.emplace_back(*this, std::move(parent), std::move(name), is_known);
  items_.back().place = std::prev(items_.end());
  items_.back().start(now);
}

void removals::resume(time_point now) {
  for (removal& r : items_)
    if (r.is_cut) r.start(now);
}

void removals::tick(time_point now) {
  for (removal& r : items_) {
    if (r.retry_at <= now) r.start(now);
    over_->tick_by(r.retry_at);
  }
}

void removal::start(time_point now) {
  is_cut = is_refused_ = false;
  retry_at = core::never;
  lists_ = !is_known_;
  is_known_ ? send_delete(name_, now) : send_list(now);
  is_cut = awaited_ == 0;
}

// Behind a sync: a create that was never answered may have been executed by another server.
void removal::send_list(time_point now) {
  session& to = all_.over_->of_session();
  if (to.submit(*this, opcode::sync, path_body(parent_), now)) ++awaited_;
  if (to.submit(*this, opcode::get_children2, watched_path_body(parent_, false), now)) ++awaited_;
}

void removal::send_delete(const std::string& name, time_point now) {
  const std::string path = parent_ + '/' + name;
  if (all_.over_->of_session().submit(*this, opcode::remove, delete_body(path), now)) ++awaited_;
}

void removal::on_reply(const reply& r, const reply_context& context) {
  if (--awaited_ > 0 && lists_) return;  // sync
  if (!r.is_ok() && !r.is(error::no_node)) is_refused_ = true;
  if (lists_ && r.is_ok()) return remove_found(r, context.now);
  if (awaited_ == 0) finish(context.now);
}

void removal::remove_found(const reply& r, time_point now) {
  lists_ = false;
  if (const auto all = read_children(r.body)) {
    for (const std::string_view name : all->names)
      if (name.starts_with(name_)) send_delete(std::string(name), now);
  }
  if (awaited_ == 0) finish(now);
}

void removal::finish(time_point now) {
  if (is_cut) return;
  if (is_refused_) {
    retry_at = now + refused_pause;
    return all_.over_->tick_by(retry_at);
  }
  all_.items_.erase(place);
}

void removal::on_cut(bool, const reply_context&) {
  --awaited_;
  is_cut = true;
}

}  // namespace holdfast::zookeeper
