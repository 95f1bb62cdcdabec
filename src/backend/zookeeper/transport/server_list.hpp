// The servers of an ensemble in an order of this client's own, and the pauses between attempts.
#pragma once
#include <vector>

#include "base/environment.hpp"
#include "base/network.hpp"

namespace holdfast::zookeeper {

class server_list {
 public:
  // Shuffled, so that many clients spread over the servers.
  server_list(std::vector<base::address> all, base::duration retry_base, base::environment&);

  const base::address& current() const noexcept { return all_[at_]; }
  std::size_t size() const noexcept { return all_.size(); }
  void advance() noexcept { at_ = (at_ + 1) % all_.size(); }
  // An attempt failed, or a connection was lost: goes to the next server. Returns the pause before
  // it is tried: none until each has been tried once, then one that doubles with each round.
  base::duration on_failed();
  void on_attached() noexcept { failures_ = 0; }

 private:
  base::environment& env_;
  std::vector<base::address> all_;
  const base::duration retry_base_;
  std::size_t at_ = 0;
  unsigned failures_ = 0;  // since the last success
};

}  // namespace holdfast::zookeeper
