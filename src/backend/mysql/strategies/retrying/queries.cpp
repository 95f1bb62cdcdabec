#include "backend/mysql/strategies/retrying/queries.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "backend/mysql/strategies/sql_query.hpp"

namespace holdfast::mysql::retrying {

namespace {

constexpr std::int64_t turns = 1024;  // a token is number * 1024 + turn
constexpr std::int64_t number_max = (1ll << 53) - 1;

std::chrono::milliseconds from_us(std::int64_t us) noexcept {
  return std::chrono::milliseconds{std::max<std::int64_t>(0, us / 1000)};
}

class holders_query final : public sql_query<std::vector<holder>> {
 public:
  holders_query(transport& t, std::size_t prefix, seam::holders_handler& to) noexcept
      : sql_query(t, to), prefix_(prefix) {}

 private:
  bool read(const sql_reply& r, std::string&) override {
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      holder& h = result.emplace_back();
      h.name = r.cell(i, 0).substr(std::min(prefix_, r.cell(i, 0).size()));
      h.owner = r.cell(i, 1);
      h.token = std::clamp<std::int64_t>(r.number(i, 2), 0, number_max) * turns;
      h.note = r.cell(i, 3);
      h.host = r.cell(i, 4);
      h.pid = r.number(i, 5);
      h.held = from_us(r.number(i, 6));
      h.expires_in = r.is_null(i, 7) ? h.expires_in.max() : from_us(r.number(i, 7));
      if (!r.is_null(i, 8)) {
        h.total_permits = static_cast<std::uint32_t>(r.number(i, 9));
        h.permits = static_cast<std::uint32_t>(r.number(i, 8));
        h.mode = h.total_permits == 0 ? lock_mode::shared : lock_mode::permit;
      }
      h.waiting = -1;
    }
    return false;
  }

  const std::size_t prefix_;
};

class break_query final : public sql_query<bool> {
 public:
  break_query(transport& t, std::vector<std::string> later, seam::decision_handler& to) noexcept
      : sql_query(t, to), later_(std::move(later)) {}

 private:
  bool read(const sql_reply& r, std::string& next) override {
    result = result || r.affected > 0;
    if (later_.empty()) return false;
    next = std::move(later_.back());
    later_.pop_back();
    return true;
  }

  std::vector<std::string> later_;  // the next one is the last
};

}  // namespace

void start_holders_query(transport& over, std::string statement, std::size_t prefix,
                         seam::holders_handler& to) {
  (new holders_query(over, prefix, to))->start(std::move(statement));
}

void start_breaking(transport& over, std::vector<std::string> statements,
                    seam::decision_handler& to) {
  std::string first = std::move(statements.front());
  statements.erase(statements.begin());
  std::ranges::reverse(statements);
  (new break_query(over, std::move(statements), to))->start(std::move(first));
}

}  // namespace holdfast::mysql::retrying
