// Starts the operations of holdfast/asio.hpp and calls their handlers. Not for users to include.
#pragma once
#include <holdfast/detail/async.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

// A Boost error_code made from a std::error_code never equals error_code{}, not even on success, so
// success is returned as error_code{}.
inline boost::system::error_code boost_code(const std::error_code& code) noexcept {
  return code ? boost::system::error_code(code) : boost::system::error_code();
}

// The completion token of a call; use_awaitable when it has none.
inline const boost::asio::use_awaitable_t<>& token_of() noexcept {
  return boost::asio::use_awaitable;
}
template <class Token>
Token&& token_of(Token& token) noexcept {
  return static_cast<Token&&>(token);
}

// Abandons the operations of an execution context when that context shuts down.
class async_service final : public boost::asio::execution_context::service {
 public:
  using key_type = async_service;
  inline static boost::asio::execution_context::id id;
  explicit async_service(boost::asio::execution_context& c) : service(c) {}
  const std::shared_ptr<async_box>& box() const noexcept { return box_; }

 private:
  void shutdown() noexcept override { box_->end(); }
  const std::shared_ptr<async_box> box_ = std::make_shared<async_box>();
};

template <class Executor>
const std::shared_ptr<async_box>& box_of(const Executor& e) {
  auto& context = boost::asio::query(e, boost::asio::execution::context);
  return boost::asio::use_service<async_service>(context).box();
}

// The entry of an operation whose handler takes an error_code and `Result`: a lease, or nothing.
template <class Handler, class... Result>
class async_entry_for final : public async_entry {
 public:
  using executor = boost::asio::associated_executor_t<Handler>;

  async_entry_for(Handler h, const executor& e)
      : async_entry(box_of(e)),
        parts_(parts{std::move(h),
                     boost::asio::prefer(e, boost::asio::execution::outstanding_work.tracked)}) {}

  // Begins an operation. `make` returns the operation to begin, which can be withdrawn; null when
  // there is nothing to begin or to withdraw. Then the requests of `clients` are sent. As soon as
  // the operation has begun, its handler may run on another thread, so the cancellation slot is
  // assigned before.
  template <class Make>
  void start(std::span<const std::shared_ptr<client_impl>> clients, Make make) {
    const auto slot = boost::asio::get_associated_cancellation_slot(parts_->handler);
    const executor e = boost::asio::get_associated_executor(parts_->handler);
    this->box_->add(*this);
    const auto op = make(slot.is_connected());
    if (op && slot.is_connected()) withdraw_by(slot, op);
    if (op) begin(op);
    for (const auto& c : clients)
      if (c)
        this->box_->begun(c, [&] {
          boost::asio::post(e, [box = this->box_] { box->flush_clients(); });
        });
  }

 private:
  using tracking =
      std::decay_t<decltype(boost::asio::prefer(std::declval<const executor&>(),
                                                boost::asio::execution::outstanding_work.tracked))>;
  struct parts {
    Handler handler;
    tracking work;
  };

  // The slot belongs to the user: only the user's threads use it, and it is cleared before the
  // handler runs.
  template <class Slot>
  void withdraw_by(Slot slot, std::shared_ptr<async_operation> op) {
    slot.assign([op = std::move(op)](boost::asio::cancellation_type) { withdraw(*op); });
  }
  void post_delivery(std::shared_ptr<async_box> b) override {
    boost::asio::post(parts_->work, [box = std::move(b)] { box->deliver(); });
  }
  void deliver() override {
    parts now = std::move(*parts_);
    parts_.reset();
    clear_slot(now.handler);
    const auto end = std::move(this->to_end_);
    auto call = [handler = std::move(now.handler), code = boost_code(this->code_),
                 taken = std::move(this->lease_)]() mutable {
      std::move(handler)(code, Result(std::move(taken))...);
    };
    boost::asio::dispatch(now.work, std::move(call));
  }
  void abandon() noexcept override {
    const auto end = std::move(this->to_end_);
    this->lease_.unlock();
    clear_slot(parts_->handler);
    parts_.reset();
  }
  static void clear_slot(const Handler& h) noexcept {
    auto slot = boost::asio::get_associated_cancellation_slot(h);
    if (slot.is_connected()) slot.clear();
  }

  std::optional<parts> parts_;
};

// Makes the entry of an operation with this handler.
template <class... Result, class Handler>
auto entry_of(Handler&& h) {
  const auto executor = boost::asio::get_associated_executor(h);
  return std::make_shared<async_entry_for<std::decay_t<Handler>, Result...>>(std::forward<Handler>(
                                                                                 h),
                                                                             executor);
}

// A copy of a call's options, kept until the operation begins.
class kept_options {
 public:
  explicit kept_options(const acquire_options* o)
      : given_(o != nullptr), note_(o ? o->note : std::string_view()) {
    if (o) options_ = *o;
  }
  // Returns f(the arguments of the blocking verb).
  template <class F>
  auto with_call(wait_bound b, F f) const {
    acquire_options o = options_;
    o.note = note_;
    return f(acquire_call(b, given_ ? &o : nullptr));
  }

 private:
  bool given_;
  std::string note_;
  acquire_options options_;
};

// Begins the operation that `begin` returns; null: it has been answered already.
struct async_step {
  template <class Handler, class Begin>
  void operator()(Handler&& h, const std::vector<std::shared_ptr<client_impl>>& clients,
                  const Begin& begin) const {
    const auto entry = entry_of(std::forward<Handler>(h));
    entry->start(clients, [&](bool) { return begin(entry); });
  }
};

template <class Op, class Begin>
void begin_step(Op& self, std::vector<std::shared_ptr<client_impl>> clients, Begin begin) {
  boost::asio::async_initiate<Op, void(boost::system::error_code)>(async_step(), self,
                                                                   std::move(clients), begin);
}

}  // namespace detail
}  // namespace v0
}  // namespace holdfast
