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

#include "backend/redis/layouts/required_command.hpp"
#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/request_writer.hpp"
#include "claim/recipes/retrying.hpp"
#include "seam/capabilities.hpp"

namespace holdfast::redis {

using base::duration;
using base::time_point;
using claims::retrying_operation;
using claims::retrying_recipe;
using claims::retrying_reply;

struct retrying_owner {               // drawn for every acquire
  std::uint64_t high = 0, low = 0;    // random
  std::chrono::microseconds drawn{};  // on the wall clock of this machine, since 1970
  explicit operator bool() const noexcept { return (high | low) != 0; }
};

struct guarded_grant {                    // what a guard's owner is made of
  lock_mode mode = lock_mode::exclusive;  // after a downgrade: shared
  std::int64_t number = 0;
};

struct lock_request {  // the arguments of a request for one lock
  std::string_view key, owner;
  retrying_owner id;  // `owner` is its text form
  duration ttl{};
  lock_mode mode = lock_mode::exclusive;  // that was acquired: a downgrade does not change it
  std::uint8_t step = 0;                  // of an attempt that has several commands
  bool may_queue = false;                 // not the only attempt
  bool had_place = false;                 // in a queue: an earlier attempt of this owner was busy
  bool only_place = false;                // withdraw: the place in a queue, and not the lock
  std::uint32_t permits = 1, total_permits = 0;
  std::chrono::microseconds wall{};  // the clock of this machine, since 1970
  std::string_view seen;             // what the step before read
  // Where the owner is a time stamp: the one of a renewal that was not answered; 0: none.
  std::chrono::microseconds renewed{};
};

struct codec_facts {
  seam::capabilities can;  // the codecs name what differs from its defaults, those of a mutex
  retrying_recipe::rules rules;
  // Loaded when a connection is ready, so that calls by their hash succeed.
  std::span<const script* const> loaded{};
  // For an operator, each with the key of the lock: reads its holder; releases it when the owner,
  // its argument, has it. Null: append_holders_query() or append_break() is overridden.
  const script* holders_script = nullptr;
  const script* break_lock = nullptr;
  // With the keys of locks, and for each its owner and ttl. Null: append_renewals() is overridden.
  const script* renew = nullptr;
  std::span<const error_meaning> own_errors{};  // of the scripts
  layout_needs needs{};                         // for an operator's diagnosis
  std::string_view owner_prefix{};              // empty: text_of() and is_owner() are overridden
  std::string_view key_suffix{};
  std::string_view channel_prefix{};  // of layouts of Redisson with channels
  // The owner is the time at which it tries, so every try has another one, and every renewal too.
  bool owner_is_stamp = false;
};

class retrying_codec {
 public:
  // The facts outlive it. `k`: the kind of its channels.
  explicit retrying_codec(const codec_facts& f, channel_kind k = channel_kind::plain) noexcept
      : facts_(f), channels_(k) {}
  virtual ~retrying_codec() = default;
  const codec_facts& facts() const noexcept { return facts_; }
  channel_kind kind_of_channels() const noexcept { return channels_; }
  // The text that identifies a claim, to other programs too.
  virtual std::string text_of(const retrying_owner&) const;
  // The owner that a guard compares: readers that hold a lock together have one.
  virtual std::string guarded_owner(const retrying_owner& o, const guarded_grant&) const {
    return text_of(o);
  }
  // Whether the holder that was found under some key can be one of this layout.
  virtual bool is_owner(std::string_view text) const noexcept;
  virtual std::string name_fault(std::string_view) const { return {}; }
  // Where the owner is a stamp: what a claim writes at that time, for a lease of that length.
  virtual std::chrono::microseconds stamp_at(std::chrono::microseconds wall, duration) const {
    return wall;
  }
  // Where a message says that the lock may be free; of layouts whose rules have a channel.
  virtual std::string channel_of(const lock_request&) const { return {}; }

  // Appends one request, which has one reply. Not for renewals.
  virtual void append(command_writer&, retrying_operation, const lock_request&) const = 0;
  // `r` carries what is known from the request. Of a request that is not awaited any more, nothing
  // but the kind of an error is used.
  // Unless it is overridden, as scripts answer: an acquire {1} granted | {0, what is left of the
  // holder's lease in ms} busy; anything else as compared() says.
  virtual retrying_reply read(const value&, const lock_request&, retrying_reply r) const;
  // Renewals of many locks, one request. Of its replies the last one counts.
  virtual std::uint32_t renewal_replies(std::size_t) const noexcept { return 1; }
  virtual void append_renewals(command_writer&, std::span<const lock_request>) const;
  // The reply to the one at `index` of them; unless it is overridden, an array for compared().
  virtual retrying_reply read_renewal(const value&, std::size_t index, retrying_reply r) const;
  // For an operator: reads the holders, and releases the lock of the owner that was seen. One
  // request each, with the text of its script. Holders without their name.
  virtual void append_holders_query(std::string& out, std::string_view key) const;
  virtual void append_break(std::string& out, std::string_view key, std::string_view seen) const;
  // Unless it is overridden: {owner, what is left of the lease in ms; -1: no end} | {} nobody.
  virtual std::vector<holder> read_holders_reply(const value&) const;
  bool read_break(const value&) const;  // whether it was released, as compared() says

 protected:
  retrying_reply read_compared(const value&, retrying_reply r) const;  // or an error

 private:
  const codec_facts& facts_;
  const channel_kind channels_;
};

// {high, low} as 32 hexadecimal digits.
std::string hex_of(const retrying_owner&);
// The reply that an error stands for.
retrying_reply refused_by(std::string_view error, std::span<const error_meaning> own_errors,
                          retrying_reply);
// Nothing that a script of this layout answers: the server is another one.
retrying_reply unreadable(retrying_reply) noexcept;
// Of a script that answers 1: done | 3: done, and another client was told | 0: another's | 2:
// nobody's.
retrying_reply compared(const value&, retrying_reply);
holder holder_of(std::string_view owner, duration rest_of_lease);

}  // namespace holdfast::redis
