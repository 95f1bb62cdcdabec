#include "survey/peer_subject.hpp"
#include "testkit/peers/curator_peer.hpp"
#include "testkit/peers/kazoo_peer.hpp"

namespace survey {
namespace {

using holdfast::testkit::curator_peer;
using holdfast::testkit::kazoo_peer;
using holdfast::testkit::line_peer;

// The last one is kept: a JVM gets faster for several seconds.
template <class Peer, class Start, class Prepare>
std::shared_ptr<line_peer> peer_at(const std::string& address, Start start, Prepare prepare) {
  static std::shared_ptr<line_peer> kept;
  static std::string kept_address;
  if (kept && kept_address == address) return kept;
  if (const std::string& why = Peer::unavailable(); !why.empty()) throw subject_missing(why);
  kept = nullptr;
  const std::shared_ptr<line_peer> started = start();
  open_clients(*started, address);
  prepare(*started);
  kept = started;
  kept_address = address;
  return kept;
}

}  // namespace

std::unique_ptr<subject> real_curator(const deployment& where, const load& l) {
  const peer_words words{.type = "mutex", .name = "/survey-curator", .lease = {}};
  const auto prepare = [&words](line_peer& p) { warm_up(p, words); };
  const auto peer = peer_at<curator_peer>(
      address_in(where.url()),
      [] { return std::make_shared<curator_peer>(curator_peer::tuning::full_speed); }, prepare);
  return std::make_unique<peer_subject>(peer, words, l);
}

std::unique_ptr<subject> real_kazoo(const deployment& where, const load& l) {
  const auto peer = peer_at<kazoo_peer>(
      address_in(where.url()), [] { return std::make_shared<kazoo_peer>(); }, [](line_peer&) {});
  const peer_words words{.type = "lock", .name = "/survey-kazoo", .lease = {}};
  return std::make_unique<peer_subject>(peer, words, l);
}

}  // namespace survey
