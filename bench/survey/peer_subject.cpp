#include "survey/peer_subject.hpp"

#include <holdfast/error.hpp>

#include <chrono>

namespace survey {

using holdfast::testkit::line_peer;

peer_subject::peer_subject(std::shared_ptr<line_peer> peer, peer_words words, const load& l)
    : peer_(std::move(peer)), words_(std::move(words)), own_locks_(l.own_locks) {}

std::string peer_subject::perform(unsigned worker, const std::string& verb,
                                  const std::string& more) {
  const std::string name = words_.name + '-' + std::to_string(own_locks_ ? worker : 0);
  const std::string line = client_of(worker) + " worker-" + std::to_string(worker) + ' ' + verb +
                           ' ' + words_.type + ' ' + name + more;
  std::unique_lock sending(sending_);
  const line_peer::call call = peer_->send(line);
  sending.unlock();
  const auto answer = call.wait();
  if (!answer.ok)
    throw holdfast::lock_error(holdfast::errc::unavailable, {.operation = verb,
                                                             .lock = name,
                                                             .backend = {},
                                                             .text = answer.text});
  return answer.text;
}

bool peer_subject::acquire(unsigned worker, std::chrono::milliseconds wait, std::stop_token) {
  const std::string limit = ' ' + std::to_string(wait.count());
  const std::string answer = perform(worker, "try", limit + words_.lease);
  return answer == "true" || answer == "True";
}

void peer_subject::release(unsigned worker) { perform(worker, "unlock"); }

std::string client_of(unsigned worker) { return "client-" + std::to_string(worker % most_clients); }

void open_clients(line_peer& peer, const std::string& address) {
  for (unsigned i = 0; i < most_clients; ++i) {
    const auto answer = peer.ask(client_of(i) + " main open " + address);
    if (!answer.ok) throw subject_missing("skipped: the peer does not connect: " + answer.text);
  }
}

void warm_up(line_peer& peer, const peer_words& words) {
  using std::chrono::nanoseconds;
  constexpr std::chrono::seconds length{4};
  const nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();  // the JVM's too
  const std::string locks = words.type + ' ' + words.name + "-warm-up-#";
  const std::string window =
      std::to_string(now.count()) + ' ' + std::to_string((now + nanoseconds(length)).count());
  const auto answer = peer.ask(client_of(0) + " main contenders " + locks + " 8 " + window);
  if (!answer.ok) throw subject_missing("skipped: the peer cannot lock: " + answer.text);
}

std::string address_in(const std::string& url) {
  const auto begin = url.find("://");
  const auto from = begin == std::string::npos ? 0 : begin + 3;
  return url.substr(from, url.find_first_of("/?", from) - from);
}

}  // namespace survey
