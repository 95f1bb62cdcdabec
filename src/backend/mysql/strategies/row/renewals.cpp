#include "backend/mysql/strategies/row/renewals.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/mysql/strategies/row/strategy.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::row {

using claims::retrying_operation;
using claims::retrying_reply;
using retrying::claim;
using verdict = retrying_reply::verdict;

namespace {

constexpr std::size_t batch_max = 256;

}  // namespace

void renewals::add(const claim& c, time_point now) {
  waiting_.push_back({.whose = c.place(),
                      .epoch = c.recipe().epoch(),
                      .ticket = c.ticket(),
                      .name = c.name,
                      .owner = base::text_of(c.owner_id),
                      .ttl = c.recipe().ttl(),
                      .is_member = c.details.mode != lock_mode::exclusive});
  if (sent_.empty()) send(now);
}

// The core repeats a renewal that is not answered in time: the newest one counts.
bool renewals::awaits(const item& i) const noexcept {
  const claim* const c = home_.claim_of(i.whose);
  return c && c->recipe().epoch() == i.epoch && c->ticket() == i.ticket && c->recipe().is_held();
}

// The first that waits, and those that the same statement can renew.
void renewals::send(time_point now) {
  if (!sent_.empty()) return;
  std::erase_if(waiting_, [this](const item& i) { return !awaits(i); });
  if (waiting_.empty()) return;
  const auto joins = [this](const item& i) {
    const item& first = sent_.front();
    return !first.is_alone && !i.is_alone && i.ttl == first.ttl && i.is_member == first.is_member;
  };
  std::deque<item> left;
  for (item& i : waiting_) {
    const bool is_sent = sent_.empty() || (sent_.size() < batch_max && joins(i));
    is_sent ? sent_.push_back(std::move(i)) : left.push_back(std::move(i));
  }
  waiting_ = std::move(left);
  std::vector<std::string_view> names, owners;
  for (const item& i : sent_) {
    names.push_back(i.name);
    owners.push_back(i.owner);
  }
  home_.over().submit_renewal(home_.row_texts().renew_all(names, owners, sent_.front().ttl,
                                                          sent_.front().is_member),
                              *this, now);
}

void renewals::answer(const item& i, retrying_reply::verdict result, errc why,
                      const reply_context& context) {
  claim* const c = home_.claim_of(i.whose);
  if (!c) return;
  const retrying_reply r{.to = retrying_operation::renew,
                         .what = result,
                         .final = context.is_final,
                         .why = why,
                         .epoch = i.epoch,
                         .ticket = i.ticket,
                         .ttl = i.ttl,
                         .sent = sent_at_};
  c->on_reply(r, {}, context.now, context.events);
}

void renewals::on_reply(const sql_reply& r, const reply_context& context) {
  if (r.is_ok() && reads_rows_) return read_rows(r, context);
  if (!reads_rows_) sent_at_ = context.sent;
  const bool counts = !base::planted(base::mutant::affected_rows_ignored);
  if (r.is_ok() && counts && r.affected < sent_.size()) {
    reads_rows_ = true;
    std::vector<std::string_view> names;
    for (const item& i : sent_) names.push_back(i.name);
    return home_.over().submit_renewal(home_.row_texts().look_at_all(names), *this, context.now);
  }
  reads_rows_ = false;
  const std::vector<item> answered = std::exchange(sent_, {});
  const bool repeats = !r.is_ok() && answered.size() > 1;
  for (const item& i : answered) {
    if (r.is_ok()) answer(i, verdict::done, {}, context);
    if (!repeats) continue;
    waiting_.push_back(i);
    waiting_.back().is_alone = true;
  }
  send(context.now);
}

// A row that has its owner was extended by the UPDATE: an owner that has left does not come back.
void renewals::read_rows(const sql_reply& r, const reply_context& context) {
  reads_rows_ = false;
  for (const item& i : std::exchange(sent_, {})) {
    errc why = errc::not_held;
    bool is_ours = false;
    for (std::size_t at = 0; at < r.rows.size(); ++at) {
      if (r.cell(at, 0) != i.name) continue;
      const bool is_live = r.number(at, 2) > 0;
      const bool is_owner = r.cell(at, 1) == i.owner;
      is_ours = is_ours || (is_owner && (is_live || !i.is_member));
      if (is_live) why = errc::lost;
      if (is_owner && why == errc::not_held) why = errc::timed_out;
    }
    answer(i, is_ours ? verdict::done : verdict::not_owner, is_ours ? errc{} : why, context);
  }
  send(context.now);
}

// The core repeats them.
void renewals::on_cut(const failure&, const reply_context& context) {
  reads_rows_ = false;
  sent_.clear();
  send(context.now);
}

}  // namespace holdfast::mysql::row
