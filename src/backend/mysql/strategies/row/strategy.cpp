#include "backend/mysql/strategies/row/strategy.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql::row {

using claims::retrying_reply;
using verdict = retrying_reply::verdict;

strategy::strategy(base::environment& env, const settings& s)
    : retrying::strategy(env, s, texts_, retrying::polling), texts_(s.table) {}

retrying_reply strategy::read_try(const sql_reply& reply, std::uint8_t step,
                                  retrying_reply r) const {
  r.what = verdict::next_step;
  if (step == 0 || step == 3) {
    if (reply.insert_id == 0) return r;
    r.what = verdict::granted;
    r.number = static_cast<std::int64_t>(reply.insert_id);
    return r;
  }
  if (step == 2) return r;
  if (reply.rows.empty()) {
    if (step == 4) r.what = verdict::not_now;
    return r;
  }
  const std::int64_t left = std::max<std::int64_t>(0, reply.number(0, 1));
  r.what = verdict::busy;
  r.rest = std::chrono::microseconds{left};
  return r;
}

void strategy::on_ready(time_point now, event_queue&) { send_opening(texts_.probe(), now); }

void strategy::on_opening_reply(const sql_reply& r, const reply_context& context) {
  ++opening_step_;
  if (r.is_ok() && opening_step_ != 2) return finish_opening();
  if (opening_step_ == 1 && r.error == error::no_table)
    return send_opening(texts_.create_table(), context.now);
  if (opening_step_ == 2 && r.is_ok()) return send_opening(texts_.probe(), context.now);
  failure why = explain(r.error, r.text);
  if (opening_step_ == 2)
    why = {errc::refused, "the table " + terms().table + " cannot be created (" + r.text +
                              "); have it created with: " + texts_.create_table()};
  if (why.code == errc::mismatch)
    why.text = "the table " + terms().table +
               " has other columns than the locks of this version"
               " (" +
               r.text + "); name another table with ?table=";
  finish_opening(std::move(why));
}

}  // namespace holdfast::mysql::row
