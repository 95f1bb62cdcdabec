// A claim on a row of a table, by the retrying recipe, and the statements that are sent for it.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "backend/mysql/transport/session.hpp"
#include "base/uuid.hpp"
#include "claim/claim_list.hpp"
#include "claim/orphan_withdrawals.hpp"
#include "claim/recipes/retrying.hpp"
#include "claim/store_claim.hpp"
#include "io/reactor/client_reactor.hpp"

namespace holdfast::mysql::row {
class bell;
}  // namespace holdfast::mysql::row

namespace holdfast::mysql::retrying {

class strategy;

// Why the server did not execute the last statement of a request, which is repeated.
struct request_obstacle {
  std::uint32_t epoch = 0;  // of the request
  std::string text;
};

// The strategy's state of a claim.
struct claim_record : claims::listed_claim, io::counted_claim {
  std::string name;       // with the prefix
  base::uuid owner_id;    // none: the claim is idle
  bool was_sent = false;  // the server may have seen this owner
  // Null: the server executed its last statement.
  std::unique_ptr<const request_obstacle> obstacle;
  row::bell* waits_for = nullptr;  // `row`: or has it
  bool looks_at_members = false;   // `row`: readers or holders of permits may have the lock
  std::uint64_t marks_seen = 0;    // `row`: at the last release
  bool has_seen_marks = false;

 protected:
  ~claim_record() = default;
};

struct request_details {
  void keep(const seam::acquire_request& r) noexcept {
    mode = r.mode;
    const bool of_permits = r.mode == lock_mode::permit;
    permits = of_permits ? r.permits : 0;
    total_permits = of_permits ? r.total_permits : 0;
    group = r.group;
  }

  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 0, total_permits = 0;
  seam::lock_group group;  // until the request is answered
};

struct protocol {
  using recipe = claims::retrying_recipe;
  using store = strategy;
  using request_details = retrying::request_details;
  using record = claim_record;
};
using claim = claims::store_claim<protocol>;

// One statement of a claim, until it is answered.
class request final : public statement_handler {
 public:
  explicit request(strategy& s) noexcept : home_(s) {}

  claims::claim_handle whose;
  claims::retrying_operation to{};
  std::uint32_t epoch = 0, ticket = 0;
  std::uint8_t step = 0;  // of a try; of a renewal that found nothing: 1, the look for the reason
  duration ttl{};

 private:
  bool has_requester() const noexcept override;
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;
  void on_dropped() noexcept override;

  strategy& home_;
};

// An owner that may be left in a row.
class orphan final : public claims::orphan, public statement_handler {
 public:
  orphan(strategy&, const claim&, time_point end);
  claims::withdrawal withdraw(time_point now);

  std::list<orphan>::iterator place;

 private:
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;

  strategy& home_;
  const std::string name_, owner_;
  const lock_mode mode_;
};

}  // namespace holdfast::mysql::retrying
