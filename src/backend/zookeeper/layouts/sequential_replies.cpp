// What the replies to a claim's requests mean.
#include <algorithm>
#include <utility>

#include "backend/zookeeper/layouts/error_text.hpp"
#include "backend/zookeeper/layouts/request_bodies.hpp"
#include "backend/zookeeper/layouts/sequential_layout.hpp"

namespace holdfast::zookeeper {

using verdict = sequential_reply::verdict;
using operation = sequential_operation;

namespace {

constexpr std::int64_t number_max = (1ll << 53) - 1;

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view node_starting(std::string_view begin, node_names all) {
  const auto found = std::ranges::find_if(all, [&](auto name) { return name.starts_with(begin); });
  return found == all.end() ? std::string_view() : *found;
}

}  // namespace

void flight::begin(const sequential_claim& c, operation what) {
  whose_ = c.place;
  what_ = what;
  attempt_ = c.attempt;
  node_ = c.node;
  result_ = {};
  result_.to = what;
  result_.what = verdict::done;
  result_.epoch = c.recipe().epoch();
  result_.number = c.czxid;
  text_.clear();
  awaited_ = answered_ = 0;
  czxid_ = c.czxid;
  is_certain_ = asks_own_ = was_there_ = false;
}

void flight::on_cut(bool, const reply_context& context) {
  if (--awaited_ == 0) home_.on_flight_cut(*this, context);
}

void flight::on_reply(const reply& r, const reply_context& context) {
  const unsigned at = answered_++;
  --awaited_;
  if (!is_certain_) {
    switch (what_) {
      case operation::create: read_create(at, r); break;
      case operation::list:
      case operation::find: read_list(r, context); break;
      case operation::watch:
      case operation::watch_own: read_watch(at, r); break;
      case operation::peek_line: read_peek(r); break;
      case operation::remove: read_remove(r, context); break;
      case operation::downgrade: read_downgrade(r); break;
      case operation::none: break;
    }
  }
  if (awaited_ == 0) home_.on_flight_end(*this, context);
}

void flight::fail(errc why, std::string text) {
  result_.what = verdict::failed;
  result_.why = why;
  text_ = std::move(text);
  is_certain_ = true;
}

void flight::fail(const reply& r) {
  const sequential_claim* const c = home_.claim_of(*this);
  fail(errc_of(r.head.code), explain(r.head.code, c ? c->path : std::string()));
}

// [the parent,] the own node, exists of the parent.
void flight::read_create(unsigned at, const reply& r) {
  sequential_claim* const c = home_.claim_of(*this);
  const bool is_mine = c && c->attempt == attempt_;
  const unsigned left = awaited_;  // behind this one
  if (left == 2) {
    if (!r.is_ok() && !r.is(error::node_exists)) fail(r);
    return;
  }
  if (left == 0) {
    const auto parent = r.is_ok() ? read_stat(r.body) : std::nullopt;
    const bool is_alone = parent && parent->children == 1 && parent->pzxid == czxid_;
    result_.what = is_alone ? verdict::granted : verdict::created;
    return;
  }
  if (r.is(error::no_node) && at == 0) {
    if (is_mine) c->makes_parent = true;
    result_.what = verdict::no_parent;
    is_certain_ = true;
    return;
  }
  if (!r.is_ok()) return fail(r);
  const auto made = read_created(r.body);
  if (!made) return fail(errc::unavailable, std::string(malformed_reply));
  czxid_ = result_.number = r.head.zxid;
  if (is_mine) {
    c->node = last_part(made->path);
    c->czxid = czxid_;
  }
  if (czxid_ > number_max) return fail(errc::exhausted, std::string(epochs_exhausted));
  if (is_mine && czxid_ < c->last_czxid) return fail(errc::refused, std::string(went_back));
  if (is_mine) c->last_czxid = czxid_;
}

void flight::read_list(const reply& r, const reply_context& context) {
  if (what_ == operation::find && answered_ == 1 && awaited_ > 0) {  // sync
    if (!r.is_ok()) fail(r);
    return;
  }
  if (asks_own_) return read_own(r);
  if (r.is(error::no_node)) {
    result_.what = verdict::gone;
    return;
  }
  if (!r.is_ok()) return fail(r);
  const auto all = read_children(r.body);
  if (!all) return fail(errc::unavailable, std::string(malformed_reply));
  sequential_claim* const c = home_.claim_of(*this);
  if (!c || c->attempt != attempt_) return;
  const lock_mode mode = c->details.mode;
  if (c->node.empty()) c->node = node_starting(home_.codec().name_of(attempt_, mode), all->names);
  const place_in_line mine =
      c->node.empty() ? place_in_line() : home_.codec().place_of(c->node, mode, all->names);
  result_.others_wait = mine.others_behind;
  result_.is_next = mine.is_next;
  c->blocker = mine.blocker;
  c->blocker_czxid = 0;
  result_.what = !mine.is_there         ? verdict::gone
                 : mine.blocker.empty() ? verdict::granted
                                        : verdict::behind;
  if (!mine.is_there || c->czxid != 0) return;
  // Its create was never answered: its number is not known yet.
  const std::string path = c->path + '/' + c->node;
  asks_own_ = home_.send(*this, opcode::exists, watched_path_body(path, false), context.now);
  if (asks_own_) ++awaited_;
}

// Of a create that was never answered: its number, and whether this session made it.
void flight::read_own(const reply& r) {
  if (r.is(error::no_node)) {
    result_.what = verdict::gone;
    return;
  }
  if (!r.is_ok()) return fail(r);
  const auto stat = read_stat(r.body);
  if (!stat) return fail(errc::unavailable, std::string(malformed_reply));
  if (stat->ephemeral_owner != home_.over().of_session().id()) {
    result_.what = verdict::gone;
    return;
  }
  result_.number = stat->czxid;
  sequential_claim* const c = home_.claim_of(*this);
  if (!c || c->attempt != attempt_) return;
  c->czxid = c->last_czxid = stat->czxid;
  if (stat->czxid > number_max) fail(errc::exhausted, std::string(epochs_exhausted));
}

// The blocker, then the own node; or the own node alone.
void flight::read_watch(unsigned at, const reply& r) {
  if (r.is(error::no_node)) {
    result_.what = verdict::gone;
    return;
  }
  if (!r.is_ok()) return fail(r);
  const auto node = read_data(r.body);
  if (!node) return fail(errc::unavailable, std::string(malformed_reply));
  sequential_claim* const c = home_.claim_of(*this);
  const bool is_blocker = what_ == operation::watch && at == 0;
  if (is_blocker && c && c->attempt == attempt_) c->blocker_czxid = node->stat.czxid;
  if (result_.what != verdict::gone) result_.what = verdict::watched;
}

void flight::read_peek(const reply& r) {
  if (!r.is_ok()) return;
  const auto all = read_children(r.body);
  const sequential_claim* const c = home_.claim_of(*this);
  if (!all || !c || c->attempt != attempt_) return;
  result_.what = verdict::watched;
  result_.others_wait = home_.codec().place_of(c->node, c->details.mode, all->names).others_behind;
}

// The deletions; or, of a node whose name is not known: sync, list, and then the deletion.
void flight::read_remove(const reply& r, const reply_context& context) {
  if (!node_.empty()) {
    if (r.is_ok()) {
      was_there_ = true;
    } else if (!r.is(error::no_node)) {
      return fail(r);
    }
    result_.what = was_there_ ? verdict::done : verdict::gone;
    return;
  }
  if (awaited_ > 0) return;  // sync
  if (r.is(error::no_node)) {
    result_.what = verdict::gone;
    return;
  }
  if (!r.is_ok()) return fail(r);
  const auto all = read_children(r.body);
  const sequential_claim* const c = home_.claim_of(*this);
  if (!all || !c) return;
  node_ = node_starting(home_.codec().name_of(attempt_, c->details.mode), all->names);
  if (node_.empty()) {
    result_.what = verdict::gone;
    return;
  }
  const std::string path = c->path + '/' + node_;
  if (home_.send(*this, opcode::remove, delete_body(path), context.now)) ++awaited_;
}

void flight::read_downgrade(const reply& r) {
  if (!r.is_ok()) return fail(r);
  const auto done = read_multi(r.body);
  if (!done) return fail(errc::unavailable, std::string(malformed_reply));
  sequential_claim* const c = home_.claim_of(*this);
  if (!c || c->attempt != attempt_) return;
  const bool was_done = done->code == error::node_exists;  // by one whose reply was lost
  if (done->code == error::ok || was_done) {
    c->node = std::exchange(c->next_node, {});
    if (!done->created.empty()) c->node = last_part(done->created.front());
    return;
  }
  c->next_node.clear();
  if (done->code != error::no_node) return fail(errc_of(done->code), explain(done->code, c->path));
  result_.what = verdict::gone;
}

}  // namespace holdfast::zookeeper
