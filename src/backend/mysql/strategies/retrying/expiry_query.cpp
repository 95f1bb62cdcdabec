#include "backend/mysql/strategies/retrying/expiry_query.hpp"

#include <utility>
#include <vector>

#include "backend/mysql/strategies/sql_query.hpp"

namespace holdfast::mysql::retrying {

namespace {

constexpr std::size_t rows_at_a_time = 1000;

class expiry_query final : public sql_query<std::size_t> {
 public:
  expiry_query(transport& t, const statements& texts, std::string prefix,
               seam::result_handler<std::size_t>& to)
      : sql_query(t, to), texts_(texts), prefix_(std::move(prefix)) {}

  std::string next_list() const { return texts_.expired_by_prefix(prefix_, last_, rows_at_a_time); }

 private:
  bool read(const sql_reply& r, std::string& next) override {
    if (std::exchange(awaits_list_, false)) {
      expired_ = r.rows;
      is_last_list_ = expired_.size() < rows_at_a_time;
      if (!is_last_list_) last_ = expired_.back();
    } else {
      result += r.affected;
    }
    if (!expired_.empty()) {
      const sql_row row = std::move(expired_.back());
      expired_.pop_back();
      next = texts_.expiry(row.at(0).value_or(""), row.at(1).value_or(""));
      return true;
    }
    awaits_list_ = !is_last_list_;
    if (awaits_list_) next = next_list();
    return awaits_list_;
  }

  const statements& texts_;
  const std::string prefix_;
  std::vector<sql_row> expired_;
  sql_row last_;  // of the list before; empty: there is none
  bool awaits_list_ = true, is_last_list_ = false;
};

}  // namespace

void start_expiry(transport& over, const statements& texts, std::string prefix,
                  seam::result_handler<std::size_t>& to) {
  auto* const made = new expiry_query(over, texts, std::move(prefix), to);
  made->start(made->next_list());
}

}  // namespace holdfast::mysql::retrying
