// The library's side of holdfast/asio.hpp; without Boost.
#include <holdfast/async.hpp>

#include <string>
#include <utility>

#include "core/async_operation.hpp"
#include "core/parker.hpp"
#include "core/request.hpp"
#include "core/turn.hpp"
#include "core/waiter.hpp"

namespace holdfast::inline v0::detail {

using core::failure;

void async_operation::tell(const std::shared_ptr<async_answer>& to, std::error_code code,
                           turn* granted, client_impl& client,
                           std::shared_ptr<void> to_end) noexcept {
  lease taken(granted);
  if (to->answered(code, taken, to_end)) return;
  const auto left = std::make_shared<lease>(std::move(taken));
  const std::shared_ptr<core::worker> elsewhere = client.env().make_worker("holdfast-end");
  elsewhere->post([elsewhere, left, end = std::move(to_end)] { left->unlock(); });
}

namespace {

class async_acquire final : public async_operation, private core::waiter {
 public:
  async_acquire(slot& s, const request& r, wait_bound bound, bool may_be_withdrawn,
                std::shared_ptr<async_answer> a)
      : home_(s),
        client_(s.client().shared_from_this()),
        answer_(std::move(a)),
        note_(r.how.note),
        bound_(bound) {
    r.put_into(*this);
    how.note = note_;
    if (!may_be_withdrawn) return;
    is_user_ = true;
    home_.add_user();
  }
  ~async_acquire() override {
    if (is_user_) home_.drop_user();
  }

  void begin(std::shared_ptr<async_operation> self) override {
    self_ = std::move(self);
    home_.begin(*this, bound_);
  }
  void complete() noexcept override {
    if (!granted) home_.drop_user();
    const bool well = granted || (bound_.is_try() && why.code == outcome::busy);
    tell(answer_, well ? std::error_code() : why.code, granted, *client_, std::move(self_));
  }
  void withdraw() noexcept override {
    home_.withdraw(*this);
    see_to(*client_);
  }

 private:
  slot& home_;
  std::shared_ptr<client_impl> client_;
  std::shared_ptr<async_answer> answer_;
  std::shared_ptr<async_operation> self_;  // until it is answered
  const std::string note_;
  const wait_bound bound_;
  bool is_user_ = false;
};

struct async_release final : core::inquiry {
  async_release(slot& s, std::error_code code, std::shared_ptr<async_answer> a)
      : home(s), client(s.client().shared_from_this()), lost(code), answer(std::move(a)) {}
  void complete() noexcept override {
    home.drop_user();
    std::error_code code = why.code == errc::not_held ? make_error_code(errc::lost) : why.code;
    if (lost) code = lost;
    async_operation::tell(answer, code, nullptr, *client, std::move(self));
  }
  slot& home;
  const std::shared_ptr<client_impl> client;
  const std::error_code lost;
  const std::shared_ptr<async_answer> answer;
  std::shared_ptr<async_release> self;  // until it is answered
};

struct async_extension final : core::inquiry {
  async_extension(slot& s, answer_to a)
      : home(s), client(s.client().shared_from_this()), answer(std::move(a)) {}
  void complete() noexcept override {
    home.drop_user();
    async_operation::tell(answer, why.code, nullptr, *client, std::move(self));
  }
  slot& home;  // of which it is a user
  const std::shared_ptr<client_impl> client;
  const answer_to answer;
  std::shared_ptr<async_extension> self;  // until it is answered
};

class async_loss_wait final : public async_operation, private core::loss_watch {
 public:
  async_loss_wait(turn& t, answer_to a)
      : home_(t.home), client_(home_.client().shared_from_this()), answer_(std::move(a)), on_(t) {
    home_.add_user();
  }
  ~async_loss_wait() override { home_.drop_user(); }

  void begin(async_op self) override {
    self_ = std::move(self);
    home_.watch(on_, *this);
  }
  void complete() noexcept override {
    tell(answer_, why.code, nullptr, *client_, std::move(self_));
  }
  void withdraw() noexcept override { home_.end_watch(*this); }

 private:
  slot& home_;  // of which it is a user
  const std::shared_ptr<client_impl> client_;
  const answer_to answer_;
  async_op self_;  // until it is answered
  turn& on_;
};

class turn_watch final : public core::afterwards {
 public:
  explicit turn_watch(std::shared_ptr<async_answers> to) : to_(std::move(to)) {}
  void turn_ended() noexcept override {
    const std::unique_ptr<turn_watch> self(this);
    to_->turn_ended();
  }

 private:
  const std::shared_ptr<async_answers> to_;
};

}  // namespace

async_op acquire_of(const lockable_base& from, lock_mode how, const acquire_call& c,
                    bool may_be_withdrawn, answer_to a) {
  slot& home = async_operation::home_of(from);
  request asked;
  const acquire_options o = options_of(c, async_operation::defaults_of(from));
  if (const failure why = asked.read(how, o, c.bound, home); why.code) {
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
  op->self = op;
  t->home.add_user();
  t->home.begin_extend(*t, ttl, *op);
}

void begin_release(lease& l, answer_to a) {
  const std::error_code status = l.status();
  turn* const leaving = async_operation::empty(l);
  const bool ours = leaving && leaving->is_of_this_process();
  if (!ours || leaving->leases.fetch_sub(1, std::memory_order_acq_rel) > 1)
    return answer_at_once(*a, status);
  slot& home = leaving->home;
  const std::error_code lost = status == outcome::lost ? status : std::error_code();
  const auto op = std::make_shared<async_release>(home, lost, std::move(a));
  op->self = op;
  home.begin_release(*leaving, *op);
}

std::shared_ptr<client_impl> client_of(const lockable_base& l) {
  return async_operation::home_of(l).client().shared_from_this();
}

std::shared_ptr<client_impl> client_of(const lease& l) {
  turn* const t = async_operation::turn_of(l);
  return t ? t->home.client().shared_from_this() : nullptr;
}

void see_to(client_impl& c) noexcept {
  if (!c.is_of_this_process()) return;
  core::backend& store = c.store();
  store.flush();
  if (core::driver* const d = store.lend()) d->attend();
}

void after_turn(std::shared_ptr<async_answers> to) {
  core::waking_together::then(*new turn_watch(std::move(to)));
}

}  // namespace holdfast::inline v0::detail
