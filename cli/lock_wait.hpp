// From the URL to the lease.
#pragma once
#include <holdfast/client.hpp>

#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "cli/lease_terms.hpp"
#include "cli/signal_inbox.hpp"

namespace holdfast::cli {

class lock_wait {
 public:
  lock_wait(const run_arguments& arguments, signal_inbox& signals)
      : arguments_(arguments), signals_(signals) {}

  // 0 when the answer is granted or busy (lease() is empty then); else the signal that ended the
  // wait, with nothing held. Throws lock_error and usage_error.
  int obtain();

  lease& held() noexcept { return lease_; }
  const client& where() const noexcept { return *client_; }
  bool has_ttl() const noexcept { return client_->features().ttl; }
  const lease_terms& terms() const noexcept { return terms_; }
  const std::vector<std::string>& secret_variables() const noexcept { return secret_variables_; }

 private:
  std::string read_url();
  int open(const std::string& url_text);
  void refuse_useless_options() const;
  int try_once();
  int wait_for_turn();
  void make_firm();
  int give_up(int signal);

  const run_arguments& arguments_;
  signal_inbox& signals_;
  bool local_ = false;  // nothing of it can hang on a network
  std::optional<client> client_;
  lease lease_;
  lease_terms terms_;
  std::vector<std::string> secret_variables_;
};

}  // namespace holdfast::cli
