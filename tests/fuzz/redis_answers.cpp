// Whatever a script of ours is said to have answered is read as an outcome, and a claim that hears
// it goes on.
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/recipes/queueing.hpp"
#include "backend/redis/transport/resp.hpp"

namespace {

using namespace std::chrono_literals;
using namespace holdfast::redis;
using holdfast::lock_mode;

constexpr timing usual{.op_timeout = 5s};
constexpr time_point begun{1000s};
constexpr duration ttl = 3s;

reply asked(operation to) {
  reply q;
  q.to = to;
  q.ttl = ttl;
  q.sent = begun;
  return q;
}

// A claim that gets this reply to its request, and to each request that it sends then.
void hear(queueing_recipe claim, reply said) {
  for (int i = 0; i < 4; ++i) {
    said.epoch = claim.epoch();
    (void)claim.on(said, begun + 1ms, usual);
    (void)claim.on_wake(begun + 2ms, usual);
  }
  (void)claim.give_up(holdfast::errc::closed);
}

void hear_as_any(const reply& said) {
  for (const auto how : {lock_mode::exclusive, lock_mode::shared, lock_mode::permit}) {
    for (const bool one_attempt : {false, true}) {
      queueing_recipe claim;
      (void)claim.acquire({.one_attempt = one_attempt, .ttl = ttl, .mode = how}, begun, usual);
      hear(claim, said);
      (void)claim.cancel(begun + 1ms, usual);
      hear(claim, said);
    }
  }
  queueing_recipe gathered;
  (void)gathered.acquire({.one_attempt = true,
                          .ttl = ttl,
                          .group = holdfast::seam::lock_group::of(2)},
                         begun, usual);
  hear(gathered, said);
}

// One that was granted the lock, and asks this.
void hear_as_holder(const reply& said) {
  queueing_recipe claim;
  (void)claim.acquire({.ttl = ttl}, begun, usual);
  reply granted = asked(operation::try_lock);
  granted.what = reply::verdict::granted;
  granted.epoch = claim.epoch();
  granted.number = 7;
  (void)claim.on(granted, begun + 1ms, usual);
  queueing_recipe renews = claim, shares = claim, leaves = claim;
  (void)renews.renew(ttl, begun + 1ms, usual);
  hear(renews, said);
  (void)shares.downgrade(begun + 1ms, usual);
  hear(shares, said);
  (void)leaves.release(begun + 1ms, usual);
  hear(leaves, said);
}

void read(const value& v) {
  const std::array answers{
      read_lock_or_queue(v, asked(operation::lock_or_queue)).to_claim,
      read_successor(v, asked(operation::lock_or_queue)).to_claim,
      read_resolve(v, asked(operation::resolve)).to_claim,
      read_released(v, asked(operation::release)).to_claim,
      read_released(v, asked(operation::downgrade)).to_claim,
      read_try_lock(v[0], v[1], asked(operation::try_lock)),
      read_release_uncontended(v, asked(operation::release_uncontended)),
      read_lock_all(v, 0, 3, asked(operation::lock_all)),
      read_lock_all(v, 2, 3, asked(operation::lock_all)),
      read_kind(v, asked(operation::peek_kind)),
      read_waiters(v, asked(operation::check_waiters)),
      read_error(v.text(), asked(operation::renew)),
  };
  for (const reply& said : answers) {
    hear_as_any(said);
    hear_as_holder(said);
  }
  (void)explain_reply(v.text());
  (void)text_of_kind(v);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reply_reader reader;
  (void)reader.feed(std::as_bytes(std::span(data, size)));
  (void)reader.for_each([](const value& v) {
    read(v);
    return true;
  });
  return 0;
}
