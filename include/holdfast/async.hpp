// What holdfast/asio.hpp has below Boost. Not for users to name.
#pragma once
#include <holdfast/lockable.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

class async_answer {
 public:
  // Once, on any thread, perhaps from inside the call that began it. Takes the lease, and with it
  // what must end on a thread of the user's; false when nobody wants it any more.
  virtual bool answered(std::error_code, lease&, std::shared_ptr<void>& to_end) noexcept = 0;

 protected:
  ~async_answer() = default;
};

class async_answers {
 public:
  virtual void turn_ended() noexcept = 0;

 protected:
  ~async_answers() = default;
};

// `size` is sizeof(acquire_options) as the caller knows it.
// Null when it is answered at once, with what is wrong. Else begin() follows.
HOLDFAST_API std::shared_ptr<async_operation> acquire_of(const lockable_base&, lock_mode,
                                                         const acquire_options&, std::size_t size,
                                                         wait_bound, bool may_be_withdrawn,
                                                         std::shared_ptr<async_answer>);
HOLDFAST_API void begin(const std::shared_ptr<async_operation>&);
HOLDFAST_API void withdraw(async_operation&) noexcept;
// Several locks, which must live as long as it does: taken in steps, each from step_of() and
// begin() to its answer, until is_over(); then result_of() tells what is had.
HOLDFAST_API std::shared_ptr<async_taking> taking_of(std::span<slot* const>, const acquire_options&,
                                                     std::size_t size, wait_bound);
HOLDFAST_API std::shared_ptr<async_operation> step_of(const std::shared_ptr<async_taking>&,
                                                      std::shared_ptr<async_answer>);
HOLDFAST_API void withdraw(async_taking&) noexcept;
HOLDFAST_API bool is_over(const async_taking&) noexcept;
HOLDFAST_API lease_set result_of(async_taking&, std::error_code&);
HOLDFAST_API std::vector<std::shared_ptr<client_impl>> clients_of(const async_taking&);
HOLDFAST_API void begin_release(lease&, std::shared_ptr<async_answer>);

HOLDFAST_API std::shared_ptr<client_impl> client_of(const lockable_base&);
HOLDFAST_API std::shared_ptr<client_impl> client_of(const lease&);  // null when it is empty
// What was begun is sent, and its answer awaited by a thread of the library when nobody blocks.
HOLDFAST_API void see_to(client_impl&) noexcept;
// turn_ended() follows when the thread, if it tells events, has told all that it has.
HOLDFAST_API void after_turn(std::shared_ptr<async_answers>);

class async_box;

// One operation, from its beginning until its handler runs. In its box's list of those that wait,
// then in that of those that are answered.
class async_entry : public async_answer, public std::enable_shared_from_this<async_entry> {
 public:
  bool answered(std::error_code, lease&, std::shared_ptr<void>& to_end) noexcept override;
  virtual void post_delivery(std::shared_ptr<async_box>) = 0;
  virtual void deliver() = 0;  // on a thread of the context: runs the handler
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
  std::shared_ptr<async_entry> listed_;  // itself, while in a list
  async_entry* before_ = nullptr;        // among those that wait
  async_entry* after_ = nullptr;
};

// The operations of one execution context. Those that are answered in one turn of the library's
// loop go to the context together, in one post; what their handlers begin is sent together.
class async_box final : public async_answers, public std::enable_shared_from_this<async_box> {
 public:
  void add(async_entry& e) {
    const std::lock_guard l(mutex_);
    e.listed_ = e.shared_from_this();
    e.after_ = std::exchange(waiting_, &e);
    if (e.after_) e.after_->before_ = &e;
  }

  bool take(async_entry& e) noexcept {  // e has its answer
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
    see_to_all();
  }

  // An operation of that client has begun; `post` posts a call of see_to_all().
  template <class Post>
  void begun(std::shared_ptr<client_impl> c, Post post) {
    bool posts;
    {
      const std::lock_guard l(mutex_);
      posts = to_see_to_.empty() && delivers_here() != this;
      for (const auto& known : to_see_to_)
        if (known == c) return;
      to_see_to_.push_back(std::move(c));
    }
    if (posts) post();
  }
  void see_to_all() {
    std::vector<std::shared_ptr<client_impl>> all;
    {
      const std::lock_guard l(mutex_);
      all.swap(to_see_to_);
    }
    for (const auto& c : all) see_to(*c);
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
    see_to_all();
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
      delivery_is_due_ = false;  // an earlier delivery has taken them along
  }

  std::mutex mutex_;
  async_entry* waiting_ = nullptr;
  async_entry* ready_ = nullptr;  // in order
  async_entry* last_ = nullptr;
  bool delivery_is_due_ = false;
  bool dead_ = false;
  std::vector<std::shared_ptr<client_impl>> to_see_to_;
};

inline bool async_entry::answered(std::error_code code, lease& l,
                                  std::shared_ptr<void>& to_end) noexcept {
  const std::shared_ptr<async_box> box = box_;  // this may be gone once it is taken
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
