// Acquires in one transaction: of readers, of permits, of several locks together, and of a lock
// that readers had before.
//
//   step    | statement                               | next
//   --------+-----------------------------------------+-----------------------------------------
//   begin   | START TRANSACTION                       | lock
//   lock    | the row of each lock, FOR UPDATE, in    | members; end, if one is held; create, if
//           | the order of their names                | one does not exist
//   members | the members of each lock that has some  | drop; end, if there is no room
//   drop    | DELETE of each member that has expired  | write; end, if one was renewed since
//   write   | the row, and the row of the member      | commit
//   commit  | COMMIT                                  | each claim is granted
//   end     | ROLLBACK                                | each claim is refused; where that fails,
//           |                                         | the connection is ended
//   create  | ROLLBACK, and the row is created        | begin
//
// The members are read once all rows are locked: the server's snapshot is made by the first read
// without a lock, and what was committed later would be missing in it.
#pragma once
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "backend/mysql/strategies/retrying/claim.hpp"
#include "backend/mysql/strategies/row/statements.hpp"
#include "backend/mysql/transport/session.hpp"
#include "claim/group_barrier.hpp"

namespace holdfast::mysql::row {

class strategy;
class transaction;

struct claim_group final : claims::claim_group<retrying::claim> {
  explicit claim_group(const seam::lock_group& g) noexcept
      : claims::claim_group<retrying::claim>(g) {}
  ~claim_group();

  transaction* running = nullptr;
};

class transaction final : public statement_handler {
 public:
  // `group`: null: of one claim.
  transaction(strategy&, const std::vector<retrying::claim*>&, claim_group* group);
  ~transaction();

  void start(time_point now);
  void forget_group() noexcept { group_ = nullptr; }

  std::list<transaction>::iterator place;
  std::vector<std::size_t> orders;  // of its locks, for transport::submit()

 private:
  // In their order, but create.
  enum class step : unsigned char {
    begin,
    lock,
    members,
    drop,
    write,
    write_member,
    commit,
    end,
    create,
  };
  using verdict = claims::retrying_reply::verdict;

  struct part {
    claims::claim_handle whose;
    std::uint32_t epoch = 0;
    std::string name, owner, note;
    duration ttl{};
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 0, total_permits = 0;
    bool has_members = false;
    std::vector<std::string> expired;  // members, to be dropped
    std::int64_t number = 0;           // granted; 0: not drawn yet
  };

  // statement_handler
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;
  void on_not_rolled_back(const sql_reply&, const reply_context&);

  bool has_statement() const noexcept;    // the part of this step
  void advance() noexcept;                // to the next step that has one
  bool has_locked_rows() const noexcept;  // at its next statement
  sql_statement statement() const;
  sql_statement statement_of_step() const;
  lock_request request_of(const part&) const;
  bool is_broken() const noexcept;
  void read(const sql_reply&);
  void read_row(const sql_reply&, part&);
  void read_members(const sql_reply&, part&);
  void note_error(const sql_reply&);
  void refuse(verdict, duration remaining = {});
  void fail(errc, std::string text);
  void begin_again();
  void finish(const reply_context&);

  strategy& home_;
  claim_group* group_;
  const bool is_of_group_;
  std::vector<part> parts_;
  step step_ = step::begin;
  std::size_t at_ = 0;    // the part of this step
  bool creates_ = false;  // the row of that part does not exist
  time_point since_{};    // the send of its first statement
  verdict outcome_ = verdict::granted;
  std::size_t failed_at_ = 0;  // failed: the part for which it did
  bool is_uncertain_ = false;  // failed: what was written may be committed
  errc why_{};
  std::string text_;
  duration rest_{};
};

}  // namespace holdfast::mysql::row
