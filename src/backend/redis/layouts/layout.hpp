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
#include "backend/redis/settings.hpp"
#include "backend/redis/topologies/topology.hpp"
#include "claim/claim_list.hpp"
#include "claim/store_claim.hpp"
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
    const auto is_same = [&](const holder& a, const holder& b) {
      return identity(a) == identity(b);
    };
    std::ranges::sort(all_, {}, identity);
    all_.erase(std::unique(all_.begin(), all_.end(), is_same), all_.end());
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

// The claims of a layout, and what claims::store_of requires of every store of claims.
template <class Claim>
class claims_layout : public layout, public claims::store_defaults {
 public:
  // layout
  void end_claims(errc code, const std::string& why, time_point now,
                  base::event_queue& events) final {
    claims_.give_up_all(code, why, now, events);
  }
  bool is_dispatching() const final { return claims_.is_dispatching(); }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return reactor_.mutex(); }
  base::environment& env() const noexcept { return reactor_.env(); }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return reactor_.is_forked(); }
  time_point clock_for_release(const Claim&) const { return env().now(); }
  void wake_at(Claim& c, time_point t) {
    claims_.wake_at(c, t);
    reactor_.wake_by(t);
  }
  void request_flush(claims::urgency when) noexcept {
    reactor_.request_flush(when == claims::urgency::now);
  }

 protected:
  claims_layout(io::client_reactor& r, const settings& s)  // the settings outlive it
      : reactor_(r), settings_(s), claims_(s.rules) {}

  io::client_reactor& reactor_;
  const settings& settings_;
  claims::claim_list<Claim> claims_;
};

// A layout whose locks are each stored at one server: that of its key. Node: its layout_node.
template <class Claim, class Node>
class keyed_layout : public claims_layout<Claim> {
 public:
  std::string reason(const Claim& c, errc why) const { return c.node->over().reason(why); }

  // For its nodes; with the reactor's mutex held.
  claims::claim_list<Claim>& claims() noexcept { return this->claims_; }
  bool keys_move() const noexcept { return this->settings_.is_cluster(); }
  Node& node_of_lock(std::string_view key) const noexcept {
    return static_cast<Node&>(this->node_of(key));
  }
  void note_redirected(std::string_view key, const transport& from, const redirection& to,
                       time_point now) const {
    this->servers().on_redirected(key, from, to, now);
  }

 protected:
  keyed_layout(io::client_reactor& r, const settings& s) : claims_layout<Claim>(r, s) {}
  void tell_nodes_of_moved_keys(time_point now) const {
    this->for_each_node([now](layout_node& n) { static_cast<Node&>(n).on_keys_moved(now); });
  }
};

}  // namespace holdfast::redis
