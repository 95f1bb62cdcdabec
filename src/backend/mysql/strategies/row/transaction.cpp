#include "backend/mysql/strategies/row/transaction.hpp"

#include <algorithm>
#include <utility>

#include "backend/mysql/strategies/row/strategy.hpp"
#include "backend/mysql/transport/error_text.hpp"
#include "base/mutant.hpp"
#include "seam/name.hpp"

namespace holdfast::mysql::row {

using base::mutant;
using base::planted;
using claims::retrying_operation;
using claims::retrying_recipe;
using claims::retrying_reply;
using retrying::claim;

claim_group::~claim_group() {
  if (running) running->forget_group();
}

transaction::transaction(strategy& s, const std::vector<claim*>& claims, claim_group* group)
    : home_(s), group_(group), is_of_group_(group != nullptr) {
  for (const claim* c : claims) {
    part& p = parts_.emplace_back();
    p.whose = c->place();
    p.epoch = c->recipe().epoch();
    p.name = c->name;
    p.owner = base::text_of(c->owner_id);
    p.note = c->note();
    p.ttl = c->recipe().ttl();
    p.mode = c->details.mode;
    p.permits = c->details.permits;
    p.total_permits = c->details.total_permits;
    orders.push_back(strategy::order_of(p.name));
  }
  std::ranges::sort(parts_, {}, &part::name);  // two of them cannot wait for each other
  if (group_) group_->running = this;
}

transaction::~transaction() {
  if (group_) group_->running = nullptr;
}

void transaction::start(time_point now) {
  home_.over().submit(lane::commands, "START TRANSACTION", *this, now, orders.front(), &orders);
}

bool transaction::is_broken() const noexcept {
  return is_of_group_ && (!group_ || group_->is_broken);
}

bool transaction::has_statement() const noexcept {
  const part& p = parts_[at_];
  const bool is_member = p.mode != lock_mode::exclusive;
  switch (step_) {
    case step::members: return p.has_members;
    case step::drop: return !p.expired.empty();
    case step::write: return !is_member || p.number == 0;
    case step::write_member: return is_member;
    default: return true;
  }
}

void transaction::advance() noexcept {
  do {
    const bool is_of_all = step_ == step::begin || step_ == step::commit || step_ == step::end;
    if (!is_of_all && at_ + 1 < parts_.size()) {
      ++at_;
    } else {
      step_ = static_cast<step>(static_cast<int>(step_) + 1);
      at_ = 0;
    }
  } while (!has_statement());
}

lock_request transaction::request_of(const part& p) const {
  return {.name = p.name,
          .owner = p.owner,
          .note = p.note,
          .host = home_.host(),
          .pid = home_.process(),
          .ttl = p.ttl,
          .mode = p.mode,
          .permits = p.permits,
          .total_permits = p.total_permits};
}

bool transaction::has_locked_rows() const noexcept {
  return (step_ == step::lock && at_ > 0) || (step_ > step::lock && step_ < step::commit);
}

sql_statement transaction::statement() const {
  return has_locked_rows() ? statement_of_step().with_rows_locked() : statement_of_step();
}

sql_statement transaction::statement_of_step() const {
  const part& p = parts_[at_];
  const statements& texts = home_.row_texts();
  switch (step_) {
    case step::lock: return texts.lock_row(p.name);
    case step::members: return texts.look_at_members(p.name);
    case step::drop: return texts.expiry(p.name, p.expired.back());
    case step::write:
      return p.mode == lock_mode::exclusive ? texts.take_locked(request_of(p))
                                            : texts.open_to_members(p.name);
    case step::write_member: return texts.add_member(request_of(p), p.number);
    case step::commit: return "COMMIT";
    case step::end: return "ROLLBACK";
    case step::create: return texts.create(p.name);
    default: return "START TRANSACTION";
  }
}

void transaction::refuse(retrying_reply::verdict result, duration remaining) {
  outcome_ = result;
  rest_ = remaining;
  step_ = step::end;
}

void transaction::fail(errc why, std::string text) {
  why_ = why;
  text_ = std::move(text);
  failed_at_ = at_;
  refuse(verdict::failed);
}

void transaction::on_reply(const sql_reply& r, const reply_context& context) {
  if (since_ == time_point{}) since_ = context.sent;
  if (step_ == step::end) {
    if (!r.is_ok() && !planted(mutant::open_transaction_kept))
      return on_not_rolled_back(r, context);
    if (!creates_) return finish(context);
    step_ = step::create;
    return home_.over().run(context.on, statement(), *this, context.now);
  }
  if (!r.is_ok()) {
    note_error(r);
  } else if (step_ == step::commit) {
    return finish(context);
  } else if (step_ == step::create) {
    begin_again();
  } else {
    const std::size_t at = at_;
    read(r);
    const bool repeats = step_ == step::drop && !parts_[at].expired.empty();
    if (step_ != step::end && is_broken()) refuse(verdict::busy);
    if (step_ != step::end && !repeats) advance();
  }
  home_.over().run(context.on, statement(), *this, context.now);
}

// The next statements on this connection would belong to the open transaction.
void transaction::on_not_rolled_back(const sql_reply& r, const reply_context& context) {
  const failure why = explain_doubt(r.error, r.text);
  context.on.give_up(why);
  on_cut(why, context);
}

void transaction::begin_again() {
  creates_ = false;
  step_ = step::begin;
  at_ = 0;
  outcome_ = verdict::granted;
  for (part& p : parts_) {
    p.has_members = false;
    p.expired.clear();
    p.number = 0;
  }
}

void transaction::note_error(const sql_reply& r) {
  is_uncertain_ = step_ == step::commit;
  creates_ = false;
  failure why = explain(r.error, r.text);
  fail(static_cast<errc>(why.code.value()), std::move(why.text));
  if (verdict_of(r.error) == sql_verdict::not_now && !is_uncertain_) outcome_ = verdict::not_now;
}

void transaction::read(const sql_reply& r) {
  part& p = parts_[at_];
  switch (step_) {
    case step::lock: return read_row(r, p);
    case step::members: return read_members(r, p);
    case step::drop:
      p.expired.pop_back();
      if (r.affected == 0 && !planted(mutant::renewed_member_dropped))
        refuse(verdict::busy);  // it was renewed, or has left
      return;
    case step::write: p.number = static_cast<std::int64_t>(r.insert_id); return;
    default: return;
  }
}

void transaction::read_row(const sql_reply& r, part& p) {
  if (r.rows.empty()) {
    creates_ = true;
    return refuse(verdict::busy);
  }
  const std::int64_t left = r.number(0, 1);
  const bool is_held = !r.cell(0, 0).empty() && left > 0 && r.cell(0, 0) != p.owner;
  if (is_held && p.mode == lock_mode::permit)
    return fail(errc::mismatch, seam::kind_fault(0, p.total_permits));
  if (is_held) return refuse(verdict::busy, std::chrono::microseconds{left});
  p.has_members = r.number(0, 2) != 0;
}

void transaction::read_members(const sql_reply& r, part& p) {
  std::int64_t in_use = 0, others = 0;
  std::int64_t total = p.total_permits, left_min = 0;
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const std::int64_t left = r.number(i, 1);
    if (left <= 0) {
      p.expired.emplace_back(r.cell(i, 0));
      continue;
    }
    if (r.cell(i, 0) == p.owner) {  // granted before, by a transaction whose reply was lost
      p.number = r.number(i, 2);
      continue;
    }
    ++others;
    in_use += r.number(i, 3);
    total = r.number(i, 4);
    left_min = left_min == 0 ? left : std::min(left_min, left);
    if (p.mode == lock_mode::shared) p.number = r.number(i, 2);
  }
  if (others == 0) return;
  if (total != p.total_permits)
    return fail(errc::mismatch, seam::kind_fault(total, p.total_permits));
  const bool is_full = p.mode == lock_mode::permit && in_use + p.permits > p.total_permits;
  if (p.mode == lock_mode::exclusive || (is_full && !planted(mutant::row_permits_not_counted)))
    refuse(verdict::busy, std::chrono::microseconds{left_min});
}

void transaction::finish(const reply_context& context) {
  const std::list<transaction> self = home_.take_out(*this);
  if (is_broken()) return;
  if (group_) home_.dissolve(*group_);
  for (const part& p : parts_) {
    claim* const c = home_.claim_of(p.whose);
    if (!c) continue;
    retrying_reply r;
    r.to = retrying_operation::try_lock;
    r.epoch = p.epoch;
    const bool is_cause = outcome_ != verdict::failed || &p == &parts_[failed_at_];
    r.what = is_cause ? outcome_ : verdict::busy;
    r.why = why_;
    r.left = is_uncertain_;
    r.number = p.number;
    r.ttl = p.ttl;
    r.rest = rest_;
    r.sent = since_;
    r.final = context.is_final;
    retrying::strategy::note_obstacle(*c, r, text_);
    c->on_reply(r, text_, context.now, context.events);
  }
}

void transaction::on_cut(const failure&, const reply_context& context) {
  const std::list<transaction> self = home_.take_out(*this);
  if (group_) std::exchange(group_, nullptr)->running = nullptr;
  for (const part& p : parts_) {
    claim* const c = home_.claim_of(p.whose);
    if (!c) continue;
    const claims::timing& rules = home_.rules();
    c->on([&](retrying_recipe& r) { return r.on_cut(p.epoch, context.now, rules); }, context.now,
          context.events);
  }
}

}  // namespace holdfast::mysql::row
