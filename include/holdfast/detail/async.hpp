// The part of holdfast/asio.hpp that needs no Boost. Not for users to name.
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/detail/fwd.hpp>
#include <holdfast/holder.hpp>
#include <holdfast/lock_names.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/multi_mutex.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

// Receives the answer of one operation.
class async_answer {
 public:
  // Called once, on any thread, perhaps within the call that began the operation. Takes the lease,
  // and `to_end`, which must be destroyed on a thread of the user. Returns false when the context
  // has ended: then nothing was taken.
  virtual bool answered(std::error_code, lease&, std::shared_ptr<void>& to_end) noexcept = 0;

 protected:
  ~async_answer() = default;
};

// Is notified when a thread of the library has dispatched all events it has.
class async_answers {
 public:
  virtual void turn_ended() noexcept = 0;

 protected:
  ~async_answers() = default;
};

inline void answer_at_once(async_answer& to, std::error_code code) noexcept {
  lease nothing;
  std::shared_ptr<void> no_end;
  (void)to.answered(code, nothing, no_end);
}

// An operation that can be withdrawn. The functions that return it return null when they have
// answered at once with an error; else the caller calls begin().
using async_op = std::shared_ptr<async_operation>;
using answer_to = std::shared_ptr<async_answer>;
HOLDFAST_API async_op acquire_of(const lockable_base&, lock_mode, const acquire_call&,
                                 bool may_be_withdrawn, answer_to);
HOLDFAST_API async_op loss_wait_of(const lease&, answer_to);
HOLDFAST_API async_op opening_of(std::string_view url, const open_options&,
                                 std::shared_ptr<client> into, answer_to);
HOLDFAST_API void begin(const async_op&);
HOLDFAST_API void withdraw(async_operation&) noexcept;

// Acquires several locks in steps. A step lasts from step_of() and begin() to its answer. When
// is_over(), result_of() returns the leases. The locks must live until the first step has begun.
// taking_of() throws lock_error.
HOLDFAST_API std::shared_ptr<async_multi_acquire> taking_of(const multi_mutex&,
                                                            const acquire_call&);
HOLDFAST_API std::shared_ptr<async_multi_acquire> taking_of(const client&, const lock_names&,
                                                            const acquire_call&);
HOLDFAST_API async_op step_of(const std::shared_ptr<async_multi_acquire>&, answer_to);
HOLDFAST_API void withdraw(async_multi_acquire&) noexcept;
HOLDFAST_API bool is_over(const async_multi_acquire&) noexcept;
HOLDFAST_API lease_set result_of(async_multi_acquire&, std::error_code&);
HOLDFAST_API std::vector<std::shared_ptr<client_impl>> clients_of(const async_multi_acquire&);

// Operations that cannot be withdrawn.
HOLDFAST_API void begin_extension(const lease&, std::chrono::milliseconds ttl, answer_to);
HOLDFAST_API void begin_release(lease&, answer_to);
HOLDFAST_API void begin_closing(const client&, std::shared_ptr<bool> into, answer_to);
HOLDFAST_API void begin_inspection(const client&, std::string_view prefix,
                                   std::shared_ptr<std::vector<holder>> into, answer_to);
HOLDFAST_API void begin_holders(const client&, std::string_view name,
                                std::shared_ptr<std::vector<holder>> into, answer_to);
HOLDFAST_API void begin_breaking(const client&, std::string_view name, std::string_view seen,
                                 std::shared_ptr<bool> into, answer_to);
HOLDFAST_API void begin_examination(const client&, std::shared_ptr<std::vector<finding>> into,
                                    answer_to);

HOLDFAST_API std::shared_ptr<client_impl> client_of(const client&);  // null when it is empty
HOLDFAST_API std::shared_ptr<client_impl> client_of(const lockable_base&);
HOLDFAST_API std::shared_ptr<client_impl> client_of(const lease&);  // null when it is empty
// Sends what was begun; a thread of the library awaits the replies when no caller blocks.
HOLDFAST_API void flush_client(client_impl&) noexcept;
// Calls turn_ended() when this thread has dispatched all events it has; at once if it has none.
HOLDFAST_API void after_turn(std::shared_ptr<async_answers>);

class async_box;

// One operation, from its beginning until its handler runs. It is in its box's list of waiting
// entries, then in the list of answered ones.
class async_entry : public async_answer, public std::enable_shared_from_this<async_entry> {
 public:
  bool answered(std::error_code, lease&, std::shared_ptr<void>& to_end) noexcept override;
  virtual void post_delivery(std::shared_ptr<async_box>) = 0;
  virtual void deliver() = 0;  // runs the handler; on a thread of the context
  virtual void abandon() noexcept = 0;

 protected:
  explicit async_entry(std::shared_ptr<async_box> b) noexcept : box_(std::move(b)) {}
  ~async_entry() = default;

  const std::shared_ptr<async_box> box_;
  std::error_code code_;
  lease lease_;
  std::shared_ptr<void> to_end_;

 private:
  friend class async_box;
  std::shared_ptr<async_entry> listed_;  // this entry, while it is in a list
  async_entry* before_ = nullptr;        // in the list of waiting entries
  async_entry* after_ = nullptr;
};

// The operations of one execution context. Operations that are answered in one turn of the
// library's loop are posted to the context together, and the requests that their handlers begin are
// sent together.
class async_box final : public async_answers, public std::enable_shared_from_this<async_box> {
 public:
  void add(async_entry& e) {
    const std::lock_guard l(mutex_);
    e.listed_ = e.shared_from_this();
    e.after_ = std::exchange(waiting_, &e);
    if (e.after_) e.after_->before_ = &e;
  }

  // Moves e, which has its answer, to the ready entries. False: the context has ended.
  bool take(async_entry& e) noexcept {
    const std::lock_guard l(mutex_);
    if (dead_) return false;
    unlink(e);
    (last_ ? last_->after_ : ready_) = &e;
    last_ = &e;
    return true;
  }
  void tell() noexcept {  // after take()
    {
      const std::lock_guard l(mutex_);
      if (std::exchange(delivery_is_due_, true)) return;
    }
    after_turn(shared_from_this());
  }
  void turn_ended() noexcept override {
    const std::lock_guard l(mutex_);
    post_delivery();
  }

  // On a thread of the context.
  void deliver() {
    async_box* const outer = std::exchange(delivers_here(), this);
    async_entry* e;
    {
      const std::lock_guard l(mutex_);
      delivery_is_due_ = false;
      e = std::exchange(ready_, nullptr);
      last_ = nullptr;
    }
    while (e) {
      const auto now = std::move(e->listed_);
      e = std::exchange(e->after_, nullptr);
      now->deliver();
    }
    delivers_here() = outer;
    flush_clients();
  }

  // Notes that an operation of that client has begun; `post` posts a call of flush_clients().
  template <class Post>
  void begun(std::shared_ptr<client_impl> c, Post post) {
    bool posts;
    {
      const std::lock_guard l(mutex_);
      posts = to_flush_.empty() && delivers_here() != this;
      for (const auto& known : to_flush_)
        if (known == c) return;
      to_flush_.push_back(std::move(c));
    }
    if (posts) post();
  }
  void flush_clients() {
    std::vector<std::shared_ptr<client_impl>> all;
    {
      const std::lock_guard l(mutex_);
      all.swap(to_flush_);
    }
    for (const auto& c : all) flush_client(*c);
  }

  void end() noexcept {
    async_entry *waiting, *ready;
    {
      const std::lock_guard l(mutex_);
      dead_ = true;
      waiting = std::exchange(waiting_, nullptr);
      ready = std::exchange(ready_, nullptr);
    }
    for (async_entry* const list : {waiting, ready})
      for (async_entry* e = list; e;) {
        const auto now = std::move(e->listed_);
        e = std::exchange(e->after_, nullptr);
        now->abandon();
      }
    flush_clients();
  }

 private:
  static async_box*& delivers_here() noexcept {
    static thread_local async_box* here = nullptr;
    return here;
  }
  void unlink(async_entry& e) noexcept {
    (e.before_ ? e.before_->after_ : waiting_) = e.after_;
    if (e.after_) e.after_->before_ = e.before_;
    e.before_ = e.after_ = nullptr;
  }

  void post_delivery() {
    if (!dead_ && ready_)
      ready_->post_delivery(shared_from_this());
    else
      delivery_is_due_ = false;  // an earlier delivery has delivered these entries too
  }

  std::mutex mutex_;
  async_entry* waiting_ = nullptr;
  async_entry* ready_ = nullptr;  // in order
  async_entry* last_ = nullptr;
  bool delivery_is_due_ = false;
  bool dead_ = false;
  std::vector<std::shared_ptr<client_impl>> to_flush_;
};

inline bool async_entry::answered(std::error_code code, lease& l,
                                  std::shared_ptr<void>& to_end) noexcept {
  const std::shared_ptr<async_box> box = box_;  // after take() this entry may be destroyed
  std::swap(lease_, l);
  std::swap(to_end_, to_end);
  code_ = code;
  if (box->take(*this)) {
    box->tell();
    return true;
  }
  std::swap(lease_, l);
  std::swap(to_end_, to_end);
  return false;
}

}  // namespace detail
}  // namespace v0
}  // namespace holdfast
