#include <holdfast/mysql.hpp>
#include <holdfast/optimistic.hpp>

#include <atomic>
#include <deque>
#include <optional>

#include "survey/subject.hpp"

namespace survey {
namespace {

// Each worker adds one to a counter, over a connection of its own. The wait is not used: an update
// gives up after a number of conflicts with other writers.
constexpr holdfast::conflict_limits limits{.attempts = 20};

class updates final : public subject {
 public:
  updates(const deployment& where, const load& l, const holdfast::versioned_table& table)
      : rows_(l.own_locks ? l.workers : 1) {
    for (unsigned i = 0; i < l.workers; ++i)
      tables_.emplace_back(holdfast::mysql_connection::open(where.url()), table);
    before_ = stored();
  }

  bool acquire(unsigned worker, std::chrono::milliseconds, std::stop_token stop) override {
    const auto add_one = [](const holdfast::sql_columns& row) {
      return std::optional(
          holdfast::sql_columns{{"sold", std::get<std::int64_t>(row.at("sold")) + 1}});
    };
    const holdfast::sql_columns key{{"id", std::int64_t{worker % rows_}}};
    if (!tables_[worker].update(key, add_one, limits, std::move(stop))) return false;
    ++written_;
    return true;
  }
  void release(unsigned) override {}
  bool excludes() const override { return false; }
  std::uint64_t lost_updates() override {
    const auto there = static_cast<std::uint64_t>(stored() - before_);
    return written_ > there ? written_ - there : 0;
  }

 private:
  std::int64_t stored() {
    std::int64_t sum = 0;
    for (unsigned i = 0; i < rows_; ++i) {
      const auto row = tables_[0].read({{"id", std::int64_t{i}}}, {"sold"});
      sum += row ? std::get<std::int64_t>(row->values.at("sold")) : 0;
    }
    return sum;
  }

  const unsigned rows_;
  std::deque<holdfast::optimistic_table> tables_;
  std::int64_t before_ = 0;
  std::atomic<std::uint64_t> written_{0};
};

}  // namespace

std::unique_ptr<subject> updates_by_version(const deployment& where, const load& l) {
  return std::make_unique<updates>(where, l, holdfast::versioned_table{.table = "stock"});
}

std::unique_ptr<subject> updates_by_time(const deployment& where, const load& l) {
  return std::make_unique<updates>(
      where, l,
      holdfast::versioned_table{.table = "stock",
                                .version = "changed",
                                .kind = holdfast::row_version::update_time});
}

}  // namespace survey
