#include "survey/peer_subject.hpp"
#include "testkit/peers/redisson_peer.hpp"

namespace survey {
namespace {

using holdfast::testkit::redisson_peer;

const peer_words words_of_redisson{.type = "lock", .name = "survey-peer", .lease = " -1"};

// The last one is kept: a JVM gets faster for several seconds.
std::shared_ptr<redisson_peer> redisson_at(const std::string& address) {
  static std::shared_ptr<redisson_peer> kept;
  static std::string kept_address;
  if (kept && kept_address == address) return kept;
  if (const std::string& why = redisson_peer::unavailable(); !why.empty())
    throw subject_missing(why);
  kept = nullptr;
  const auto started = std::make_shared<redisson_peer>(redisson_peer::tuning::full_speed);
  open_clients(*started, "redis://" + address);
  warm_up(*started, words_of_redisson);
  kept = started;
  kept_address = address;
  return kept;
}

}  // namespace

std::unique_ptr<subject> real_redisson(const deployment& where, const load& l) {
  return std::make_unique<peer_subject>(redisson_at(address_in(where.url())), words_of_redisson, l);
}

}  // namespace survey
