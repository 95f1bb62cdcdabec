// The side towards the claims.
#include "backend/zookeeper/layouts/curator_semaphore/layout.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "backend/zookeeper/layouts/curator_semaphore/queries.hpp"
#include "backend/zookeeper/layouts/held_write.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper::curator_semaphore {

using base::mutant;
using base::planted;

namespace {

constexpr std::uint32_t permits_max = 1000;
constexpr std::size_t leases_bytes_max = 1'000'000;  // by an estimate
static_assert(leases_bytes_max < request_bytes_max);
constexpr std::size_t bytes_beside_texts = 64;  // of one create: its head, lengths, ACL and flags

}  // namespace

void layout::start_holders_query(std::string_view name, query_scope scope,
                                 seam::holders_handler& to) {
  curator_semaphore::start_holders_query(queries(), options().chroot, name, scope, to);
}

void layout::break_lock(std::string_view name, std::string_view seen, seam::decision_handler& to) {
  start_breaking(queries(), lock_path(options().chroot, name), seen, options().revocation_timeout,
                 to);
}

void layout::write(const held_write& w, version_handler& to) {
  std::vector<std::string> nodes;
  {
    const std::lock_guard guard(mutex());
    for_each_at(lock_path(options().chroot, w.lock), [&](const claim& c) {
      if (!c.attempt || owner_text(c.attempt) != w.owner) return;
      for (const std::string& name : c.leases)
        nodes.push_back(folder_of(c, lease_folder) + '/' + name);
    });
  }
  if (nodes.empty())
    return to.on_failed({errc::lost, "the lease was lost, and nothing was written"});
  start_held_write(queries(), nodes, w, to);
}

// All leases of a claim are made in one transaction.
errc layout::refuses(const claim& c, claims::verb v) const {
  if (v != claims::verb::acquire) return {};
  const std::size_t name = folder_of(c, lease_folder).size() + lease_name(c.attempt).size();
  const std::size_t bytes = c.details.permits * (name + data_of(c).size() + bytes_beside_texts);
  const bool fits = c.details.permits <= permits_max && bytes <= leases_bytes_max;
  return fits ? errc{} : errc::unsupported;
}

std::string layout::reason(const claim& c, errc why) const {
  if (why == errc::unsupported)
    return "one acquire can have at most " + std::to_string(permits_max) +
           " permits in this layout, fewer where the lock's name or the note is long";
  if (why == errc::mismatch && c.other_total != 0)
    return "the semaphore is in use with " + std::to_string(c.other_total) + " permits, not " +
           std::to_string(c.details.total) + ": use another name for one of them";
  return claims_layout::reason(c, why);
}

void layout::renew_owner(claim& c) {
  c.attempt = with_total(base::random_uuid(env()), c.details.total);
  c.leases.clear();
  c.queue_node.clear();
  c.blocker.clear();
  c.czxid = 0;
  c.other_total = 0;
  c.is_unanswered = c.makes_parents = c.others_behind = false;
}

void layout::withdraw_orphan(claim& c, time_point now, event_queue&) {
  if (!c.attempt) return;
  orphan_nodes& all = orphans();
  const std::string leases = folder_of(c, lease_folder), queue = folder_of(c, queue_folder);
  if (c.is_unanswered) {
    all.add(removed_by::beginning, leases, lease_name(c.attempt), now);
    all.add(removed_by::beginning, queue, queue_name(c.attempt), now);
    return;
  }
  for (const std::string& name : c.leases) all.add(removed_by::name, leases, name, now);
  if (!c.queue_node.empty()) all.add(removed_by::name, queue, c.queue_node, now);
}

void layout::leave_queue(claim& c, time_point now) {
  if (c.queue_node.empty()) return;
  orphans().add(removed_by::name, folder_of(c, queue_folder), std::exchange(c.queue_node, {}), now);
}

// A watch on a folder or on a node in it; the removal of a folder is an event of its watchers.
void layout::on_claims_watch(const watch_event& e, time_point now, event_queue& events) {
  const std::size_t end = e.path.rfind('/');
  if (end == std::string_view::npos) return;
  const std::string_view lock = e.path.substr(0, end), folder = e.path.substr(end + 1);
  if (folder == lease_folder) {
    for_each_at(lock, [&](claim& c) {
      c.on([&](permit_recipe& r) { return r.on_leases(rules()); }, now, events);
    });
  } else if (folder == queue_folder) {
    for_each_at(lock, [&](claim& c) {
      c.on([](permit_recipe& r) { return r.on_queue(); }, now, events);
    });
  } else {
    on_node_watch(e.path, e.kind == event_kind::deleted, now, events);
  }
}

void layout::on_node_watch(std::string_view path, bool has_ended, time_point now,
                           event_queue& events) {
  const std::string_view node = last_part(path);
  const std::string_view folder = path.substr(0, path.size() - node.size() - 1);
  for_each_at(folder.substr(0, folder.rfind('/')), [&](claim& c) {
    if (last_part(folder) == queue_folder && c.blocker == node) {
      c.on([&](permit_recipe& r) { return r.on_blocker(rules()); }, now, events);
    } else if (std::ranges::find(c.leases, node) != c.leases.end()) {
      c.on([&](permit_recipe& r) { return r.on_own_lease(has_ended); }, now, events);
    }
  });
}

using operation = permit_operation;
using verdict = permit_verdict;

std::optional<permit_recipe::reply> layout::submit(claim& c, operation op, time_point now,
                                                   base::event_queue&) {
  if (auto answer = answer_after_end(c, op)) return answer;
  if (op == operation::leave_queue) {
    leave_queue(c, now);
    return {};
  }
  batch& f = take_batch();
  f.begin(c, op);
  switch (op) {
    case operation::take:
      make_leases(f, c, now);
      list_leases(f, c, now, false, false);
      ask(f, part::look_at_queue, opcode::exists,
          watched_path_body(folder_of(c, queue_folder), false), now);
      break;
    case operation::lease:
      make_leases(f, c, now);
      list_leases(f, c, now, false, true);
      break;
    case operation::count: list_leases(f, c, now, false, true); break;
    case operation::recount: list_leases(f, c, now, true, true); break;
    case operation::join: enter_queue(f, c, now); break;
    case operation::find:
      ask(f, part::sync, opcode::sync, path_body(folder_of(c, queue_folder)), now);
      list_queue(f, c, now);
      break;
    case operation::look: list_queue(f, c, now); break;
    case operation::watch_own:
      for (const std::string& name : c.leases)
        watch(f, part::watch_lease, folder_of(c, lease_folder) + '/' + name, now);
      break;
    case operation::check_waiters: check_waiters(f, c, now); break;
    case operation::remove:
      if (!remove_all(f, c, now)) return answer_at_once(f, verdict::gone);
      break;
    case operation::leave_queue:
    case operation::none: break;
  }
  return {};
}

void layout::ask(batch& f, part p, opcode op, std::string body, time_point now,
                 std::string watched) {
  if (send(f, op, std::move(body), now, std::move(watched))) f.add(p);
}

// Only what is needed: a container that was never used stays forever.
void layout::make_parents(batch& f, const claim& c, const std::string& folder, time_point now) {
  for (const std::string& path : {c.path, folder}) {
    f.add(part::parent);
    send_parent(f, path, node_kind::container, now);
  }
}

// One transaction: all the leases, or none.
void layout::make_leases(batch& f, claim& c, time_point now) {
  const std::string folder = folder_of(c, lease_folder);
  if (c.makes_parents) make_parents(f, c, folder, now);
  c.is_unanswered = true;
  const std::string path = folder + '/' + lease_name(c.attempt);
  const std::string data = data_of(c);
  std::string body;
  if (c.details.permits == 1) {
    append_create(body, path, data, node_kind::ephemeral_sequential, acl_of::anyone);
    return ask(f, part::make_leases, opcode::create2, std::move(body), now);
  }
  multi_writer w(body);
  for (std::uint32_t i = 0; i < c.details.permits; ++i)
    w.create(path, data, node_kind::ephemeral_sequential, acl_of::anyone);
  w.end();
  ask(f, part::make_leases, opcode::multi, std::move(body), now);
}

void layout::list_leases(batch& f, const claim& c, time_point now, bool is_synced, bool watches) {
  const std::string path = folder_of(c, lease_folder);
  if (is_synced) ask(f, part::sync, opcode::sync, path_body(path), now);
  ask(f, part::list_leases, opcode::get_children2, watched_path_body(path, watches), now,
      watches ? path : std::string());
}

void layout::enter_queue(batch& f, claim& c, time_point now) {
  const std::string folder = folder_of(c, queue_folder);
  if (c.makes_parents) make_parents(f, c, folder, now);
  c.is_unanswered = true;
  std::string body;
  append_create(body, folder + '/' + queue_name(c.attempt), data_of(c),
                node_kind::ephemeral_sequential, acl_of::anyone);
  ask(f, part::enter_queue, opcode::create2, std::move(body), now);
  list_queue(f, c, now);
}

void layout::list_queue(batch& f, const claim& c, time_point now) {
  ask(f, part::list_queue, opcode::get_children2,
      watched_path_body(folder_of(c, queue_folder), false), now);
}

void layout::check_waiters(batch& f, const claim& c, time_point now) {
  const std::string path = folder_of(c, queue_folder);
  ask(f, part::check_waiters, opcode::get_children2, watched_path_body(path, true), now, path);
}

// While no client has ever queued, or the folder was removed since: its creation is an event.
void layout::await_queue(batch& f, const claim& c, time_point now) {
  const std::string path = folder_of(c, queue_folder);
  ask(f, part::await_queue, opcode::exists, watched_path_body(path, true), now, path);
}

void layout::watch(batch& f, part p, const std::string& path, time_point now) {
  f.add(p);
  send_watch(f, path, now);
}

void layout::remove_node(batch& f, const std::string& path, time_point now) {
  ask(f, part::remove, opcode::remove, delete_body(path), now);
}

// False: there is nothing.
bool layout::remove_all(batch& f, const claim& c, time_point now) {
  const std::string leases = folder_of(c, lease_folder), queue = folder_of(c, queue_folder);
  if (c.is_unanswered) {
    ask(f, part::sync, opcode::sync, path_body(c.path), now);
    ask(f, part::find_leases, opcode::get_children2, watched_path_body(leases, false), now);
    ask(f, part::find_queue, opcode::get_children2, watched_path_body(queue, false), now);
    return true;
  }
  for (const std::string& name : c.leases) {
    std::string path = leases;
    remove_node(f, path.append("/").append(name), now);
  }
  if (!c.queue_node.empty()) remove_node(f, queue + '/' + c.queue_node, now);
  return !c.leases.empty() || !c.queue_node.empty();
}

using verdict = permit_verdict;

void batch::on_begin(const claim& c) {
  parts_.clear();
  was_there_ = false;
  result.is_there = c.is_unanswered || !c.leases.empty() || !c.queue_node.empty();
}

void batch::read(unsigned at, const reply& r, const reply_context& context) {
  switch (parts_.at(at)) {
    case part::parent: return read_parent(at, r);
    case part::sync:
      if (!r.is_ok() && !r.is(error::no_node)) fail(r);
      return;
    case part::make_leases:
    case part::enter_queue: return read_made(r);
    case part::list_leases: return read_leases(r, context);
    case part::own_lease: return read_own_lease(r);
    case part::look_at_queue: return read_look(r);
    case part::list_queue: return read_queue(r, context);
    case part::watch_blocker: return read_blocker(r, context);
    case part::watch_lease: return read_watched(r);
    case part::check_waiters: return read_peek(r, context);
    case part::await_queue:
      if (const claim* const c = owner(); c && r.is_ok())
        return home_.check_waiters(*this, *c, context.now);
      return;
    case part::find_leases: return read_found(r, lease_folder, lease_name(attempt_), context);
    case part::find_queue: return read_found(r, queue_folder, queue_name(attempt_), context);
    case part::remove: return read_removed(r);
  }
}

// The first one is the lock's, below the chroot. The server removes what is empty, so that may be
// gone again before its folder is made: the create in that folder tells.
void batch::read_parent(unsigned at, const reply& r) {
  const bool is_gone_again = at > 0 && r.is(error::no_node);
  if (r.is_ok() || r.is(error::node_exists) || is_gone_again) return;
  const claim* const c = owner();
  if (!c) return fail(r);
  const bool is_of_queue = op() == permit_operation::join;
  fail_to_create(r, at == 0 ? c->path : folder_of(*c, is_of_queue ? queue_folder : lease_folder));
}

// One create, or the creates of a transaction, whose header says `ok` in any case.
void batch::read_made(const reply& r) {
  claim* const c = owner();
  if (c) c->is_unanswered = false;
  const bool is_of_queue = op() == permit_operation::join;
  const bool is_multi = r.is_ok() && c && !is_of_queue && c->details.permits > 1;
  const auto all = is_multi ? read_multi(r.body) : std::nullopt;
  const error code = all ? all->code : r.head.code;
  if (code == error::no_node) {
    if (c) c->makes_parents = true;
    return conclude(verdict::no_parent);
  }
  if (code != error::ok) return fail(errc_of(code), explain(code, c ? c->path : std::string()));
  result.is_there = true;
  const auto one = is_multi ? std::nullopt : read_created(r.body);
  if (!all && !one) {
    if (c) c->is_unanswered = true;
    return fail_malformed();
  }
  if (!c) return;
  if (is_of_queue) {
    c->queue_node = last_part(one->path);
    if (!is_in_order(read_sequence(c->queue_node, queue_name(attempt_)))) fail_exhausted();
    return;
  }
  if (one) c->leases.emplace_back(last_part(one->path));
  if (all)
    for (const std::string_view path : all->created) c->leases.emplace_back(last_part(path));
  take_number(r.head.zxid);
  if (!are_in_order(c->leases)) fail_exhausted();
}

bool batch::are_in_order(const std::vector<std::string>& leases) const {
  const std::string begin = lease_name(attempt_);
  return std::ranges::all_of(leases, [&](const std::string& name) {
    return is_in_order(read_sequence(name, begin));
  });
}

void batch::read_leases(const reply& r, const reply_context& context) {
  claim* const c = owner();
  if (!finds(r, verdict::none)) return;
  const auto all = read_children(r.body);
  if (!all) return fail_malformed();
  if (!c) return;
  own_leases mine = curator_semaphore::read_leases(all->names, attempt_, c->details.total);
  if (mine.other_total != 0) {
    c->other_total = mine.other_total;
    return fail(errc::mismatch, {});
  }
  const bool was_known = !c->leases.empty();
  result.others_wait = c->others_behind;
  result.what = mine.names.empty() && !was_known          ? verdict::none
                : mine.names.size() != c->details.permits ? verdict::gone
                : mine.hold                               ? verdict::granted
                                                          : verdict::full;
  if (was_known || mine.names.empty()) return;
  // Their create was never answered: their number is not known yet.
  c->leases = std::move(mine.names);
  c->is_unanswered = false;
  result.is_there = true;
  if (!are_in_order(c->leases)) return fail_exhausted();
  const std::string path = folder_of(*c, lease_folder) + '/' + c->leases.back();
  home_.ask(*this, part::own_lease, opcode::exists, watched_path_body(path, false), context.now);
}

void batch::read_own_lease(const reply& r) {
  const auto stat = r.is_ok() ? read_stat(r.body) : std::nullopt;
  if (stat && stat->ephemeral_owner == home_.over().of_session().id())
    return take_number(stat->czxid);
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  result.what = verdict::gone;
}

// Waiters come first.
void batch::read_look(const reply& r) {
  const auto queue = r.is_ok() ? read_stat(r.body) : std::nullopt;
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  if (queue && queue->children > 0 && result.what == verdict::granted) result.what = verdict::full;
}

void batch::read_queue(const reply& r, const reply_context& context) {
  claim* const c = owner();
  result.what = verdict::gone;
  if (!finds(r)) return;
  const auto all = read_children(r.body);
  if (!all) return fail_malformed();
  const place_in_queue mine = curator_semaphore::read_queue(all->names, attempt_);
  if (!c || !mine.is_there) return;
  c->queue_node = mine.own;
  c->blocker = mine.blocker;
  c->others_behind = mine.others_behind;
  c->is_unanswered = false;
  result.is_there = true;
  const bool has_place = is_in_order(read_sequence(c->queue_node, queue_name(attempt_)));
  if (!has_place || mine.has_wrapped) return fail_exhausted();
  result.what = mine.blocker.empty() ? verdict::first : verdict::behind;
  if (mine.blocker.empty()) return;
  home_.watch(*this, part::watch_blocker, folder_of(*c, queue_folder) + '/' + c->blocker,
              context.now);
}

void batch::read_blocker(const reply& r, const reply_context& context) {
  const claim* const c = owner();
  if (r.is(error::no_node) && c) return home_.list_queue(*this, *c, context.now);
  if (!r.is_ok()) fail(r);
}

void batch::read_watched(const reply& r) {
  if (r.is(error::no_node)) return conclude(verdict::gone);
  if (!r.is_ok()) return fail(r);
  const auto node = read_data(r.body);
  if (!node) return fail_malformed();
  result.what = verdict::watched;
  const bool is_asked = node->data == revocation_data && !planted(mutant::revocation_unread);
  result.is_revoked = result.is_revoked || is_asked;
}

void batch::read_peek(const reply& r, const reply_context& context) {
  const claim* const c = owner();
  if (r.is(error::no_node) && c) return home_.await_queue(*this, *c, context.now);
  const auto all = r.is_ok() ? read_children(r.body) : std::nullopt;
  if (!all) return;
  result.what = verdict::watched;
  result.others_wait = !all->names.empty();
}

void batch::read_found(const reply& r, std::string_view folder, const std::string& begin,
                       const reply_context& context) {
  const claim* const c = owner();
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  const auto all = r.is_ok() ? read_children(r.body) : std::nullopt;
  if (!was_there_) result.what = verdict::gone;
  if (!all || !c) return;
  for (const std::string_view name : all->names)
    if (name.starts_with(begin))
      home_.remove_node(*this, folder_of(*c, folder).append("/").append(name), context.now);
}

void batch::read_removed(const reply& r) {
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  was_there_ = was_there_ || r.is_ok();
  result.what = was_there_ ? verdict::done : verdict::gone;
}

}  // namespace holdfast::zookeeper::curator_semaphore
