// Nodes that nobody waits for any more: removed until they are gone, as Curator's guaranteed
// deletes are.
#include <chrono>
#include <utility>

#include "backend/zookeeper/layouts/request_bodies.hpp"
#include "backend/zookeeper/layouts/sequential_layout.hpp"

namespace holdfast::zookeeper {

using namespace std::chrono_literals;

namespace {

constexpr duration refused_pause = 10s;

}  // namespace

void sequential_layout::remove_later(const sequential_claim& c, time_point now) {
  const auto begin = [&](std::string name, bool is_known) {
    removals_.emplace_back(*this, c.path, std::move(name), is_known);
    removals_.back().place = std::prev(removals_.end());
    removals_.back().start(now);
  };
  if (c.node.empty()) return begin(codec_->name_of(c.attempt, c.details.mode), false);
  begin(c.node, true);
  if (!c.next_node.empty()) begin(c.next_node, true);
}

void sequential_layout::end_removal(removal& r) noexcept { removals_.erase(r.place); }

void removal::start(time_point now) {
  is_cut = false;
  retry_at = core::never;
  deletes_ = is_known_;
  awaited_ = deletes_ ? 1 : 2;
  if (deletes_) {
    is_cut = !home_.send(*this, opcode::remove, delete_body(path_ + '/' + name_), now);
    return;
  }
  is_cut = !home_.send(*this, opcode::sync, path_body(path_), now);
  if (!is_cut) (void)home_.send(*this, opcode::get_children2, watched_path_body(path_, false), now);
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
