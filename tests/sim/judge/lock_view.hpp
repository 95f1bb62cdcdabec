// The locks at the server as the judge sees them, after every event. A store brings one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/machine/rules.hpp"

namespace holdfast::sim {

enum class owner_is : unsigned char { nobody, claim, readers, permits, foreign };

struct owner_seen {
  std::string_view text;
  std::int64_t expires_ms;  // by the server's clock; it may be past
};

// Texts are good until the server is used.
class lock_view {
 public:
  virtual ~lock_view() = default;

  // The rules that need what this view alone shows: notes_at(), holds_of(), has_listener().
  virtual rule_set rules() const { return {}; }

  // What a client's connection brought last was done: ids in it are that client's.
  virtual void served(std::string_view /*client*/, std::string_view /*requests*/) {}

  // Ids: of claims, and of what owns a lock.
  virtual owner_is kind_of(std::string_view owner) const = 0;
  virtual bool is_reader(std::string_view id) const = 0;
  virtual std::string_view claim_in(
      std::string_view id) const = 0;  // what is the same in each mode
  virtual std::string_view client_in(std::string_view id) const = 0;  // "": it has none
  virtual std::int64_t number_of(std::string_view group) const = 0;
  // That a reader's tokens have: that of its group, unless each reader has its own.
  virtual std::int64_t number_of_reader(std::string_view group, std::string_view /*id*/) const {
    return number_of(group);
  }

  // The server.
  virtual std::int64_t now_ms() const = 0;
  virtual double now_us() const = 0;
  virtual bool has_listener(std::string_view client) const = 0;  // its messages arrive
  virtual std::optional<owner_seen> owner_at(int lock) const = 0;
  virtual std::vector<std::string_view> queue_at(int lock) const = 0;  // ids, the next one first
  // Readers, or holders of permits: id and the end of the lease, in us.
  virtual std::vector<std::pair<std::string_view, double>> members_at(int lock) const = 0;
  virtual int permits_of(int lock, std::string_view id) const = 0;
  // The store will end it, and its client cannot any more: it has another session.
  virtual bool is_given_up(int /*lock*/, std::string_view /*id*/) const { return false; }
  // How often the store counts it as a holder.
  virtual int holds_of(int /*lock*/, std::string_view /*id*/) const { return 1; }
  // Ids of which it keeps something else; of waiters only if `of_waiters`.
  virtual std::vector<std::string_view> notes_at(int lock, bool of_waiters) const = 0;
  // Whether the request is for several locks at once, with this id as one owner.
  virtual bool asks_for_several(std::string_view request, std::string_view id) const = 0;
};

}  // namespace holdfast::sim
