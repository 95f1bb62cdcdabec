// The requests of a claim in flight, and the state that every layout keeps of a claim.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "backend/zookeeper/layouts/error_text.hpp"
#include "backend/zookeeper/transport/reply_handler.hpp"
#include "base/uuid.hpp"
#include "claim/claim_list.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::zookeeper {

// A number is a transaction's, and has to leave room for the turns in a token.
inline constexpr std::int64_t number_max = (1ll << 53) - 1;

inline std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

struct claim_record : claims::listed_claim {
  std::string_view group() const noexcept { return path; }

  std::string path;    // of the lock, complete
  base::uuid attempt;  // none: the claim is idle
  std::int64_t czxid = 0;
  std::int64_t last_czxid = 0;  // of this claim's earlier nodes

 protected:
  ~claim_record() = default;
};

// The requests of one operation of a claim, sent in one write and answered in order. The layout
// below derives from it: read() reads one answer into `result`.
template <class Protocol>
class claim_batch : public reply_handler {
 public:
  using claim = claims::store_claim<Protocol>;
  using layout_type = typename Protocol::store;
  using operation = typename Protocol::recipe::operation;
  using result_type = typename Protocol::recipe::reply;
  using verdict = typename result_type::verdict;

  explicit claim_batch(layout_type& l) noexcept : home_(l) {}
  claim_batch(const claim_batch&) = delete;
  claim_batch& operator=(const claim_batch&) = delete;
  virtual ~claim_batch() = default;

  void begin(const claim& c, operation op) {
    whose_ = c.place();
    op_ = op;
    attempt_ = c.attempt;
    result = {};
    result.to = op;
    result.what = verdict::done;
    result.epoch = c.recipe().epoch();
    result.number = c.czxid;
    text.clear();
    awaited_ = answered_ = 0;
    is_certain_ = false;
    on_begin(c);
  }
  void expect() noexcept { ++awaited_; }

  void on_reply(const reply& r, const reply_context& context) final {
    const unsigned at = answered_++;
    --awaited_;
    if (!is_certain_) read(at, r, context);
    if (awaited_ == 0) home_.on_batch_end(*this, context);
  }
  void on_cut(bool, const reply_context& context) final {
    if (--awaited_ == 0) home_.on_batch_cut(*this, context);
  }

  bool has_requester() const noexcept final { return owner() != nullptr; }

  operation op() const noexcept { return op_; }
  const claims::claim_handle& whose() const noexcept { return whose_; }

  result_type result;
  std::string text;  // of a failure

 protected:
  virtual void on_begin(const claim&) {}
  // The `at`-th answer of the batch; awaited() more follow.
  virtual void read(unsigned at, const reply&, const reply_context&) = 0;

  unsigned awaited() const noexcept { return awaited_; }
  unsigned answered() const noexcept { return answered_; }
  // Null: it is gone, or makes another attempt by now.
  claim* owner() const noexcept {
    claim* const c = home_.claim_at(whose_);
    return c && c->attempt == attempt_ ? c : nullptr;
  }
  // The verdict is final: later replies do not change it.
  void conclude(verdict v) noexcept {
    result.what = v;
    is_certain_ = true;
  }
  void fail(errc why, std::string reason) {
    conclude(verdict::failed);
    result.why = why;
    text = std::move(reason);
  }
  void fail(const reply& r) { fail(errc_of(r.head.code), explain(r.head.code, path_of_lock())); }
  // False: there is no such node, and the verdict is `if_not`; or the request failed.
  bool finds(const reply& r, verdict if_not = verdict::gone) {
    if (r.is(error::no_node))
      result.what = if_not;
    else if (!r.is_ok())
      fail(r);
    return r.is_ok();
  }
  void fail_to_create(const reply& r) { fail_to_create(r, path_of_lock()); }
  void fail_to_create(const reply& r, std::string_view path) {
    fail(errc_of(r.head.code), explain_creation(r.head.code, path));
  }
  // The claim's own node is removed before it is refused; the layout has the reason's text.
  void fail_exhausted() { fail(errc::exhausted, {}); }
  void fail_malformed() { fail(errc::unavailable, std::string(malformed_reply)); }
  // The node that this transaction made is the claim's own.
  void take_number(std::int64_t czxid) {
    result.number = czxid;
    claim* const c = owner();
    if (c) c->czxid = czxid;
    if (czxid > number_max) return fail(errc::exhausted, std::string(epochs_exhausted));
    if (!c) return;
    if (czxid < c->last_czxid) return fail(errc::refused, std::string(went_back));
    c->last_czxid = czxid;
  }

  layout_type& home_;
  base::uuid attempt_;

 private:
  std::string_view path_of_lock() const noexcept {  // empty: the claim is gone
    const claim* const c = home_.claim_at(whose_);
    return c ? std::string_view(c->path) : std::string_view();
  }

  claims::claim_handle whose_;
  operation op_{};
  unsigned awaited_ = 0, answered_ = 0;
  bool is_certain_ = false;
};

}  // namespace holdfast::zookeeper
