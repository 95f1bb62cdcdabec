// The library's side of holdfast/asio.hpp; needs no Boost.
#include <holdfast/detail/async.hpp>

#include <string>
#include <utility>

#include "api/async_operation.hpp"
#include "base/parker.hpp"
#include "cohort/checked_request.hpp"
#include "cohort/turn.hpp"
#include "cohort/waiter.hpp"

namespace holdfast::inline v0::detail {

using base::failure;

void async_operation::deliver_answer(const std::shared_ptr<async_answer>& to, std::error_code code,
                                     turn* granted, client_impl& client,
                                     std::shared_ptr<void> to_end) noexcept {
  lease taken(granted);
  if (to->answered(code, taken, to_end)) return;
  const auto left = std::make_shared<lease>(std::move(taken));
  const std::shared_ptr<base::worker> elsewhere = client.env().make_worker("holdfast-end");
  elsewhere->post([elsewhere, left, end = std::move(to_end)] { left->unlock(); });
}

namespace {

// A pending operation. It keeps the local_lock alive and is completed exactly once.
class pending_call {
 public:
  void keep(std::shared_ptr<void> self) noexcept { self_ = std::move(self); }

 protected:
  pending_call(local_lock& s, answer_to a)
      : home(s), client_(s.client().shared_from_this()), answer_(std::move(a)) {}
  ~pending_call() = default;
  void answer(std::error_code code, turn* granted = nullptr) noexcept {
    async_operation::deliver_answer(answer_, code, granted, *client_, std::move(self_));
  }
  client_impl& client() const noexcept { return *client_; }

  local_lock& home;

 private:
  const std::shared_ptr<client_impl> client_;
  const answer_to answer_;
  std::shared_ptr<void> self_;
};

class async_acquire final : public async_operation, private cohort::waiter, private pending_call {
 public:
  async_acquire(local_lock& s, const checked_request& r, wait_bound bound, bool may_be_withdrawn,
                answer_to a)
      : pending_call(s, std::move(a)), note_(r.request.note), bound_(bound) {
    r.put_into(*this);
    request.note = note_;
    if (!may_be_withdrawn) return;
    is_user_ = true;
    home.add_user();
  }
  ~async_acquire() override {
    if (is_user_) home.drop_user();
  }

  void begin(async_op self) override {
    keep(std::move(self));
    home.begin(*this, bound_);
  }
  void complete() noexcept override {
    if (!granted) home.drop_user();
    const bool well = granted || (bound_.is_try() && why.code == outcome::busy);
    answer(well ? std::error_code() : why.code, granted);
  }
  void withdraw() noexcept override {
    home.withdraw(*this);
    flush_client(client());
  }

 private:
  const std::string note_;
  const wait_bound bound_;
  bool is_user_ = false;
};

struct async_release final : cohort::confirmation, pending_call {
  async_release(local_lock& s, std::error_code code, answer_to a)
      : pending_call(s, std::move(a)), lost(code) {}
  void complete() noexcept override {
    home.drop_user();
    const bool is_taken = why.code == errc::not_held;
    answer(lost ? lost : is_taken ? make_error_code(errc::lost) : why.code);
  }
  const std::error_code lost;
};

struct async_extension final : cohort::confirmation, pending_call {
  async_extension(local_lock& s, answer_to a) : pending_call(s, std::move(a)) {}
  void complete() noexcept override {
    home.drop_user();
    answer(why.code);
  }
};

class async_loss_wait final : public async_operation,
                              private cohort::loss_watch,
                              private pending_call {
 public:
  async_loss_wait(turn& t, answer_to a) : pending_call(t.home, std::move(a)), on_(t) {
    home.add_user();
  }
  ~async_loss_wait() override { home.drop_user(); }

  void begin(async_op self) override {
    keep(std::move(self));
    home.watch(on_, *this);
  }
  void complete() noexcept override { answer(why.code); }
  void withdraw() noexcept override { home.end_watch(*this); }

 private:
  turn& on_;
};

class turn_watch final : public base::end_of_batch {
 public:
  explicit turn_watch(std::shared_ptr<async_answers> to) : to_(std::move(to)) {}
  void batch_ended() noexcept override {
    const std::unique_ptr<turn_watch> self(this);
    to_->turn_ended();
  }

 private:
  const std::shared_ptr<async_answers> to_;
};

}  // namespace

async_op acquire_of(const lockable_base& from, lock_mode mode, const acquire_call& c,
                    bool may_be_withdrawn, answer_to a) {
  local_lock& home = async_operation::home_of(from);
  checked_request asked;
  const acquire_options o = options_of(c, async_operation::defaults_of(from));
  if (const failure why = asked.read(mode, o, home); why.code) {
    answer_at_once(*a, why.code);
    return nullptr;
  }
  return std::make_shared<async_acquire>(home, asked, c.bound, may_be_withdrawn, std::move(a));
}

async_op loss_wait_of(const lease& l, answer_to a) {
  turn* const t = async_operation::turn_of(l);
  if (t && t->is_of_this_process()) return std::make_shared<async_loss_wait>(*t, std::move(a));
  answer_at_once(*a, l.status());
  return nullptr;
}

void begin(const async_op& op) { op->begin(op); }

void withdraw(async_operation& op) noexcept { op.withdraw(); }

void begin_extension(const lease& l, std::chrono::milliseconds ttl, answer_to a) {
  turn* const t = async_operation::turn_of(l);
  if (const failure why = extension_fault(t, ttl); why.code) return answer_at_once(*a, why.code);
  const auto op = std::make_shared<async_extension>(t->home, std::move(a));
  op->keep(op);
  t->home.add_user();
  t->home.begin_extend(*t, ttl, *op);
}

void begin_release(lease& l, answer_to a) {
  const std::error_code status = l.status();
  turn* const leaving = async_operation::empty(l);
  const bool ours = leaving && leaving->is_of_this_process();
  if (!ours || leaving->leases.fetch_sub(1, std::memory_order_acq_rel) > 1)
    return answer_at_once(*a, status);
  local_lock& home = leaving->home;
  const std::error_code lost = status == outcome::lost ? status : std::error_code();
  const auto op = std::make_shared<async_release>(home, lost, std::move(a));
  op->keep(op);
  home.begin_release(*leaving, *op);
}

std::shared_ptr<client_impl> client_of(const lockable_base& l) {
  return async_operation::home_of(l).client().shared_from_this();
}

std::shared_ptr<client_impl> client_of(const lease& l) {
  turn* const t = async_operation::turn_of(l);
  return t ? t->home.client().shared_from_this() : nullptr;
}

void flush_client(client_impl& c) noexcept {
  if (!c.is_of_this_process()) return;
  seam::connection& over = c.connection();
  over.flush();
  if (base::caller_driver* const d = over.driver()) d->attend();
}

void after_turn(std::shared_ptr<async_answers> to) {
  base::wake_batch::then(*new turn_watch(std::move(to)));
}

}  // namespace holdfast::inline v0::detail
