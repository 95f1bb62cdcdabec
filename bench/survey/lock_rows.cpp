#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include "survey/subject.hpp"

namespace survey {
namespace {

constexpr lock_row all_rows[] = {
    {.name = "flock", .what = "a locked file", .backends = "file"},
#ifdef HOLDFAST_WITH_MYSQL
    {.name = "row", .what = "a lease row", .backends = "mysql", .options = "strategy=row"},
    {.name = "insert",
     .what = "a record with a unique key",
     .backends = "mysql",
     .options = "strategy=insert"},
    {.name = "for-update",
     .what = "pessimistic: SELECT ... FOR UPDATE",
     .backends = "mysql",
     .options = "strategy=for-update"},
    {.name = "named", .what = "GET_LOCK", .backends = "mysql", .options = "strategy=named"},
    {.name = "version",
     .what = "optimistic: an update by a version number",
     .backends = "mysql",
     .make = updates_by_version},
    {.name = "update-time",
     .what = "optimistic: an update by the time of the last one",
     .backends = "mysql",
     .make = updates_by_time},
#endif
    {.name = "node",
     .what = "one ephemeral node that all waiters watch",
     .backends = "zookeeper",
     .options = "layout=node&unsafe=1",
     .is_unsafe = true},
    {.name = "sequence",
     .what = "ephemeral sequential nodes, as Curator has them",
     .backends = "zookeeper",
     .options = "layout=curator"},
    {.name = "setnx",
     .what = "SETNX, then EXPIRE, then DEL",
     .backends = "redis",
     .options = "layout=setnx&unsafe=1",
     .is_unsafe = true},
    {.name = "getset",
     .what = "SETNX and GETSET of a time stamp",
     .backends = "redis",
     .options = "layout=getset&unsafe=1",
     .is_unsafe = true},
    {.name = "lua",
     .what = "SET NX PX, released by a script",
     .backends = "redis",
     .options = "layout=lua"},
    {.name = "redisson",
     .what = "Redisson's RLock, with a watchdog",
     .backends = "redis",
     .options = "layout=redisson"},
    {.name = "redisson-lease",
     .what = "the same with a lease of 30 s, without a watchdog",
     .backends = "redis",
     .options = "layout=redisson",
     .renewed = false},
    {.name = "redisson-fair",
     .what = "Redisson's RFairLock",
     .backends = "redis",
     .options = "layout=redisson&fair=1"},
    {.name = "redisson-spin",
     .what = "Redisson's RSpinLock",
     .backends = "redis",
     .options = "layout=redisson-spin"},
    {.name = "string",
     .what = "holdfast's own layout",
     .backends = "redis shards",
     .options = "layout=string"},
    {.name = "redlock", .what = "a majority of the masters", .backends = "redlock"},
#ifdef HOLDFAST_WITH_ZOOKEEPER
    {.name = "Curator",
     .what = "the real Curator's InterProcessMutex, in a JVM",
     .backends = "zookeeper",
     .is_peer = true,
     .make = real_curator},
    {.name = "kazoo",
     .what = "the real kazoo's Lock, in Python",
     .backends = "zookeeper",
     .is_peer = true,
     .make = real_kazoo},
#endif
#ifdef HOLDFAST_WITH_REDIS
    {.name = "Redisson",
     .what = "the real Redisson's RLock, in a JVM",
     .backends = "redis",
     .is_peer = true,
     .topologies = "redis",
     .make = real_redisson},
#endif
};

bool has_word(std::string_view words, std::string_view word) noexcept {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::string url_of(const deployment& where, std::string_view options) {
  std::string url = where.url();
  if (options.empty()) return url;
  url += url.find('?') == std::string::npos ? '?' : '&';
  return url.append(options);
}

class mutexes final : public subject {
 public:
  mutexes(const lock_row& row, const deployment& where, const load& l) {
    if (!row.renewed) options_.renew = holdfast::renewal::manual;
    for (unsigned i = 0; i < std::min(l.workers, most_clients); ++i)
      clients_.push_back(holdfast::client::open(url_of(where, row.options)));
    leases_.resize(l.workers);
    for (unsigned i = 0; i < l.workers; ++i) {
      const unsigned lock = l.own_locks ? i : 0;
      // A name belongs to one layout: another one leaves something else under it.
      const std::string name = "survey-" + std::string(row.name) + '-' + std::to_string(lock);
      mutexes_.push_back(clients_[i % clients_.size()].mutex(name));
    }
  }

  bool acquire(unsigned worker, std::chrono::milliseconds wait, std::stop_token stop) override {
    leases_[worker] = mutexes_[worker].try_acquire_for(wait, options_, std::move(stop));
    return static_cast<bool>(leases_[worker]);
  }
  void release(unsigned worker) override { leases_[worker].release(); }

 private:
  holdfast::acquire_options options_;
  std::vector<holdfast::client> clients_;
  std::vector<holdfast::mutex> mutexes_;
  std::vector<holdfast::lease> leases_;
};

}  // namespace

std::span<const lock_row> lock_rows() noexcept { return all_rows; }

bool is_for(const lock_row& row, const topology& where) noexcept {
  return has_word(row.backends, where.backend) &&
         (row.topologies.empty() || has_word(row.topologies, where.name));
}

std::unique_ptr<subject> make_subject(const lock_row& row, const deployment& where, const load& l) {
  if (row.make) return row.make(where, l);
  return std::make_unique<mutexes>(row, where, l);
}

}  // namespace survey
