#include "backend/mysql/strategies/retrying/queries.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
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

constexpr std::int64_t rows_of_page = 1000;

bool is_of_member(const sql_reply& r, std::size_t row) noexcept { return !r.is_null(row, 8); }

// The first `own` bytes of the name are the client's prefix.
holder read_holder(const sql_reply& r, std::size_t row, std::size_t own) {
  holder h;
  h.name = r.cell(row, 0).substr(std::min(own, r.cell(row, 0).size()));
  h.owner = r.cell(row, 1);
  h.token = std::clamp<std::int64_t>(r.number(row, 2), 0, number_max) * turns;
  h.note = r.cell(row, 3);
  h.host = r.cell(row, 4);
  h.pid = r.number(row, 5);
  h.held_for = from_us(r.number(row, 6));
  h.expires_in = r.is_null(row, 7) ? h.expires_in.max() : from_us(r.number(row, 7));
  if (is_of_member(r, row)) {
    h.total_permits = static_cast<std::uint32_t>(r.number(row, 9));
    h.permits = static_cast<std::uint32_t>(r.number(row, 8));
    h.mode = h.total_permits == 0 ? lock_mode::shared : lock_mode::permit;
  }
  h.waiting = -1;
  return h;
}

class holders_query final : public sql_query<std::vector<holder>> {
 public:
  holders_query(transport& t, std::size_t own, seam::holders_handler& to) noexcept
      : sql_query(t, to), own_(own) {}

 private:
  bool read(const sql_reply& r, sql_statement&) override {
    for (std::size_t i = 0; i < r.rows.size(); ++i) result.push_back(read_holder(r, i, own_));
    return false;
  }

  const std::size_t own_;
};

class list_query final : public sql_query<std::vector<holder>> {
 public:
  list_query(transport& t, const statements& texts, std::string prefix, std::size_t own,
             seam::holders_handler& to)
      : sql_query(t, to), texts_(texts), prefix_(std::move(prefix)), own_(own) {}

  std::string next_page() const { return texts_.page_of_holders(prefix_, cursors_, rows_of_page); }

 private:
  bool read(const sql_reply& r, sql_statement& next) override {
    std::array<std::int64_t, 2> counts{};
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      const std::size_t table = is_of_member(r, i) ? 1 : 0;
      if (++counts[table] == rows_of_page) cursors_[table].last = r.rows[i];
      result.push_back(read_holder(r, i, own_));
    }
    bool goes_on = false;
    for (std::size_t table = 0; table < counts.size(); ++table) {
      cursors_[table].is_at_end = counts[table] < rows_of_page;
      goes_on = goes_on || !cursors_[table].is_at_end;
    }
    if (goes_on)
      next = next_page();
    else
      sort_result();
    return goes_on;
  }

  // A lock that was renewed, or changed hands, between two pages is in both: the later one counts.
  void sort_result() {
    std::ranges::stable_sort(result, {}, &holder::name);
    const auto is_outdated = [](const holder& a, const holder& b) {
      return a.name == b.name && a.mode == lock_mode::exclusive && b.mode == lock_mode::exclusive;
    };
    const auto kept = std::unique(result.rbegin(), result.rend(), is_outdated);
    result.erase(result.begin(), kept.base());
    std::sort(result.begin(), result.end(), [](const holder& a, const holder& b) {
      return std::tie(a.name, a.token, a.owner) < std::tie(b.name, b.token, b.owner);
    });
  }

  const statements& texts_;
  const std::string prefix_;
  const std::size_t own_;
  page_cursors cursors_;
};

class break_query final : public sql_query<bool> {
 public:
  break_query(transport& t, std::vector<sql_statement> later, seam::decision_handler& to) noexcept
      : sql_query(t, to), later_(std::move(later)) {}

 private:
  bool read(const sql_reply& r, sql_statement& next) override {
    result = result || r.affected > 0;
    if (later_.empty()) return false;
    next = std::move(later_.back());
    later_.pop_back();
    return true;
  }

  std::vector<sql_statement> later_;  // the next one is the last
};

constexpr std::size_t rows_at_a_time = 1000;

class expiry_query final : public sql_query<std::size_t> {
 public:
  expiry_query(transport& t, const statements& texts, std::string prefix,
               seam::result_handler<std::size_t>& to)
      : sql_query(t, to), texts_(texts), prefix_(std::move(prefix)) {}

  std::string next_list() const { return texts_.expired_by_prefix(prefix_, last_, rows_at_a_time); }

 private:
  bool read(const sql_reply& r, sql_statement& next) override {
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

void start_holders_query(transport& over, sql_statement statement, std::size_t own,
                         seam::holders_handler& to) {
  (new holders_query(over, own, to))->start(std::move(statement));
}

void start_list(transport& over, const statements& texts, std::string prefix, std::size_t own,
                seam::holders_handler& to) {
  auto* const made = new list_query(over, texts, std::move(prefix), own, to);
  made->start(made->next_page());
}

void start_breaking(transport& over, std::vector<sql_statement> statements,
                    seam::decision_handler& to) {
  std::ranges::reverse(statements);
  sql_statement first = std::move(statements.back());
  statements.pop_back();
  (new break_query(over, std::move(statements), to))->start(std::move(first));
}

void start_expiry(transport& over, const statements& texts, std::string prefix,
                  seam::result_handler<std::size_t>& to) {
  auto* const made = new expiry_query(over, texts, std::move(prefix), to);
  made->start(made->next_list());
}

}  // namespace holdfast::mysql::retrying
