// What a layout adds to the retrying recipe: the bytes of its requests, and what its replies mean.
// Pure: no socket, no clock, no claim.
#pragma once
#include <holdfast/holder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/examination/required_command.hpp"
#include "backend/redis/recipes/retrying.hpp"
#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/request_writer.hpp"
#include "seam/capabilities.hpp"

namespace holdfast::redis {

struct retrying_owner {               // drawn for every acquire
  std::uint64_t high = 0, low = 0;    // random
  std::chrono::microseconds drawn{};  // on the wall clock of this machine, since 1970
  explicit operator bool() const noexcept { return (high | low) != 0; }
};

struct held_grant {
  lock_mode how = lock_mode::exclusive;  // after a downgrade: shared
  std::int64_t number = 0;
};

struct lock_request {  // the arguments of a request for one lock
  std::string_view key, owner;
  retrying_owner id;  // of which `owner` is the text
  duration ttl{};
  lock_mode mode = lock_mode::exclusive;  // that was acquired: a downgrade does not change it
  std::uint8_t step = 0;                  // of an attempt that has several commands
  bool may_queue = false;                 // not the only attempt
  bool had_place = false;                 // in a queue: an earlier attempt of this owner was busy
  std::uint32_t permits = 1, total_permits = 0;
  std::chrono::microseconds wall{};  // the clock of this machine, since 1970
  std::string_view seen;             // what the step before read
  // Where the owner is a time stamp: the one of a renewal that was not answered; 0: none.
  std::chrono::microseconds renewed{};
};

class retrying_codec {
 public:
  virtual ~retrying_codec() = default;
  virtual const core::capabilities& can() const noexcept = 0;
  virtual const retrying_recipe::rules& rules() const noexcept = 0;
  // Loaded when a connection is ready, so that calls by their hash succeed.
  virtual std::span<const script> scripts() const noexcept = 0;
  // What a claim is known by, to other programs too.
  virtual std::string text_of(const retrying_owner&) const = 0;
  // What a guard compares: readers that hold a lock together have one owner.
  virtual std::string guarded_owner(const retrying_owner& o, const held_grant&) const {
    return text_of(o);
  }
  // Whether the holder that was found under some key can be one of this layout.
  virtual bool is_owner(std::string_view text) const noexcept = 0;
  virtual std::string name_fault(std::string_view) const { return {}; }
  virtual std::string_view key_suffix() const noexcept { return {}; }
  // The owner is the time at which it tries, so every try has another one, and every renewal too.
  virtual bool owner_is_stamp() const noexcept { return false; }
  // What a claim writes at that time, for a lease of that length.
  virtual std::chrono::microseconds stamp_at(std::chrono::microseconds wall, duration) const {
    return wall;
  }
  // Where a message says that the lock may be free; of layouts whose rules have a channel.
  virtual std::string channel_of(const lock_request&) const { return {}; }
  virtual std::span<const error_meaning> own_errors() const noexcept { return {}; }

  // For an operator's examination.
  virtual layout_needs needs() const noexcept { return {}; }

  // Appends one request, which has one reply. Not for renewals.
  virtual void append(command_writer&, retrying_operation, const lock_request&) const = 0;
  // `r` carries what is known from the request. Of a request that is not awaited any more, nothing
  // but the kind of an error is used.
  // Unless it is overridden, as scripts answer: an acquire {1} granted | {0, what is left of the
  // holder's lease in ms} busy; anything else as compared() says.
  virtual retrying_reply read(const value&, const lock_request&, retrying_reply r) const;
  // Renewals of many locks, one request. Of its replies the last one counts.
  virtual std::uint32_t renewal_replies(std::size_t) const noexcept { return 1; }
  virtual void append_renewals(command_writer&, std::span<const lock_request>) const = 0;
  // The reply to the one at `index` of them; unless it is overridden, an array for compared().
  virtual retrying_reply read_renewal(const value&, std::size_t index, retrying_reply r) const;
  // For an operator: reads the holders, and releases the lock of the owner that was seen. One
  // request each, with the text of its script. Holders without their name.
  virtual void append_look(std::string& out, std::string_view key) const = 0;
  virtual void append_break(std::string& out, std::string_view key,
                            std::string_view seen) const = 0;
  virtual std::vector<holder> read_look(const value&) const = 0;
  virtual bool read_break(const value&) const;  // whether it was released, as compared() says

 protected:
  retrying_reply read_compared(const value&, retrying_reply r) const;  // or an error
};

// {high, low} as 32 hexadecimal digits.
std::string hex_of(const retrying_owner&);
// What an error answers.
retrying_reply refused_by(std::string_view error, std::span<const error_meaning> own_errors,
                          retrying_reply);
// Nothing that a script of this layout answers: the server is another one.
retrying_reply unreadable(retrying_reply) noexcept;
// Of a script that answers 1: done | 3: done, and another client was told | 0: another's | 2:
// nobody's.
retrying_reply compared(const value&, retrying_reply);
// By a script with the keys of the locks, and for each its owner and ttl.
void append_renewals_by(const script& renew, command_writer&, std::span<const lock_request>);
holder holder_of(std::string_view owner, duration rest_of_lease);
// {owner, what is left of the lease in ms; -1: no end} | {} nobody.
std::vector<holder> read_one_holder(const value&);

}  // namespace holdfast::redis
