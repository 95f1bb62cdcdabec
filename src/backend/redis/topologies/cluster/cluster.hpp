// A Redis Cluster, as redis+cluster://a,b,c names it: masters that each have a part of the slots,
// and replicas that take a master's place. Source: redis.io, "Redis cluster specification".
//
//   event                     | what the client does
//   --------------------------+--------------------------------------------------------------------
//   it opens                  | asks the nodes of the URL for all others; connects to each master
//   a node tells of a master  | its shard's connections go there, or a shard is made for it
//   a slot has another shard  | the claims of its locks go there; what is held is confirmed there
//   MOVED, ASK, TRYAGAIN      | nothing was executed: asks, and the request is sent again
//   commands lost, or silence | asks again and again, several nodes in turn, until all masters work
//   requests refused          | asks several nodes: one that was cut off from the others refuses
//
// What counts of the answers is in slot_map.hpp.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis/settings.hpp"
#include "backend/redis/topologies/cluster/cluster_link.hpp"
#include "backend/redis/topologies/cluster/slot_map.hpp"
#include "backend/redis/topologies/commands_watch.hpp"
#include "backend/redis/topologies/topology.hpp"

namespace holdfast::redis {

class cluster final : public topology,
                      private io::reactor_user,
                      private cluster_link::listener,
                      private commands_watch::listener {
 public:
  // Without the mutex. The settings and the scripts outlive it.
  cluster(io::client_reactor&, const settings&, std::span<const script> all_scripts);
  ~cluster() override;

  // All but status() and is_unavailable() with the reactor's mutex held.
  std::span<transport* const> nodes() noexcept override { return nodes_; }
  transport& node_of(std::string_view key) noexcept override;
  bool has_moving_keys() const noexcept override { return true; }
  void observe(observer& o) override { observer_ = &o; }
  void on_redirected(std::string_view key, const transport& from, const redirection&,
                     time_point now) override;
  std::vector<transport*> with_keys() override;
  void open(time_point now) override;
  bool is_open() const noexcept override;
  base::failure why_not_open(bool is_overdue) const override;
  seam::connection_status status() const override;
  bool is_unavailable() const noexcept override;

 private:
  struct shard {
    std::unique_ptr<transport> over;
    base::address led_to{};
  };

  // cluster_link::listener
  void on_reported(const std::vector<cluster_node>&, time_point now, base::event_queue&) override;
  void on_silent_node(time_point now) override;

  // commands_watch::listener, of all shards
  void on_commands_ready(time_point now) override;
  void on_commands_lost(time_point now) override;
  void on_commands_silent(time_point now) override { look_soon(now); }
  void on_commands_refused(time_point now) override;

  // io::reactor_user
  void flush(std::unique_lock<std::mutex>&, base::driven_by) noexcept override;
  void on_alarm(time_point now, base::event_queue&) override;
  bool has_unattended_replies() const noexcept override { return false; }

  void make_shard();
  bool has_slots(std::size_t of_shard) const noexcept;
  void follow_masters(time_point now, base::event_queue&);
  void add_links(const std::vector<cluster_node>&);
  void look_soon(time_point now);
  void look_if_due(time_point now);
  bool is_settled() const noexcept;
  bool is_in_use() const noexcept;
  std::string faults() const;

  io::client_reactor& reactor_;
  const settings& settings_;
  const std::span<const script> scripts_;
  observer* observer_ = nullptr;
  commands_watch watch_{*this};
  slot_map map_;
  std::vector<shard> shards_;  // as in the map; at least one
  std::vector<transport*> nodes_;
  static constexpr std::size_t shards_max = 1024;  // a cluster has at most 1,000 nodes
  // Those with slots, for is_unavailable(), which has no mutex; null: it has none.
  std::array<std::atomic<const transport*>, shards_max> in_use_{};
  std::vector<std::unique_ptr<cluster_link>> links_;
  std::size_t next_link_ = 0;
  time_point next_look_ = base::never, last_look_{}, lost_at_ = base::never;
  bool has_report_ = false, is_doubtful_ = false;
};

}  // namespace holdfast::redis
