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

// A claim to which this is said as the answer to what it asks, and to each question it puts then.
void hear(recipe claim, reply said) {
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
      recipe claim;
      (void)claim.acquire({.one_attempt = one_attempt, .ttl = ttl, .mode = how}, begun, usual);
      hear(claim, said);
      (void)claim.cancel(begun + 1ms, usual);
      hear(claim, said);
    }
  }
  recipe gathered;
  (void)gathered.acquire({.one_attempt = true,
                          .ttl = ttl,
                          .group = holdfast::core::lock_group::of(2)},
                         begun, usual);
  hear(gathered, said);
}

// One that was granted the lock, and asks this.
void hear_as_holder(const reply& said) {
  recipe claim;
  (void)claim.acquire({.ttl = ttl}, begun, usual);
  reply granted = asked(operation::take);
  granted.what = reply::verdict::granted;
  granted.epoch = claim.epoch();
  granted.number = 7;
  (void)claim.on(granted, begun + 1ms, usual);
  recipe renews = claim, shares = claim, leaves = claim;
  (void)renews.renew(ttl, begun + 1ms, usual);
  hear(renews, said);
  (void)shares.downgrade(begun + 1ms, usual);
  hear(shares, said);
  (void)leaves.release(begun + 1ms, usual);
  hear(leaves, said);
}

void read(const value& v) {
  const std::array answers{
      read_join(v, asked(operation::join)).to_claim,
      read_next(v, asked(operation::join)).to_claim,
      read_resolve(v, asked(operation::resolve)).to_claim,
      read_released(v, asked(operation::release)).to_claim,
      read_released(v, asked(operation::downgrade)).to_claim,
      read_take(v[0], v[1], asked(operation::take)),
      read_let_go(v, asked(operation::let_go)),
      read_gathered(v, 0, 3, asked(operation::gather)),
      read_gathered(v, 2, 3, asked(operation::gather)),
      read_glance(v, asked(operation::glance)),
      read_line(v, asked(operation::peek_line)),
      read_error(v, asked(operation::renew)),
  };
  for (const reply& said : answers) {
    hear_as_any(said);
    hear_as_holder(said);
  }
  (void)explain_reply(v.text());
  (void)text_of_glance(v);
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
