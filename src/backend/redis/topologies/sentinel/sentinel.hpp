// One master and its replicas, which sentinels watch: one transport, led to the server that they
// name as the master.
//
// A client asks all sentinels, also those that only other sentinels name, and goes where a majority
// of them points (sentinel_votes.hpp), once the server there says that it is a master. While its
// commands have no server, it asks them again and again, and looks at every server that it has
// heard of: a replica that was promoted, and has the history of the client's own master, is
// followed before the sentinels tell, which takes them about a second. A master that was replaced
// is refused (transport/lineage.hpp), whoever leads there.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/redis/settings.hpp"
#include "backend/redis/topologies/commands_watch.hpp"
#include "backend/redis/topologies/sentinel/sentinel_link.hpp"
#include "backend/redis/topologies/single.hpp"

namespace holdfast::redis {

class sentinel final : public single,
                       private io::reactor_user,
                       private sentinel_link::listener,
                       private commands_watch::listener {
 public:
  sentinel(io::client_reactor&, const settings&, std::span<const script> all_scripts);
  ~sentinel() override;

  void open(time_point now) override;
  base::failure why_not_open(bool is_overdue) const override;
  seam::connection_status status() const override;
  std::vector<finding> findings() const override { return findings_of(states(), settings_.master); }

 private:
  struct scout;

  // io::reactor_user
  void flush(std::unique_lock<std::mutex>&, base::driven_by) noexcept override;
  void on_alarm(time_point now, base::event_queue&) override;
  bool has_unattended_replies() const noexcept override;

  // sentinel_link::listener
  void on_reported(time_point now, base::event_queue&) override;
  void on_switch(time_point now) override;

  // commands_watch::listener
  void on_commands_ready(time_point) override { lost_at_ = base::never; }
  void on_commands_lost(time_point now) override;
  void on_commands_silent(time_point now) override { on_switch(now); }

  void on_scouted(const base::address&, const server_identity&, time_point now, base::event_queue&);
  void add_sentinels(time_point now);
  void add_link(endpoint, bool is_in_url);
  void add_servers();
  void add_server(const base::address&);
  void look_soon(time_point now);
  void look_if_due(time_point now);
  bool is_settled(time_point now) const noexcept;
  std::vector<sentinel_state> states() const;

  io::client_reactor& reactor_;
  const settings& settings_;
  subscriptions no_channels_;
  commands_watch watch_{*this};
  std::vector<std::unique_ptr<sentinel_link>> links_;
  std::vector<std::unique_ptr<scout>> scouts_;
  struct heir {
    base::address at;
    std::uint64_t epoch;  // that the sentinels had then
  };
  bool counts(const sentinel_verdict&) const;

  sentinel_verdict verdict_;
  std::optional<heir> heir_;  // that was followed last, although they named another server
  time_point stranger_at_ = base::never;  // a master of another history was met
  time_point lost_at_ = base::never;      // the connection for commands
  time_point switching_until_{};          // sentinels have announced another master
  time_point next_look_ = base::never;
};

}  // namespace holdfast::redis
