#include "backend/mysql/transport/shared_commit.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;

namespace {

// Under READ COMMITTED the server unlocks a row at once that a statement does not change. Another
// client's lock would otherwise not be renewed until the end of the text.
constexpr std::string_view beginning[] = {
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "START TRANSACTION",
};
// Limits the wait for a row that another transaction has locked, because the other statements of
// the text wait too. Once the text has locked a row it does not wait for the table either: FLUSH
// TABLES WITH READ LOCK waits for statements that may wait for that row, and the server does not
// detect the deadlock. MySQL has no SET STATEMENT and ignores the comments.
constexpr std::string_view wait_of_first = "/*M! SET STATEMENT innodb_lock_wait_timeout=1 FOR */ ";
constexpr std::string_view wait_of_next =
    "/*M! SET STATEMENT innodb_lock_wait_timeout=1,lock_wait_timeout=0 FOR */ ";

std::string_view row_of(const queued_statement& s) { return s.statement.row(); }

}  // namespace

// All clients lock rows in this order, which prevents deadlocks.
shared_commit::shared_commit(transport& t, std::vector<queued_statement> parts)
    : home_(t), parts_(std::move(parts)) {
  if (!planted(mutant::shared_rows_unsorted)) std::ranges::sort(parts_, {}, row_of);
  for (const queued_statement& each : parts_) orders_.push_back(each.order);
}

std::string shared_commit::text() const {
  std::string out;
  for (const std::string_view each : beginning) out.append(each).append(";");
  for (const queued_statement& each : parts_)
    out.append(&each == &parts_.front() ? wait_of_first : wait_of_next)
        .append(each.statement.text())
        .append(";");
  return out.append("COMMIT");
}

bool shared_commit::has_begun_commit(const sql_reply& r) const noexcept {
  return r.earlier.size() >= std::size(beginning) + parts_.size();
}

bool shared_commit::is_committed(const sql_reply& r) const noexcept {
  return (r.is_ok() || planted(mutant::shared_error_ignored)) && has_begun_commit(r);
}

// Until COMMIT is executed, no reply of the text counts.
void shared_commit::on_reply(const sql_reply& r, const reply_context& context) {
  if (rolls_back_) return on_rolled_back(r, context);
  if (!is_committed(r)) {
    rolls_back_ = true;
    if (has_begun_commit(r) && !planted(mutant::commit_doubt_ignored))
      doubt_ = explain_doubt(r.error, r.text);
    return home_.run(context.on, "ROLLBACK", *this, context.now);
  }
  const std::list<shared_commit> self = home_.take_out(*this);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i].handler->on_reply(r.earlier[std::size(beginning) + i], context);
}

void shared_commit::on_rolled_back(const sql_reply& r, const reply_context& context) {
  if (!r.is_ok()) {
    doubt_ = explain_doubt(r.error, r.text);
    context.on.give_up(doubt_);
  }
  if (doubt_.code) return on_cut(doubt_, context);
  const std::list<shared_commit> self = home_.take_out(*this);
  home_.execute_alone(std::move(parts_), context.now);
}

void shared_commit::on_cut(const failure& why, const reply_context& context) {
  home_.pause_sharing(context.now);
  const std::list<shared_commit> self = home_.take_out(*this);
  for (const queued_statement& each : parts_) each.handler->on_cut(why, context);
}

}  // namespace holdfast::mysql
