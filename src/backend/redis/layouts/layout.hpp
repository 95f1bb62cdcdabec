// A layout: which keys, scripts and messages stand for a lock at a server. A client has one, or one
// for each kind of lock (layout_family.hpp). It owns its claims; a node for each server of the
// topology sends for them (layout_node.hpp).
//
// Beginning and end: the constructor draws what it needs at random and knows no server yet;
// attach() gives it the topology; detach() takes that away once the reactor is stopped.
#pragma once
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/redis/layouts/layout_node.hpp"
#include "backend/redis/layouts/required_command.hpp"
#include "backend/redis/topologies/topology.hpp"
#include "seam/lock_store.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

// The holders that several servers report, as one answer to an operator. Made with new; deletes
// itself once it has answered. It fails where one of them does: in a list with holes, locks that
// are held would seem free.
class joint_holders final : public seam::holders_handler, private seam::awaited_answers {
 public:
  joint_holders(std::size_t servers, seam::holders_handler& to) noexcept
      : awaited_answers(servers), to_(to) {}

  void on_result(std::vector<holder> part) override {
    note([&] { std::ranges::move(part, std::back_inserter(all_)); });
  }
  void on_failed(base::failure why) override {
    note([&] {
      if (!why_.code) why_ = std::move(why);
    });
  }

 private:
  void conclude() override {
    if (why_.code) return to_.on_failed(std::move(why_));
    // A lock that is moved meanwhile may be seen at both servers.
    const auto identity = [](const holder& h) { return std::tie(h.name, h.owner); };
    std::ranges::sort(all_, {}, identity);
    const auto repeated = std::ranges::unique(all_, {}, identity);
    all_.erase(repeated.begin(), repeated.end());
    to_.on_result(std::move(all_));
  }

  seam::holders_handler& to_;
  std::vector<holder> all_;
  base::failure why_;
};

class layout : public seam::lock_store {
 public:
  // Beyond what every connection needs; an operator's diagnosis requests it.
  virtual layout_needs needs() const { return {}; }

  // All with the reactor's mutex held.
  void attach(topology&);
  void add_node(transport&);  // the topology has one more
  // Keys may be at other servers from here on: their claims go there.
  virtual void on_keys_moved(time_point now, base::event_queue&) = 0;
  void detach() noexcept;
  void retry_now(time_point now);            // a caller's timeout is near
  void withdraw_all(time_point now);         // the client ends
  virtual bool is_settled() const noexcept;  // nothing has to be withdrawn any more
  // Ends what waits for an answer; nothing more is sent for it.
  virtual void end_claims(errc, const std::string& why, time_point now, base::event_queue&) = 0;
  virtual bool is_dispatching() const = 0;  // a claim's sink is being called

 protected:
  virtual std::unique_ptr<layout_node> make_node(transport&) = 0;
  layout_node& node_of(std::string_view key) const noexcept;  // of the server that has this key
  // For an operator's queries, without the mutex.
  lock_server server_of(std::string_view key) const noexcept;
  // The holders that each server reports: ask(const lock_server&, seam::holders_handler&).
  template <class Ask>
  void ask_all(seam::holders_handler& to, Ask ask) const {
    const std::vector<lock_server> all = all_servers();
    if (all.size() == 1) return ask(all.front(), to);
    auto& joint = *new joint_holders(all.size(), to);
    for (const lock_server& s : all) ask(s, joint);
  }
  topology& servers() const noexcept { return *topology_; }
  template <class Each>
  void for_each_node(Each each) const {
    for (const auto& n : nodes_) each(*n);
  }

 private:
  std::vector<lock_server> all_servers() const;
  topology* of_others() const noexcept;

  topology* topology_ = nullptr;  // while it is attached
  std::mutex* mutex_ = nullptr;   // of the reactor
  std::vector<std::unique_ptr<layout_node>> nodes_;
};

}  // namespace holdfast::redis
