// The side towards the server: what is sent for a claim. What its replies mean:
// sequential_replies.cpp.
#include <utility>

#include "backend/zookeeper/layouts/request_bodies.hpp"
#include "backend/zookeeper/layouts/sequential_layout.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using core::event_queue;
using core::mutant;
using core::planted;
using verdict = sequential_reply::verdict;
using operation = sequential_operation;

bool sequential_layout::send(reply_handler& to, opcode op, std::string body, time_point now,
                             std::string watched) {
  return over_->of_session().submit(to, op, std::move(body), now, std::move(watched));
}

flight& sequential_layout::take_flight() {
  if (spare_flights_.empty()) {
    flights_.push_back(std::make_unique<flight>(*this));
    return *flights_.back();
  }
  flight& out = *spare_flights_.back();
  spare_flights_.pop_back();
  return out;
}

std::optional<sequential_reply> sequential_layout::submit(sequential_claim& c, operation what,
                                                          time_point now, event_queue&) {
  if (ended_.code) {
    sequential_reply r;
    r.to = what;
    r.epoch = c.recipe().epoch();
    r.what = what == operation::remove ? verdict::done : verdict::failed;
    r.why = static_cast<errc>(ended_.code.value());
    return r;
  }
  flight& f = take_flight();
  f.begin(c, what);
  switch (what) {
    case operation::create: send_create(c, f, now); break;
    case operation::list: send_list(c, f, now, false); break;
    case operation::find: send_list(c, f, now, true); break;
    case operation::watch:
      send_watch(c, f, c.blocker, now);
      send_watch(c, f, c.node, now);
      break;
    case operation::watch_own: send_watch(c, f, c.node, now); break;
    case operation::peek_line:
      f.expect();
      (void)send(f, opcode::get_children2, watched_path_body(c.path, true), now, c.path);
      break;
    case operation::remove:
      if (c.node.empty()) {
        send_list(c, f, now, true);
      } else {
        send_remove(c, f, c.node, now);
        if (!c.next_node.empty()) send_remove(c, f, c.next_node, now);
      }
      break;
    case operation::downgrade: send_downgrade(c, f, now); break;
    case operation::none: break;
  }
  return {};
}

void sequential_layout::send_remove(sequential_claim& c, flight& f, const std::string& node,
                                    time_point now) {
  f.expect();
  (void)send(f, opcode::remove, delete_body(c.path + '/' + node), now);
}

// Both or none: others never see the lock without a node of this claim.
void sequential_layout::send_downgrade(sequential_claim& c, flight& f, time_point now) {
  const bool keeps_place = !planted(mutant::downgrade_loses_the_place);
  c.next_node = keeps_place ? codec_->shared_name_of(c.attempt, c.node)
                            : codec_->name_of(c.attempt, lock_mode::shared);
  std::string body;
  multi_writer w(body);
  w.create(c.path + '/' + c.next_node, data_of(c),
           keeps_place ? node_kind::ephemeral : node_kind::ephemeral_sequential, acl_of::anyone);
  w.remove(c.path + '/' + c.node, any_version);
  w.end();
  f.expect();
  (void)send(f, opcode::multi, std::move(body), now);
}

void sequential_layout::send_create(sequential_claim& c, flight& f, time_point now) {
  if (c.makes_parent) {
    const bool is_container = codec_->parent() == node_kind::container;
    std::string parent;
    append_create(parent, c.path, {}, codec_->parent(), acl_of::anyone);
    f.expect();
    (void)send(f, is_container ? opcode::create_container : opcode::create2, std::move(parent),
               now);
  }
  std::string own;
  append_create(own, c.path + '/' + codec_->name_of(c.attempt, c.details.mode), data_of(c),
                node_kind::ephemeral_sequential, acl_of::anyone);
  f.expect();
  (void)send(f, opcode::create2, std::move(own), now);
  f.expect();
  (void)send(f, opcode::exists, watched_path_body(c.path, false), now);
}

void sequential_layout::send_list(sequential_claim& c, flight& f, time_point now, bool is_synced) {
  if (is_synced) {
    f.expect();
    (void)send(f, opcode::sync, path_body(c.path), now);
  }
  f.expect();
  (void)send(f, opcode::get_children2, watched_path_body(c.path, false), now);
}

// getData, not exists: where the node is not there, no watch is left behind.
void sequential_layout::send_watch(const sequential_claim& c, flight& f, const std::string& node,
                                   time_point now) {
  const std::string path = c.path + '/' + node;
  f.expect();
  (void)send(f, opcode::get_data, watched_path_body(path, true), now, path);
}

sequential_claim* sequential_layout::claim_of(const flight& f) const noexcept {
  return claims_.at(f.whose_);
}

void sequential_layout::on_flight_end(flight& f, const reply_context& context) {
  sequential_claim* const c = claim_of(f);
  sequential_reply r = std::exchange(f.result_, {});
  std::string text = std::exchange(f.text_, {});
  spare_flights_.push_back(&f);
  if (!c) return;
  const session_deadline& by = over_->of_session().deadline();
  r.deadline = by.deadline();
  r.term = by.timeout();
  c->on_reply(r, std::move(text), context.now, context.events);
}

void sequential_layout::on_flight_cut(flight& f, const reply_context& context) {
  const operation what = f.what_;
  const std::uint32_t epoch = f.result_.epoch;
  sequential_claim* const c = claim_of(f);
  spare_flights_.push_back(&f);
  if (c)
    c->on([&](sequential_recipe& r) { return r.on_cut(what, epoch, context.now, rules()); },
          context.now, context.events);
}

}  // namespace holdfast::zookeeper
