// Renewals, over a connection of their own: those that come while one statement is under way are
// sent together with the next one.
//
//   event                          | effects
//   -------------------------------+--------------------------------------------------------------
//   renew                          | sent, or it waits for the statement that is under way
//   all rows were found            | each lease is extended; the waiting ones are sent
//   some were not                  | their rows are read: a lease whose row has another owner is
//                                  | lost
//   error: a row or the server is  | each is sent again, alone: one row that is locked must not
//   not ready, of several          | hold up the others
//   error, of one; or cut          | none: the core repeats the renewal
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "backend/mysql/strategies/retrying/claim.hpp"
#include "backend/mysql/strategies/row/statements.hpp"

namespace holdfast::mysql::row {

class strategy;

class renewals final : public statement_handler {
 public:
  explicit renewals(strategy& s) noexcept : home_(s) {}

  void add(const retrying::claim&, time_point now);

 private:
  struct item {
    claims::claim_handle whose;
    std::uint32_t epoch = 0, ticket = 0;
    std::string name, owner;
    duration ttl{};
    bool is_member = false;
    bool is_alone = false;  // sent with no other
  };

  // statement_handler
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;

  bool awaits(const item&) const noexcept;
  void send(time_point now);
  void answer(const item&, claims::retrying_reply::verdict, errc why, const reply_context&);
  void read_rows(const sql_reply&, const reply_context&);

  strategy& home_;
  std::deque<item> waiting_;
  std::vector<item> sent_;  // of the statement that is under way
  time_point sent_at_{};    // the UPDATE
  bool reads_rows_ = false;
};

}  // namespace holdfast::mysql::row
