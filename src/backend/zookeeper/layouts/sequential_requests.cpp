// The side towards the server: what is sent for a claim. What its replies mean:
// sequential_replies.cpp.
#include <utility>

#include "backend/zookeeper/layouts/sequential_layout.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using core::mutant;
using core::planted;
using operation = sequential_operation;

std::optional<sequential_reply> sequential_layout::submit(sequential_claim& c, operation what,
                                                          time_point now, event_queue&) {
  if (auto answer = answer_after_end(c, what)) return answer;
  sequential_flight& f = take_flight();
  f.begin(c, what);
  const std::string own = c.path + '/' + c.node;
  switch (what) {
    case operation::create: send_create(c, f, now); break;
    case operation::list: send_list(c, f, now, false); break;
    case operation::find: send_list(c, f, now, true); break;
    case operation::watch:
      send_watch(f, c.path + '/' + c.blocker, now);
      send_watch(f, own, now);
      break;
    case operation::watch_own: send_watch(f, own, now); break;
    case operation::peek_line:
      send(f, opcode::get_children2, watched_path_body(c.path, true), now, c.path);
      break;
    case operation::remove:
      if (c.node.empty()) {
        send_list(c, f, now, true);
      } else {
        send(f, opcode::remove, delete_body(own), now);
        if (!c.next_node.empty())
          send(f, opcode::remove, delete_body(c.path + '/' + c.next_node), now);
      }
      break;
    case operation::downgrade: send_downgrade(c, f, now); break;
    case operation::none: break;
  }
  return {};
}

// Both or none: others never see the lock without a node of this claim.
void sequential_layout::send_downgrade(sequential_claim& c, sequential_flight& f, time_point now) {
  const bool keeps_place = !planted(mutant::downgrade_loses_the_place);
  c.next_node = keeps_place ? codec_->shared_name_of(c.attempt, c.node)
                            : codec_->name_of(c.attempt, lock_mode::shared);
  std::string body;
  multi_writer w(body);
  w.create(c.path + '/' + c.next_node, data_of(c),
           keeps_place ? node_kind::ephemeral : node_kind::ephemeral_sequential, acl_of::anyone);
  w.remove(c.path + '/' + c.node, any_version);
  w.end();
  send(f, opcode::multi, std::move(body), now);
}

void sequential_layout::send_create(const sequential_claim& c, sequential_flight& f,
                                    time_point now) {
  if (c.makes_parent) send_parent(f, c.path, codec_->parent(), now);
  std::string own;
  append_create(own, c.path + '/' + codec_->name_of(c.attempt, c.details.mode), data_of(c),
                node_kind::ephemeral_sequential, acl_of::anyone);
  send(f, opcode::create2, std::move(own), now);
  send(f, opcode::exists, watched_path_body(c.path, false), now);
}

void sequential_layout::send_list(const sequential_claim& c, sequential_flight& f, time_point now,
                                  bool is_synced) {
  if (is_synced) send(f, opcode::sync, path_body(c.path), now);
  send(f, opcode::get_children2, watched_path_body(c.path, false), now);
}

}  // namespace holdfast::zookeeper
