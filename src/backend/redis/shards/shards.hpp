// redis+shards:, rediss+shards:. The names of a client's locks are spread over several independent
// deployments, each a backend of its own with its own connections. A shard that is down concerns
// its own locks and no others.
//
// Each shard keeps the list of shards, so that a client with another list is refused.
#pragma once
#include <holdfast/finding.hpp>

#include <array>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "backend/redis/backend.hpp"
#include "backend/redis/shards/sharded_store.hpp"

namespace holdfast::redis {

// Connects to all shards at the same time. Throws lock_error: none answers; one never will, as with
// a wrong password; two are one server; or one has another list of shards.
seam::backend open_shards(const seam::open_args&);

class shards final : public seam::connection {
 public:
  struct part {
    std::string name;
    double weight = 1, former_weight = 1;
    settings where;
  };
  shards(base::environment&, std::vector<part>);
  ~shards() override = default;

  const seam::store_family& stores() const noexcept { return stores_; }
  void open(std::stop_token, const std::string& url_text);  // throws lock_error

  // connection
  connection& of(std::string_view name) noexcept override {
    const std::size_t former = lists_.former_shard(name), present = lists_.shard(name);
    if (former == present) return *all_[present];
    return pairs_.find({former, present})->second;
  }
  bool is_unavailable() const noexcept override;
  seam::connection_status status() override;
  void retry_now() noexcept override;
  void flush() override;
  base::caller_driver* driver() noexcept override { return &driver_; }
  void diagnose(seam::findings_handler&) override;
  bool close(time_point until) override;
  void forked() noexcept override;

 private:
  // A caller whose question concerns all shards can lead no one's loop: each is driven in the
  // background meanwhile.
  class driver_of_all final : public base::caller_driver {
   public:
    explicit driver_of_all(shards& s) noexcept : home_(s) {}
    void run_until_signalled(base::parker&) override;
    void sleep_until_signalled(base::follower&) override;
    void enlist(base::follower&) noexcept override {}
    void attend() noexcept override;

   private:
    shards& home_;
  };

  // The connection of the locks that move from one shard to another: no third shard concerns them.
  class pair_of_shards final : public seam::connection {
   public:
    pair_of_shards(shards& home, std::size_t former, std::size_t present) noexcept
        : home_(home), both_{former, present} {}
    bool is_unavailable() const noexcept override;
    seam::connection_status status() override { return home_.status_of(both_); }
    void retry_now() noexcept override;
    void flush() override;
    base::caller_driver* driver() noexcept override { return &home_.driver_; }
    void diagnose(seam::findings_handler& to) override { home_.diagnose(to); }
    bool close(time_point until) override { return home_.close(until); }
    void forked() noexcept override { home_.forked(); }

   private:
    shards& home_;
    const std::array<std::size_t, 2> both_;
  };

  const std::string& name_of(std::size_t shard) const noexcept {
    return lists_.present[shard].name;
  }
  seam::connection_status status_of(std::span<const std::size_t>);
  void check_servers(const std::string& url_text);
  void check_lists(const std::string& url_text);

  shard_lists lists_;
  moving_claims moving_;
  const std::string prefix_;
  std::vector<std::unique_ptr<backend>> all_;  // in the order of the lists
  // By the former shard and the present one; only while the list changes.
  std::map<std::pair<std::size_t, std::size_t>, pair_of_shards> pairs_;
  std::vector<std::unique_ptr<sharded_store>> sharded_;
  seam::store_family stores_;
  driver_of_all driver_{*this};
  base::log_sink log_;
};

}  // namespace holdfast::redis
