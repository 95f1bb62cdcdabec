// The library's side of acquiring several locks at once in holdfast/asio.hpp.
#include <algorithm>
#include <utility>

#include <holdfast/detail/multi_access.hpp>
#include <holdfast/multi_mutex.hpp>

#include "api/async_operation.hpp"
#include "multi/multi_acquire.hpp"

namespace holdfast::inline v0::detail {

// The user may destroy the locks before an operation on them ends: keeps local locks and clients.
class kept_local_locks {
 public:
  explicit kept_local_locks(std::span<const multi_acquire::asked> all) {
    for (const auto& [s, options] : all) {
      client_impl& c = s->client();
      const auto is_this = [&](const auto& known) { return known.get() == &c; };
      if (std::none_of(clients_.begin(), clients_.end(), is_this))
        clients_.push_back(c.shared_from_this());
      if (c.is_of_this_process()) local_locks_.emplace_back(s)->add_user();
    }
  }
  kept_local_locks(const kept_local_locks&) = delete;
  ~kept_local_locks() {
    for (local_lock* const s : local_locks_)
      if (s->client().is_of_this_process()) s->drop_user();
  }
  const std::vector<std::shared_ptr<client_impl>>& clients() const noexcept { return clients_; }

 private:
  std::vector<std::shared_ptr<client_impl>> clients_;
  std::vector<local_lock*> local_locks_;
};

// Its steps end on the user's threads: each step is answered as if it were an operation of its own.
class async_multi_acquire final : public async_operation,
                                  public kept_local_locks,
                                  private multi_acquire {
 public:
  async_multi_acquire(std::span<const multi_acquire::asked> all, wait_bound b)
      : kept_local_locks(all), multi_acquire(all, b), is_try_(b.is_try()) {
    own_notes();
  }

  void set_answer(std::shared_ptr<async_answer> a) noexcept { answer_ = std::move(a); }
  void begin(std::shared_ptr<async_operation> self) override {
    self_ = std::move(self);
    try {
      if (!advance()) return;  // from here on the next step may be in progress
    } catch (...) {            // no memory to begin it
      answer_.reset();
      self_.reset();
      throw;
    }
    is_over_ = true;
    step_answered();
  }
  void withdraw() noexcept override {
    multi_acquire::withdraw();
    for (const auto& c : clients()) flush_client(*c);
  }
  bool is_over() const noexcept { return is_over_; }
  lease_set result(std::error_code& code) {
    const bool well = !why().code || (is_try_ && why().code == outcome::busy);
    code = well ? std::error_code() : why().code;
    return why().code ? lease_set() : multi_access::set_of(*this);
  }

 private:
  void step_answered() noexcept override {
    const auto answer = std::move(answer_);
    client_impl& client = *clients().front();
    deliver_answer(answer, {}, nullptr, client, std::move(self_));
  }

  const bool is_try_;
  bool is_over_ = false;
  std::shared_ptr<async_answer> answer_;   // of the step in progress
  std::shared_ptr<async_operation> self_;  // until it is answered
};

std::shared_ptr<async_multi_acquire> taking_of(const multi_mutex& m, const acquire_call& c) {
  return std::make_shared<async_multi_acquire>(multi_access::asked_of(multi_access::locks_of(m), c),
                                               c.bound);
}

std::shared_ptr<async_multi_acquire> taking_of(const client& from, const lock_names& names,
                                               const acquire_call& c) {
  const named_locks locks(from, names);
  return std::make_shared<async_multi_acquire>(multi_access::asked_of(locks.all(), c), c.bound);
}

async_op step_of(const std::shared_ptr<async_multi_acquire>& t, answer_to a) {
  t->set_answer(std::move(a));
  return t;
}

void withdraw(async_multi_acquire& t) noexcept { t.withdraw(); }

bool is_over(const async_multi_acquire& t) noexcept { return t.is_over(); }

lease_set result_of(async_multi_acquire& t, std::error_code& code) { return t.result(code); }

std::vector<std::shared_ptr<client_impl>> clients_of(const async_multi_acquire& t) {
  return t.clients();
}

}  // namespace holdfast::inline v0::detail
