// Reads the nodes under the chroot, and the rights to change them.
#include "backend/zookeeper/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "backend/zookeeper/diagnosis/probe.hpp"
#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"
#include "backend/zookeeper/layouts/layouts.hpp"
#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

namespace {

constexpr std::size_t locks_max = 1'000;  // a large tree is not read whole
constexpr int round_trips = 5;

using curator_semaphore::lease_folder;
using curator_semaphore::queue_folder;

std::vector<acl_entry> read_acl(std::span<const std::byte> body) {
  constexpr std::size_t entry_min = 12;
  jute_reader r(body);
  std::vector<acl_entry> out(r.read_count(entry_min));
  for (acl_entry& e : out) {
    e.rights = r.read_int();
    e.scheme = r.read_text();
    e.id = r.read_text();
  }
  return r.is_good() ? out : std::vector<acl_entry>();
}

class tree_diagnosis {
 public:
  tree_diagnosis(base::environment& env, const settings& s)
      : env_(env),
        has_semaphores_(s.layout == "curator-semaphore" || s.layout == default_layout),
        chroot_(s.chroot),
        by_(env, s) {
    facts_.root = chroot_.empty() ? "/" : chroot_;
  }

  tree_facts run() {
    const probe_answer acl = by_.call(opcode::get_acl, path_body(facts_.root));
    facts_.acl_code = acl.code;
    if (acl.is_ok()) facts_.acl = read_acl(acl.bytes());
    for (int i = 0; i < round_trips; ++i) {
      const probe_answer a = by_.call(opcode::exists, watched_path_body(facts_.root, false));
      if (!a.was_cut) facts_.trips.push_back(a.trip);
    }
    try_rights();
    look_at_locks();
    if (is_cut_) facts_.unread = {errc::unavailable, "the connection was lost meanwhile"};
    return std::move(facts_);
  }

 private:
  probe_answer ask(opcode op, std::string body) {
    probe_answer a = by_.call(op, std::move(body));
    is_cut_ = is_cut_ || a.was_cut;
    return a;
  }

  // A node that lives for a moment: its time is that of the leader's clock.
  void try_rights() {
    char name[40];
    std::snprintf(name, sizeof name, "holdfast-doctor-%016llx",
                  static_cast<unsigned long long>(base::random_u64(env_)));
    const std::string path = chroot_ + '/' + name;
    std::string body;
    append_create(body, path, {}, node_kind::ephemeral, acl_of::anyone);
    const auto before = env_.wall();
    const probe_answer made = ask(opcode::create2, std::move(body));
    facts_.create_code = made.code;
    if (!made.is_ok()) return;
    if (const auto node = read_created(made.bytes())) {
      const duration at_leader = std::chrono::milliseconds{node->stat.ctime_ms};
      facts_.clock = {at_leader - duration(before) - made.trip / 2, made.trip};
    }
    facts_.remove_code = ask(opcode::remove, delete_body(path)).code;
  }

  void look_at_locks() {
    const probe_answer all = ask(opcode::get_children2, watched_path_body(facts_.root, false));
    facts_.list_code = all.code;
    const auto children = read_children(all.bytes());
    if (!all.is_ok() || !children) return;
    for (const std::string_view node : children->names) {
      const auto name = lock_name(node);
      if (!name) {
        facts_.odd.push_back(std::string(node) + " (no lock has this name)");
        continue;
      }
      if (!lock_name_fault(chroot_, *name).empty()) continue;
      if (is_cut_ || facts_.locks == locks_max) return;
      look_at(chroot_ + '/' + std::string(node), *name);
    }
    facts_.are_all = true;
  }

  void look_at(const std::string& path, const std::string& name) {
    const probe_answer a = ask(opcode::exists, watched_path_body(path, false));
    const auto stat = read_stat(a.bytes());
    if (!a.is_ok() || !stat) return;
    ++facts_.locks;
    if (stat->ephemeral_owner != 0) return facts_.odd.push_back(name + " (it is ephemeral)");
    if (stat->data_length != 0) facts_.odd.push_back(name + " (it holds data)");
    note_sequence(*stat, name);
    if (has_semaphores_ && stat->children > 0)
      for (const std::string_view folder : {queue_folder, lease_folder})
        look_into(path, folder, name);
    const probe_answer acl = ask(opcode::get_acl, path_body(path));
    if (!acl.is_ok()) return;
    if (std::ranges::any_of(read_acl(acl.bytes()), [](const acl_entry& e) {
          return e.is_anyone() && (e.rights & acl_entry::remove) != 0;
        }))
      facts_.open.push_back(name);
  }

  // The nodes of a semaphore are in two folders, each with a sequence of its own.
  void look_into(const std::string& path, std::string_view folder, const std::string& name) {
    const std::string at = path + '/' + std::string(folder);
    const probe_answer a = ask(opcode::exists, watched_path_body(at, false));
    const auto stat = read_stat(a.bytes());
    if (a.is_ok() && stat) note_sequence(*stat, name);
  }

  // The cversion of a reply is twice the creates less the children, modulo 2^32.
  void note_sequence(const node_stat& s, const std::string& name) {
    const auto twice =
        static_cast<std::uint32_t>(s.cversion) + static_cast<std::uint32_t>(s.children);
    const std::int64_t made = twice / 2;
    if (made <= facts_.sequence) return;
    facts_.sequence = made;
    facts_.most_used = name;
  }

  base::environment& env_;
  const bool has_semaphores_;
  const std::string chroot_;
  probe by_;
  tree_facts facts_;
  bool is_cut_ = false;
};

}  // namespace

tree_facts diagnose_tree(base::environment& env, const settings& s) {
  try {
    return tree_diagnosis(env, s).run();
  } catch (const lock_error& e) {
    return {.unread = {e.code(), std::string(e.detail().empty() ? e.what() : e.detail())}};
  }
}

}  // namespace holdfast::zookeeper
