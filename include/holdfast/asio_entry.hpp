// The operations of holdfast/asio.hpp: from their beginning to their handlers. Include that one.
#pragma once
#include <holdfast/async.hpp>

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

// A Boost error_code that carries a std one never equals error_code{}, whatever it carries, so
// success is a plain one.
inline boost::system::error_code boost_code(const std::error_code& code) noexcept {
  return code ? boost::system::error_code(code) : boost::system::error_code();
}

// The token that a call gives, else use_awaitable.
inline const boost::asio::use_awaitable_t<>& token_of() noexcept {
  return boost::asio::use_awaitable;
}
template <class Token>
Token&& token_of(Token& token) noexcept {
  return static_cast<Token&&>(token);
}

// Ends the operations of a context that ends.
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

// `Result`: lease, or nothing.
template <class Handler, class... Result>
class async_entry_for final : public async_entry {
 public:
  using executor = boost::asio::associated_executor_t<Handler>;

  async_entry_for(Handler h, const executor& e)
      : async_entry(box_of(e)),
        parts_(parts{std::move(h),
                     boost::asio::prefer(e, boost::asio::execution::outstanding_work.tracked)}) {}

  // What an operation does that begins: `make` gives what is to begin and can be withdrawn, or null
  // when that is done. Then the clients that it is about are seen to. As soon as it has begun its
  // handler may run on another thread, and the slot is not ours any more.
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
        this->box_->begun(c,
                          [&] { boost::asio::post(e, [box = this->box_] { box->see_to_all(); }); });
  }

 private:
  using tracking =
      std::decay_t<decltype(boost::asio::prefer(std::declval<const executor&>(),
                                                boost::asio::execution::outstanding_work.tracked))>;
  struct parts {
    Handler handler;
    tracking work;
  };

  // The slot is the user's: it is used by threads of the user only, and cleared before the handler.
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

// The entry of an operation that completes with `Result`, if with any.
template <class... Result, class Handler>
auto entry_of(Handler&& h) {
  const auto executor = boost::asio::get_associated_executor(h);
  return std::make_shared<async_entry_for<std::decay_t<Handler>, Result...>>(std::forward<Handler>(
                                                                                 h),
                                                                             executor);
}

// Options as a call gave them, kept until the operation begins.
class kept_options {
 public:
  explicit kept_options(const acquire_options* o)
      : given_(o != nullptr), note_(o ? o->note : std::string_view()) {
    if (o) options_ = *o;
  }
  // Calls f with what the library is asked.
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

// Begins what `begin` gives, or begins and withdraws nothing where it gives null.
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
