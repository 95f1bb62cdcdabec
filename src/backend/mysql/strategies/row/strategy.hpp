// Strategy `row`: a lock is a row of a table of this library, which is created once and kept.
// Readers and holders of permits have a row each in a second table.
#pragma once
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/mysql/strategies/retrying/strategy.hpp"
#include "backend/mysql/strategies/row/bell.hpp"
#include "backend/mysql/strategies/row/recent_queues.hpp"
#include "backend/mysql/strategies/row/renewals.hpp"
#include "backend/mysql/strategies/row/statements.hpp"
#include "backend/mysql/strategies/row/transaction.hpp"

namespace holdfast::mysql::row {

inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::ttl,
    .queue = seam::order::none,
    .contention = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared) |
             seam::bit_of(lock_mode::permit),
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
  std::string name_fault(std::string_view name) const override;
  bool can_lock_all(std::span<const std::string_view> names) const override;
  // As many waiters have a connection each; the others poll.
  transport::bounds connections() const override {
    return {.commands = terms().connections, .pinned = terms().connections};
  }
  std::vector<std::string> schema() const override {
    return {texts_.create_table(), texts_.create_members()};
  }
  void on_ready(time_point now, event_queue&) override;
  bool is_release_urgent(const retrying::claim&) const noexcept override;

  // For its transactions; with the mutex.
  const statements& row_texts() const noexcept { return texts_; }
  const std::string& host() const noexcept { return terms().host; }
  std::int64_t process() const noexcept { return terms().process; }
  retrying::claim* claim_of(claims::claim_handle h) const noexcept { return claim_at(h); }
  void dissolve(claim_group& g) noexcept { groups_.dissolve(g); }
  std::list<transaction> take_out(transaction&);
  void drop(bell& b) noexcept { bells_.erase(b.place); }
  // The answer to a claim that wants to be woken.
  static claims::retrying_reply asleep(const retrying::claim&, bool has_bell);

 private:
  claims::retrying_reply read_try(claims::claim_handle, const sql_reply&, std::uint8_t step,
                                  claims::retrying_reply) override;
  bool sends_by_itself(retrying::claim&, claims::retrying_operation, time_point now,
                       std::optional<claims::retrying_reply>& answer) override;
  void read_release(retrying::claim&, const sql_reply&, claims::retrying_reply&) override;
  std::string guarded_owner(const retrying::claim&) const override;
  void on_step(retrying::claim&, time_point now) override;
  void on_opening_reply(const sql_reply&, const reply_context&) override;
  static bool needs_bell(const retrying::claim&) noexcept;
  bool queues_first(const retrying::claim&, time_point now) const noexcept;
  std::optional<claims::retrying_reply> wait_for_bell(retrying::claim&, time_point now);
  void begin_transaction(const std::vector<retrying::claim*>&, claim_group*, time_point now);

  failure why_not_opened(const sql_reply&, bool creates) const;

  enum class opening : unsigned char {
    probes_table,
    creates_table,
    probes_members,
    creates_members,
  };

  const statements texts_;
  opening opening_ = opening::probes_table;
  bool has_created_ = false;  // the table that is probed
  renewals renewals_{*this};
  std::list<transaction> transactions_;
  claims::group_barrier<claim_group> groups_;
  std::list<bell> bells_;
  recent_queues queues_;
  ignored_reply marks_;
};

}  // namespace holdfast::mysql::row
