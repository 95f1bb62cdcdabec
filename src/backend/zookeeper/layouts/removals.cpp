// Nodes that nobody waits for any more: removed until they are gone, as Curator's guaranteed
// deletes are.
#include <chrono>
#include <utility>

#include "backend/zookeeper/layouts/sequential_layout.hpp"

namespace holdfast::zookeeper {

using namespace std::chrono_literals;

namespace {

constexpr duration refused_pause = 10s;

}  // namespace

void sequential_layout::remove_later(const sequential_claim& c, time_point now) {
  const bool is_known = !c.node.empty();
  removals_.emplace_back(*this, c.path,
                         is_known ? c.node : codec_->name_of(c.attempt, c.details.mode), is_known);
  removals_.back().place = std::prev(removals_.end());
  removals_.back().start(now);
}

void sequential_layout::end_removal(removal& r) noexcept { removals_.erase(r.place); }

void removal::start(time_point now) {
  is_cut = false;
  retry_at = core::never;
  deletes_ = is_known_;
  awaited_ = deletes_ ? 1 : 2;
  std::string body;
  if (deletes_) {
    append_delete(body, path_ + '/' + name_, any_version);
    if (!home_.send(*this, opcode::remove, std::move(body), now)) is_cut = true;
    return;
  }
  append_path(body, path_);
  if (!home_.send(*this, opcode::sync, std::move(body), now)) {
    is_cut = true;
    return;
  }
  std::string list;
  append_watched_path(list, path_, false);
  (void)home_.send(*this, opcode::get_children2, std::move(list), now);
}

void removal::on_reply(const reply& r, const reply_context& context) {
  if (--awaited_ > 0) return;  // sync
  if (r.is(error::no_node) || (deletes_ && r.is_ok())) return home_.end_removal(*this);
  if (!r.is_ok()) {
    retry_at = context.now + refused_pause;
    return home_.over().tick_by(retry_at);
  }
  const auto all = read_children(r.body);
  if (!all) return home_.end_removal(*this);
  for (const std::string_view name : all->names) {
    if (!name.starts_with(name_)) continue;
    name_ = name;
    is_known_ = true;
    return start(context.now);
  }
  home_.end_removal(*this);
}

void removal::on_cut(bool, const reply_context&) {
  if (--awaited_ == 0) is_cut = true;
}

}  // namespace holdfast::zookeeper
