// Locks for Boost.Asio: coroutines, callbacks, futures. The one header that includes Boost.
//
//   auto lease = co_await m.async_acquire({.ttl = 10s}, boost::asio::use_awaitable);
//   co_await lease.async_release(boost::asio::use_awaitable);
//
//   call                              | completes with
//   ----------------------------------+----------------------------------------------------------
//   m.async_acquire(options, token)   | (error_code, lease): waits as acquire()
//   m.async_acquire(token)            | the same with no options
//   m.async_try_acquire(o, token)     | (error_code, lease): one attempt; busy: no error, no lease
//   m.async_try_acquire_for(d, o, t)  | (error_code, lease): waits at most so long
//   s.async_acquire_shared(...) etc.  | the same for a share of a shared_mutex
//   multi.async_acquire(...) etc.     | (error_code, lease_set): all of them or none, as acquire();
//                                     | the locks must live until it completes
//   lease.async_release(token)        | (error_code): as release(); the lease is empty at once
//   lease_set.async_release(token)    | the same for all of them at once
//
// The error_code is Boost's, which a std::error_code takes as it is and which compares with
// holdfast::errc and holdfast::outcome. Options are copied before the call returns. The handler
// runs on its associated executor, never on a thread of the library and never inside the call. Its
// cancellation slot ends a wait, with errc::canceled, never a held lease; a grant that was faster
// completes. The mutex must live until the operation has begun, the context until it has completed;
// when the context ends first, what is granted later is given back.
#pragma once
#include <holdfast/async.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

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
    auto call = [handler = std::move(now.handler), code = boost::system::error_code(this->code_),
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

struct async_acquire_beginning {
  lock_mode how;
  wait_bound bound;
  std::string note;
  acquire_options options;

  async_acquire_beginning(lock_mode h, wait_bound b, const acquire_options& o)
      : how(h), bound(b), note(o.note), options(o) {}

  template <class Handler>
  void operator()(Handler&& h, const lockable_base* from) const {
    acquire_options o = options;
    o.note = note;
    const auto entry = entry_of<lease>(std::forward<Handler>(h));
    const auto client = client_of(*from);
    entry->start({&client, 1}, [&](bool may_be_withdrawn) {
      return acquire_of(*from, how, o, sizeof o, bound, may_be_withdrawn, entry);
    });
  }
};

struct async_release_beginning {
  template <class Handler>
  void operator()(Handler&& h, lease l) const {
    const auto entry = entry_of(std::forward<Handler>(h));
    const auto client = client_of(l);
    entry->start({&client, 1}, [&](bool) {
      begin_release(l, entry);
      return std::shared_ptr<async_operation>();
    });
  }
};

template <class Token>
auto async_take(lock_mode how, const lockable_base* from, wait_bound bound,
                const acquire_options& o, Token&& t) {
  return boost::asio::async_initiate<Token, void(boost::system::error_code, lease)>(
      async_acquire_beginning(how, bound, o), t, from);
}

}  // namespace detail

template <lock_mode mode>
template <class Token>
auto acquirable<mode>::async_acquire(const acquire_options& o, Token&& token) const {
  return detail::async_take(mode, this, detail::wait_bound::forever(), o, token);
}

template <lock_mode mode>
template <class Token>
auto acquirable<mode>::async_acquire(Token&& token) const {
  return detail::async_take(mode, this, detail::wait_bound::forever(), {}, token);
}

template <lock_mode mode>
template <class Token>
auto acquirable<mode>::async_try_acquire(const acquire_options& o, Token&& token) const {
  return detail::async_take(mode, this, detail::wait_bound::one_attempt(), o, token);
}

template <lock_mode mode>
template <class R, class P, class Token>
auto acquirable<mode>::async_try_acquire_for(std::chrono::duration<R, P> d,
                                             const acquire_options& o, Token&& token) const {
  const auto bound = detail::wait_bound::within(detail::to_nanoseconds(d));
  return detail::async_take(mode, this, bound, o, token);
}

template <class Token>
auto shared_mutex::async_acquire_shared(const acquire_options& o, Token&& token) const {
  return detail::async_take(lock_mode::shared, this, detail::wait_bound::forever(), o, token);
}

template <class Token>
auto shared_mutex::async_acquire_shared(Token&& token) const {
  return detail::async_take(lock_mode::shared, this, detail::wait_bound::forever(), {}, token);
}

template <class Token>
auto shared_mutex::async_try_acquire_shared(const acquire_options& o, Token&& token) const {
  return detail::async_take(lock_mode::shared, this, detail::wait_bound::one_attempt(), o, token);
}

template <class R, class P, class Token>
auto shared_mutex::async_try_acquire_shared_for(std::chrono::duration<R, P> d,
                                                const acquire_options& o, Token&& token) const {
  return detail::async_take(lock_mode::shared, this, within(d), o, token);
}

template <class Token>
auto lease::async_release(Token&& token) {
  return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
      detail::async_release_beginning(), token, std::move(*this));
}

}  // namespace v0
}  // namespace holdfast

#include <holdfast/asio_several.hpp>
