// The real lock of another library, in a program of its own, as the survey sees it.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "survey/subject.hpp"
#include "testkit/peers/line_peer.hpp"

namespace survey {

// How the program of a library is used: testkit/peers describes its commands.
struct peer_words {
  std::string type, name;  // of the lock; each worker's own locks have a number behind the name
  std::string lease;       // behind the wait of `try`
};

// A call of a worker is a line to the program and its answer, which takes about 0.1 ms more than a
// call inside of it.
class peer_subject final : public subject {
 public:
  peer_subject(std::shared_ptr<holdfast::testkit::line_peer>, peer_words, const load&);

  bool acquire(unsigned worker, std::chrono::milliseconds wait, std::stop_token) override;
  void release(unsigned worker) override;
  std::vector<pid_t> processes() const override { return {peer_->pid()}; }

 private:
  std::string perform(unsigned worker, const std::string& verb, const std::string& more = {});

  const std::shared_ptr<holdfast::testkit::line_peer> peer_;
  const peer_words words_;
  const bool own_locks_;
  std::mutex sending_;
};

// Opens the clients of the peer, named client-0, client-1 and so on. Throws subject_missing.
void open_clients(holdfast::testkit::line_peer&, const std::string& address);
std::string client_of(unsigned worker);
// Has threads of a JVM acquire and release locks of this type for some seconds.
void warm_up(holdfast::testkit::line_peer&, const peer_words&);

// The address in the URL "SCHEME://ADDRESS/...?...".
std::string address_in(const std::string& url);

}  // namespace survey
