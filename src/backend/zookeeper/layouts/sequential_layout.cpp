// The side towards the claims.
#include "backend/zookeeper/layouts/sequential_layout.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/held_write.hpp"
#include "backend/zookeeper/layouts/lock_breaking.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using base::mutant;
using base::planted;

namespace {

class sequential_query final : public holders_query {
 public:
  template <class... Args>
  explicit sequential_query(const sequential_codec& c, Args&&... args)
      : holders_query(std::forward<Args>(args)...), codec_(c) {}

 private:
  void ask_about(const std::string& name, time_point now) override {
    ask_list(lock_path(chroot(), name), {.name = name}, now);
  }
  void read_list(question q, const node_children* all, time_point now) override {
    if (!all) return;
    const std::vector<queued_node> queue = codec_.queue_of(all->names);
    const auto holding = std::ranges::count_if(queue, &queued_node::holds);
    q.found.waiting = static_cast<int>(std::ssize(queue) - holding);
    for (const queued_node& n : queue) {
      if (!n.holds) continue;
      holder h = q.found;
      h.owner = n.name;
      h.mode = n.mode;
      std::string path = q.path + '/' + h.owner;
      ask_node(std::move(path), std::move(h), now);
    }
  }

  const sequential_codec& codec_;
};

}  // namespace

sequential_layout::sequential_layout(base::environment& env, const settings& s,
                                     std::unique_ptr<const sequential_codec> c)
    : claims_layout(env, s), codec_(std::move(c)) {}

void sequential_layout::start_holders_query(std::string_view name, query_scope scope,
                                            seam::holders_handler& to) {
  (new sequential_query(*codec_, queries(), options().chroot, name, scope, to))->start();
}

void sequential_layout::break_lock(std::string_view name, std::string_view seen,
                                   seam::decision_handler& to) {
  const auto node_of_holder = [this, owner = std::string(seen)](node_names all) {
    std::vector<std::string> out;
    for (const queued_node& n : codec_->queue_of(all))
      if (n.holds && n.name == owner) out.emplace_back(n.name);
    return out;
  };
  start_breaking(queries(), lock_path(options().chroot, name), node_of_holder,
                 options().revocation_timeout, to);
}

void sequential_layout::write(const held_write& w, version_handler& to) {
  std::string node = lock_path(options().chroot, w.lock).append("/").append(w.owner);
  start_held_write(queries(), {std::move(node)}, w, to);
}

void sequential_layout::renew_owner(sequential_claim& c) {
  c.attempt = base::random_uuid(env());
  c.sequence.reset();
  c.ahead.reset();
  c.mode = c.details.mode;
  c.czxid = 0;
  c.makes_parent = c.is_downgrading = false;
}

void sequential_layout::after_step(sequential_claim& c, time_point now) noexcept {
  if (!c.recipe().waits()) c.ahead.reset();
  claims_layout::after_step(c, now);
}

std::string sequential_layout::node_name(const sequential_claim& c, lock_mode mode) const {
  if (!c.sequence) return {};
  return codec_->name_of(c.attempt, mode).append(text_of_sequence(*c.sequence));
}

void sequential_layout::withdraw_orphan(sequential_claim& c, time_point now, event_queue&) {
  if (!c.attempt) return;
  orphan_nodes& all = orphans();
  if (!c.sequence)
    return all.add(removed_by::beginning, c.path, codec_->name_of(c.attempt, c.mode), now);
  all.add(removed_by::name, c.path, node_name(c), now);
  if (c.is_downgrading) all.add(removed_by::name, c.path, node_name(c, lock_mode::shared), now);
}

void sequential_layout::on_claims_watch(const watch_event& e, time_point now, event_queue& events) {
  if (e.kind == event_kind::children)
    return for_each_at(e.path, [&](sequential_claim& c) {
      c.on([](sequential_recipe& r) { return r.on_children(); }, now, events);
    });
  const std::size_t end = e.path.rfind('/');
  if (end == std::string_view::npos) return;
  const std::string_view node = e.path.substr(end + 1);
  const bool has_ended = e.kind == event_kind::deleted;
  const session_deadline& by = over().of_session().deadline();
  for_each_at(e.path.substr(0, end), [&](sequential_claim& c) {
    if (c.ahead && c.ahead->on_event(node, has_ended, c.czxid)) {
      const what_is_ahead left = c.ahead->now();
      c.on([&](sequential_recipe&
                   r) { return r.on_ahead(left, by.deadline(), by.timeout(), now, rules()); },
           now, events);
    } else if (node_name(c) == node) {
      c.on([&](sequential_recipe& r) { return r.on_own_node(has_ended, now, rules()); }, now,
           events);
    }
  });
}

using operation = sequential_operation;

std::optional<sequential_reply> sequential_layout::submit(sequential_claim& c, operation op,
                                                          time_point now, event_queue&) {
  if (auto answer = answer_after_end(c, op)) return answer;
  sequential_batch& f = take_batch();
  f.begin(c, op);
  switch (op) {
    case operation::create:
      send_create(c, f, now);
      send(f, opcode::exists, watched_path_body(c.path, false), now);
      break;
    case operation::join:
      send_create(c, f, now);
      send_list(c, f, now, false);
      break;
    case operation::list: send_list(c, f, now, false); break;
    case operation::find: send_list(c, f, now, true); break;
    case operation::watch:
      c.ahead->ask_of_each(
          [&](const std::string& name) { send_watch(f, c.path + '/' + name, now); });
      send_watch(f, node_path(c), now);
      break;
    case operation::watch_own: send_watch(f, node_path(c), now); break;
    case operation::check_waiters:
      send(f, opcode::get_children2, watched_path_body(c.path, true), now, c.path);
      break;
    case operation::remove:
      if (!c.sequence) {
        send_list(c, f, now, true);
      } else {
        send(f, opcode::remove, delete_body(c.path + '/' + f.removed_node()), now);
        if (c.is_downgrading)
          send(f, opcode::remove, delete_body(c.path + '/' + node_name(c, lock_mode::shared)), now);
      }
      break;
    case operation::downgrade: send_downgrade(c, f, now); break;
    case operation::none: break;
  }
  return {};
}

// Both or none: others never see the lock without a node of this claim. Nobody asks for the lock
// unheard meanwhile: what is written into the next node before it is watched is read with it.
void sequential_layout::send_downgrade(sequential_claim& c, sequential_batch& f, time_point now) {
  const std::string next = planted(mutant::downgrade_loses_the_place)
                               ? codec_->name_of(c.attempt, lock_mode::shared)
                               : node_name(c, lock_mode::shared);
  c.is_downgrading = true;
  std::string body;
  multi_writer w(body);
  w.create(c.path + '/' + next, data_of(c),
           planted(mutant::downgrade_loses_the_place) ? node_kind::ephemeral_sequential
                                                      : node_kind::ephemeral,
           acl_of::anyone);
  w.remove(node_path(c), any_version);
  w.end();
  send(f, opcode::multi, std::move(body), now);
  send_watch(f, c.path + '/' + next, now);
}

void sequential_layout::send_create(const sequential_claim& c, sequential_batch& f,
                                    time_point now) {
  if (c.makes_parent) send_parent(f, c.path, codec_->parent(), now);
  std::string own;
  append_create(own, c.path + '/' + codec_->name_of(c.attempt, c.mode), data_of(c),
                node_kind::ephemeral_sequential, acl_of::anyone);
  send(f, opcode::create2, std::move(own), now);
}

void sequential_layout::send_list(const sequential_claim& c, sequential_batch& f, time_point now,
                                  bool is_synced) {
  if (is_synced) send(f, opcode::sync, path_body(c.path), now);
  send(f, opcode::get_children2, watched_path_body(c.path, false), now);
}

using verdict = sequential_reply::verdict;
using operation = sequential_operation;

namespace {

std::string_view node_starting(std::string_view begin, node_names all) {
  const auto found = std::ranges::find_if(all, [&](auto name) { return name.starts_with(begin); });
  return found == all.end() ? std::string_view() : *found;
}

}  // namespace

void sequential_batch::on_begin(const sequential_claim& c) {
  node_ = op() == operation::remove ? home_.node_name(c) : std::string();
  asks_own_ = was_there_ = false;
}

void sequential_batch::read(unsigned at, const reply& r, const reply_context& context) {
  switch (op()) {
    case operation::create: return read_create(r);
    case operation::join: return awaited() == 0 ? read_list(r, context) : read_create(r);
    case operation::list:
    case operation::find: return read_list(r, context);
    case operation::watch: return awaited() == 0 ? read_watch_own(r) : read_watch_ahead(at, r);
    case operation::watch_own: return read_watch_own(r);
    case operation::check_waiters: return read_peek(r);
    case operation::remove: return read_remove(r, context);
    case operation::downgrade: return at == 0 ? read_downgrade(r) : read_watch_own(r);
    case operation::none: return;
  }
}

// [the parent,] the own node, exists of the parent. A join has a list in place of the last.
void sequential_batch::read_create(const reply& r) {
  sequential_claim* const c = owner();
  if (awaited() == 2) {
    if (!r.is_ok() && !r.is(error::node_exists)) fail_to_create(r);
    return;
  }
  if (awaited() == 0) {
    const auto parent = r.is_ok() ? read_stat(r.body) : std::nullopt;
    const bool is_alone = parent && parent->children == 1 && parent->pzxid == result.number;
    result.what = is_alone ? verdict::granted : verdict::created;
    return;
  }
  if (r.is(error::no_node)) {  // or not any more: the server removes a parent that is empty
    if (c) c->makes_parent = true;
    return conclude(verdict::no_parent);
  }
  if (!r.is_ok()) return fail(r);
  const auto made = read_created(r.body);
  if (!made) return fail_malformed();
  take_number(planted(mutant::number_of_another_node) ? 1 : r.head.zxid);
  if (!c) return;
  c->sequence = read_sequence(last_part(made->path), home_.codec().name_of(attempt_, c->mode));
  if (!is_in_order(c->sequence)) fail_exhausted();
}

void sequential_batch::read_list(const reply& r, const reply_context& context) {
  if (op() == operation::find && answered() == 1 && awaited() > 0) {  // sync
    if (!r.is_ok()) fail(r);
    return;
  }
  if (asks_own_) return read_own(r);
  if (!finds(r)) return;
  const auto all = read_children(r.body);
  if (!all) return fail_malformed();
  sequential_claim* const c = owner();
  if (!c) return;
  if (!c->sequence) {
    const std::string begin = home_.codec().name_of(attempt_, c->mode);
    const std::string_view found = node_starting(begin, all->names);
    c->sequence = read_sequence(found, begin);
    if (!found.empty() && !is_in_order(c->sequence)) return fail_exhausted();
  }
  const std::string own = home_.node_name(*c);
  const node_place mine =
      own.empty() ? node_place() : home_.codec().place_of(own, c->mode, all->names);
  if (mine.is_other_kind)
    return fail(errc::mismatch,
                "other clients use the name for another kind of lock: a mutex and a shared_mutex "
                "do not exclude each other in this layout; give each its own names");
  if (mine.has_wrapped) return fail_exhausted();
  result.others_wait = mine.others_behind;
  result.what = !mine.is_there    ? verdict::gone
                : mine.is_first() ? verdict::granted
                                  : verdict::behind;
  if (result.what == verdict::behind) {
    if (!c->ahead) c->ahead = std::make_unique<nodes_ahead>();
    c->ahead->show(mine.ahead, mine.are_all);
    result.is_watched = c->ahead->are_watched();
  }
  if (!mine.is_there || c->czxid != 0) return;
  // Its create was never answered: its number is not known yet.
  const std::string path = c->path + '/' + own;
  asks_own_ = home_.send(*this, opcode::exists, watched_path_body(path, false), context.now);
}

// Finds a create that was never answered: its number, and whether this session made it.
void sequential_batch::read_own(const reply& r) {
  if (!finds(r)) return;
  const auto stat = read_stat(r.body);
  if (!stat) return fail_malformed();
  const bool is_adopted = planted(mutant::node_of_another_session_adopted);
  if (stat->ephemeral_owner != home_.over().of_session().id() && !is_adopted) {
    result.what = verdict::gone;
    return;
  }
  take_number(stat->czxid);
}

void sequential_batch::read_watch_ahead(unsigned at, const reply& r) {
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  sequential_claim* const c = owner();
  if (!c || !c->ahead) return;
  if (!r.is_ok()) return c->ahead->on_missing(at);
  const auto node = read_data(r.body);
  if (!node) return fail_malformed();
  c->ahead->on_watched(at, node->stat.czxid);
}

// Alone, behind those ahead or behind a downgrade.
void sequential_batch::read_watch_own(const reply& r) {
  if (!finds(r)) return;
  const auto node = read_data(r.body);
  if (!node) return fail_malformed();
  if (!planted(mutant::revocation_unread)) result.is_revoked = node->data == revocation_data;
  result.what = verdict::watched;
  const sequential_claim* const c = owner();
  if (op() == operation::watch && c && c->ahead) result.ahead = c->ahead->now();
}

void sequential_batch::read_peek(const reply& r) {
  if (!r.is_ok()) return;
  const auto all = read_children(r.body);
  const sequential_claim* const c = owner();
  if (!all || !c) return;
  result.what = verdict::watched;
  result.others_wait =
      home_.codec().place_of(home_.node_name(*c), c->mode, all->names).others_behind;
}

// The deletions; or, of a node whose name is not known: sync, list, and then the deletion.
void sequential_batch::read_remove(const reply& r, const reply_context& context) {
  if (!node_.empty()) {
    if (r.is_ok()) {
      was_there_ = true;
    } else if (!r.is(error::no_node)) {
      return fail(r);
    }
    result.what = was_there_ ? verdict::done : verdict::gone;
    return;
  }
  if (awaited() > 0) return;  // sync
  if (!finds(r)) return;
  const auto all = read_children(r.body);
  const sequential_claim* const c = owner();
  if (!all || !c) return;
  node_ = node_starting(home_.codec().name_of(attempt_, c->mode), all->names);
  if (node_.empty()) {
    result.what = verdict::gone;
    return;
  }
  (void)home_.send(*this, opcode::remove, delete_body(c->path + '/' + node_), context.now);
}

void sequential_batch::read_downgrade(const reply& r) {
  if (!r.is_ok()) return fail(r);
  const auto done = read_multi(r.body);
  if (!done) return fail_malformed();
  sequential_claim* const c = owner();
  if (!c) return;
  const bool was_done = done->code == error::node_exists;  // by one whose reply was lost
  c->is_downgrading = false;
  if (done->code == error::ok || was_done) {
    c->mode = lock_mode::shared;
    return;
  }
  if (done->code != error::no_node) return fail(errc_of(done->code), explain(done->code, c->path));
  conclude(verdict::gone);
}

}  // namespace holdfast::zookeeper
