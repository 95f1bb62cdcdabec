// The named locks of a server: GET_LOCK and its relatives, in the model of MariaDB.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

class named_locks {
 public:
  struct request {  // of GET_LOCK: it owns the lock, or waits for it
    std::uint64_t connection = 0;
    std::uint64_t serial = 0;  // never used twice
  };

  explicit named_locks(std::uint64_t serials = 0) noexcept : serials_(serials) {}

  // True: granted. Otherwise the connection waits in the queue, unless `waits` is false.
  bool acquire(const std::string& name, std::uint64_t connection, bool waits);
  // The first result of RELEASE_LOCK: 1, 0 (another connection has it), or {} (nobody has it).
  std::optional<bool> release(const std::string& name, std::uint64_t connection);
  void leave_queue(std::uint64_t connection);
  void release_all(std::uint64_t connection);
  void clear() noexcept;  // the serials go on

  std::uint64_t owner(const std::string& name) const;  // 0: nobody
  // A connection that was granted a lock that it has waited for, and whose statement goes on.
  std::optional<std::uint64_t> take_granted();

  const request* holder(const std::string& name) const;  // null: nobody
  bool has_one(std::uint64_t connection) const;
  std::vector<std::string> held() const;  // names
  std::vector<request> queue(const std::string& name) const;

 private:
  struct lock {
    request owner;  // of connection 0: nobody
    int times = 0;  // that the owner has taken it
    std::deque<request> queue;
  };
  void grant(lock&, const request&);
  void pass_on(lock&);

  std::map<std::string, lock> locks_;
  std::deque<std::uint64_t> granted_;
  std::uint64_t serials_;
};

}  // namespace holdfast::sim
