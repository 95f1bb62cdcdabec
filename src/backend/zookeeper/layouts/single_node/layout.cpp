#include "backend/zookeeper/layouts/single_node/layout.hpp"

#include <utility>

#include "backend/zookeeper/layouts/single_node/data.hpp"

namespace holdfast::zookeeper::single_node {

using operation = single_node_operation;
using verdict = single_node_verdict;

namespace {

class node_holders_query final : public holders_query {
 public:
  using holders_query::holders_query;

 private:
  void ask_about(const std::string& name, time_point now) override {
    ask_node(lock_path(chroot(), name), {.name = name}, now);
  }
  void read_list(question, const node_children*, time_point) override {}
  bool read_holder(const node_data& node, holder& h) override {
    if (node.stat.ephemeral_owner == 0) return false;  // no lock of this layout
    content found = single_node::read(node);
    h.owner = std::move(found.owner);
    fill(h, node, std::move(found.who));
    return true;
  }
};

}  // namespace

void layout::start_holders_query(std::string_view name, query_scope scope,
                                 seam::holders_handler& to) {
  (new node_holders_query(queries(), options().chroot, name, scope, to))->start();
}

void layout::break_lock(std::string_view, std::string_view, seam::decision_handler& to) {
  to.on_failed(
      {errc::unsupported,
       "a node is deleted by its path, not by its owner: end its holder's session instead"});
}

void layout::renew_owner(claim& c) {
  c.attempt = base::random_uuid(env());
  c.czxid = 0;
}

void layout::withdraw_orphan(claim& c, time_point now, event_queue&) {
  if (!c.attempt) return;
  orphans().add(removed_by::content, c.path, base::text_of(c.attempt) + ' ', now);
}

void layout::on_claims_watch(const watch_event& e, time_point now, event_queue& events) {
  const bool has_ended = e.kind == event_kind::deleted;
  for_each_at(e.path, [&](claim& c) {
    c.on([&](single_node_recipe& r) { return r.on_node(has_ended, now, rules()); }, now, events);
  });
}

std::optional<single_node_recipe::reply> layout::submit(claim& c, operation op, time_point now,
                                                        event_queue&) {
  if (auto answer = answer_after_end(c, op)) return answer;
  batch& f = take_batch();
  f.begin(c, op);
  if (op == operation::create) {
    std::string body;
    append_create(body, c.path, text_of(c.attempt, data_of(c)), node_kind::ephemeral,
                  acl_of::anyone);
    send(f, opcode::create2, std::move(body), now);
    send_watch(f, c.path, now);
  } else if (op == operation::remove && f.deletes()) {
    send(f, opcode::remove, delete_body(c.path), now);
  } else {
    send(f, opcode::sync, path_body(c.path), now);
    op == operation::find ? send_watch(f, c.path, now)
                          : (void)send(f, opcode::get_data, watched_path_body(c.path, false), now);
  }
  return {};
}

// A node that was certainly held is deleted at once; otherwise it may be another's by now.
void batch::on_begin(const claim& c) {
  deletes_ = op() == operation::remove && c.recipe().is_first_removal();
}

void batch::read(unsigned at, const reply& r, const reply_context& context) {
  switch (op()) {
    case operation::create: return at == 0 ? read_create(r) : read_look(r);
    case operation::find: return at == 0 ? void() : read_look(r);
    case operation::remove: return read_remove(r, context);
    case operation::none: return;
  }
}

void batch::read_create(const reply& r) {
  if (r.is(error::node_exists)) return;
  if (!r.is_ok()) return fail_to_create(r);
  result.is_there = true;
  take_number(r.head.zxid);
}

// If the read fails, the created node still exists but is not watched.
void batch::read_look(const reply& r) {
  const claim* const c = owner();
  const auto node = r.is_ok() ? read_data(r.body) : std::nullopt;
  const std::int64_t session = home_.over().of_session().id();
  if (node && c && is_ours(*node, attempt_, session)) {
    if (c->czxid == 0) take_number(node->stat.czxid);
    if (result.what != verdict::failed) result.what = verdict::granted;
    return;
  }
  if (!finds(r)) return;
  if (!node) return fail_malformed();
  if (node->stat.ephemeral_owner == 0)
    return fail(errc::mismatch,
                "the node is not ephemeral: it is a lock of another layout, or none");
  result.what = verdict::busy;
}

// The deletion; or sync, a look, and the deletion where it is ours.
void batch::read_remove(const reply& r, const reply_context& context) {
  if (awaited() > 0) return;  // sync
  if (!finds(r)) return;
  if (deletes_) return;
  const auto node = read_data(r.body);
  if (!node) return fail_malformed();
  const claim* const c = owner();
  if (!c || !is_ours(*node, attempt_, home_.over().of_session().id())) {
    result.what = verdict::gone;
    return;
  }
  deletes_ = home_.send(*this, opcode::remove, delete_body(c->path), context.now);
}

}  // namespace holdfast::zookeeper::single_node
