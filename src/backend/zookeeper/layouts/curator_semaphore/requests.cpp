// The side towards the server: what is sent for a claim. What its replies mean: replies.cpp.
#include <utility>

#include "backend/zookeeper/layouts/curator_semaphore/layout.hpp"

namespace holdfast::zookeeper::curator_semaphore {

using operation = permit_operation;
using verdict = permit_verdict;

std::optional<permit_recipe::reply> layout::submit(claim& c, operation what, time_point now,
                                                   core::event_queue&) {
  if (auto answer = answer_after_end(c, what)) return answer;
  if (what == operation::leave_line) {
    leave_line(c, now);
    return {};
  }
  batch& f = take_batch();
  f.begin(c, what);
  switch (what) {
    case operation::take:
      make_leases(f, c, now);
      list_leases(f, c, now, false, false);
      ask(f, part::look_at_line, opcode::exists,
          watched_path_body(folder_of(c, line_folder), false), now);
      break;
    case operation::lease:
      make_leases(f, c, now);
      list_leases(f, c, now, false, true);
      break;
    case operation::count: list_leases(f, c, now, false, true); break;
    case operation::recount: list_leases(f, c, now, true, true); break;
    case operation::join: enter_line(f, c, now); break;
    case operation::find:
      ask(f, part::sync, opcode::sync, path_body(folder_of(c, line_folder)), now);
      list_line(f, c, now);
      break;
    case operation::look: list_line(f, c, now); break;
    case operation::watch_own:
      for (const std::string& name : c.leases)
        watch(f, part::watch_lease, folder_of(c, lease_folder) + '/' + name, now);
      break;
    case operation::check_waiters: check_waiters(f, c, now); break;
    case operation::remove:
      if (!remove_all(f, c, now)) return answer_at_once(f, verdict::gone);
      break;
    case operation::leave_line:
    case operation::none: break;
  }
  return {};
}

void layout::ask(batch& f, part p, opcode op, std::string body, time_point now,
                 std::string watched) {
  if (send(f, op, std::move(body), now, std::move(watched))) f.add(p);
}

// Only what is needed: a container that was never used stays for ever.
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

void layout::enter_line(batch& f, claim& c, time_point now) {
  const std::string folder = folder_of(c, line_folder);
  if (c.makes_parents) make_parents(f, c, folder, now);
  c.is_unanswered = true;
  std::string body;
  append_create(body, folder + '/' + line_name(c.attempt), data_of(c),
                node_kind::ephemeral_sequential, acl_of::anyone);
  ask(f, part::enter_line, opcode::create2, std::move(body), now);
  list_line(f, c, now);
}

void layout::list_line(batch& f, const claim& c, time_point now) {
  ask(f, part::list_line, opcode::get_children2,
      watched_path_body(folder_of(c, line_folder), false), now);
}

void layout::check_waiters(batch& f, const claim& c, time_point now) {
  const std::string path = folder_of(c, line_folder);
  ask(f, part::check_waiters, opcode::get_children2, watched_path_body(path, true), now, path);
}

// While nobody has ever been in line, or the folder was removed since: its creation is an event.
void layout::await_line(batch& f, const claim& c, time_point now) {
  const std::string path = folder_of(c, line_folder);
  ask(f, part::await_line, opcode::exists, watched_path_body(path, true), now, path);
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
  const std::string leases = folder_of(c, lease_folder), line = folder_of(c, line_folder);
  if (c.is_unanswered) {
    ask(f, part::sync, opcode::sync, path_body(c.path), now);
    ask(f, part::find_leases, opcode::get_children2, watched_path_body(leases, false), now);
    ask(f, part::find_line, opcode::get_children2, watched_path_body(line, false), now);
    return true;
  }
  for (const std::string& name : c.leases) {
    std::string path = leases;
    remove_node(f, path.append("/").append(name), now);
  }
  if (!c.line_node.empty()) remove_node(f, line + '/' + c.line_node, now);
  return !c.leases.empty() || !c.line_node.empty();
}

}  // namespace holdfast::zookeeper::curator_semaphore
