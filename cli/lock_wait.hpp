// From the URL to what a run holds.
#pragma once
#include <holdfast/client.hpp>

#include <optional>
#include <string>

#include "cli/holding.hpp"
#include "cli/lease_terms.hpp"
#include "cli/place.hpp"
#include "cli/run_arguments.hpp"
#include "cli/signal_inbox.hpp"

namespace holdfast::cli {

class lock_wait {
 public:
  // Throws lock_error: bad_url.
  lock_wait(const run_arguments& arguments, signal_inbox& signals)
      : arguments_(arguments), signals_(signals), at_(place_of(arguments.url)) {
    refuse_memory(at_);
  }

  // Closes the client where its requests would outlive this process: the nodes of a session, and
  // keys whose withdrawal is under way. Blocks for the URL's close-timeout at most.
  void leave() noexcept;

  // 0 when the answer is granted or busy (held() is empty then); else the signal that ended the
  // wait, with nothing held. Throws lock_error and usage_error.
  int obtain();

  holding& held() noexcept { return held_; }
  const client& where() const noexcept { return *client_; }
  bool has_ttl() const noexcept { return client_->features().ttl; }
  bool has_deadline() const noexcept { return client_->features().deadline; }
  const lease_terms& terms() const noexcept { return terms_; }
  const place& at() const noexcept { return at_; }

 private:
  int open();
  void refuse_useless_options() const;
  int try_once(bool waits);
  int wait_for_turn();
  void fit_terms_to_lease();
  int give_up(int signal);

  const run_arguments& arguments_;
  signal_inbox& signals_;
  const place at_;
  std::optional<client> client_;
  holding held_;
  lease_terms terms_;
};

}  // namespace holdfast::cli
