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
  sequential_flight& f = take_batch();
  f.begin(c, what);
  switch (what) {
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
void sequential_layout::send_downgrade(sequential_claim& c, sequential_flight& f, time_point now) {
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

void sequential_layout::send_create(const sequential_claim& c, sequential_flight& f,
                                    time_point now) {
  if (c.makes_parent) send_parent(f, c.path, codec_->parent(), now);
  std::string own;
  append_create(own, c.path + '/' + codec_->name_of(c.attempt, c.mode), data_of(c),
                node_kind::ephemeral_sequential, acl_of::anyone);
  send(f, opcode::create2, std::move(own), now);
}

void sequential_layout::send_list(const sequential_claim& c, sequential_flight& f, time_point now,
                                  bool is_synced) {
  if (is_synced) send(f, opcode::sync, path_body(c.path), now);
  send(f, opcode::get_children2, watched_path_body(c.path, false), now);
}

}  // namespace holdfast::zookeeper
