// Strategy `insert`: a lock is a record of a table whose name has a unique key. The table may be
// the program's own.
#pragma once
#include <string>

#include "backend/mysql/strategies/insert/statements.hpp"
#include "backend/mysql/strategies/retrying/strategy.hpp"

namespace holdfast::mysql::insert {

inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::ttl,
    .queue = seam::order::none,
    .contention = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
    .turns = retrying::turns_in_a_row,
};

class strategy final : public retrying::strategy {
 public:
  // The settings outlive it.
  strategy(base::environment&, const settings&);

  const seam::capabilities& can() const noexcept override { return abilities; }
  std::vector<std::string> schema() const override {
    return {texts_.create_records(), texts_.create_numbers()};
  }
  void on_ready(time_point now, event_queue&) override;

 private:
  // The fact that the awaited reply shows, while the client opens.
  enum class check : unsigned char {
    columns,
    records_created,
    columns_of_created,
    unique_keys,
    numbers,
    numbers_created,
    numbers_of_created,
  };

  claims::retrying_reply read_try(claims::claim_handle, const sql_reply&, std::uint8_t step,
                                  claims::retrying_reply) override;
  void on_opening_reply(const sql_reply&, const reply_context&) override;
  void ask(check next, std::string statement, time_point now);
  void on_columns(const sql_reply&, time_point now);
  void on_unique_keys(const sql_reply&, time_point now);
  void on_numbers(const sql_reply&, time_point now);
  void fail_opening(const sql_reply&, const std::string& remedy = {});
  std::string fault_of_columns(const sql_reply&);

  const statements texts_;
  check awaits_ = check::columns;
};

}  // namespace holdfast::mysql::insert
