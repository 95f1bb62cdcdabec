#include "backend/mysql/transport/execution.hpp"

#include <algorithm>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql {

namespace {

// More than the strategies have for one connection. What exceeds it is sent as text.
constexpr std::size_t most_known = 16;

// The server executed nothing: a proxy leads this connection to another server, or tables changed.
bool is_no_longer_prepared(unsigned error) noexcept {
  constexpr unsigned unknown_statement = 1243, must_be_prepared_again = 1615;
  return error == unknown_statement || error == must_be_prepared_again;
}

}  // namespace

int execution::start(sql_statement s) noexcept {
  statement_ = std::move(s);
  step_ = first_step();
  return advance(begin());
}

int execution::go_on(int ready) noexcept {
  const libmariadb_functions& of = library();
  MYSQL_STMT* const prepared = used_ ? used_->prepared : nullptr;
  switch (step_) {
    case step::text: return advance(of.mysql_real_query_cont(&failed_, handle_, ready));
    case step::text_rows: return advance(of.mysql_store_result_cont(&result_, handle_, ready));
    case step::next_text: return advance(of.mysql_next_result_cont(&failed_, handle_, ready));
    case step::preparing: return advance(of.mysql_stmt_prepare_cont(&failed_, prepared, ready));
    case step::values: return advance(of.mysql_stmt_execute_cont(&failed_, prepared, ready));
    case step::rows: return advance(of.mysql_stmt_store_result_cont(&failed_, prepared, ready));
    case step::end: break;
  }
  return 0;
}

execution::step execution::first_step() {
  used_ = nullptr;
  if (statement_.values().empty()) return step::text;
  const auto at = std::ranges::find(known_, statement_.with_marks(), &known_statement::text);
  if (at == known_.end()) {
    if (known_.size() < most_known) known_.push_back({.text = statement_.with_marks()});
    return step::text;
  }
  if (at->is_refused) return step::text;
  used_ = &*at;
  if (used_->prepared) return step::values;
  used_->prepared = library().mysql_stmt_init(handle_);
  return used_->prepared ? step::preparing : refuse();
}

int execution::begin() noexcept {
  const libmariadb_functions& of = library();
  switch (step_) {
    case step::text:
      text_ = statement_.text();
      return of.mysql_real_query_start(&failed_, handle_, text_.data(), text_.size());
    case step::text_rows: return of.mysql_store_result_start(&result_, handle_);
    case step::next_text: return of.mysql_next_result_start(&failed_, handle_);
    case step::preparing:
      return of.mysql_stmt_prepare_start(&failed_, used_->prepared, used_->text.data(),
                                         used_->text.size());
    case step::values: bind_values(); return of.mysql_stmt_execute_start(&failed_, used_->prepared);
    case step::rows:
      bind_columns();
      return of.mysql_stmt_store_result_start(&failed_, used_->prepared);
    case step::end: break;
  }
  return 0;
}

int execution::advance(int wait) noexcept {
  while (wait == 0 && step_ != step::end) {
    step_ = next_step();
    wait = begin();
  }
  return wait;
}

execution::step execution::next_step() {
  switch (step_) {
    case step::text:
    case step::next_text: return after_text();
    case step::text_rows: return after_text_rows();
    case step::preparing:
      if (!failed_) return step::values;
      return ends_connection(library().mysql_errno(handle_)) ? fail_prepared() : refuse();
    case step::values: return after_values();
    case step::rows:
      if (failed_) return fail_prepared();
      read_rows();
      break;
    case step::end: break;
  }
  return step::end;
}

execution::step execution::after_text() {
  const libmariadb_functions& of = library();
  if (failed_) return fail(of.mysql_errno(handle_), of.mysql_error(handle_));
  if (of.mysql_field_count(handle_) > 0) return step::text_rows;
  reply_.affected = of.mysql_affected_rows(handle_);
  reply_.insert_id = of.mysql_insert_id(handle_);
  return after_result();
}

execution::step execution::after_text_rows() {
  const libmariadb_functions& of = library();
  if (!result_)  // a statement that is killed fails here
    return fail(of.mysql_errno(handle_), of.mysql_error(handle_));
  const unsigned count = of.mysql_num_fields(result_);
  while (const MYSQL_ROW row = of.mysql_fetch_row(result_)) {
    const unsigned long* const lengths = of.mysql_fetch_lengths(result_);
    sql_row& out = reply_.rows.emplace_back();
    for (unsigned i = 0; i < count; ++i)
      row[i] ? out.emplace_back(std::in_place, row[i], lengths[i]) : out.emplace_back();
  }
  of.mysql_free_result(std::exchange(result_, nullptr));
  return after_result();
}

execution::step execution::after_result() {
  if (!library().mysql_more_results(handle_)) return step::end;
  sql_reply last = std::exchange(reply_, {});
  reply_.earlier = std::exchange(last.earlier, {});
  reply_.earlier.push_back(std::move(last));
  return step::next_text;
}

execution::step execution::after_values() {
  const libmariadb_functions& of = library();
  if (failed_ && is_no_longer_prepared(of.mysql_stmt_errno(used_->prepared))) return refuse();
  if (failed_) return fail_prepared();
  if (of.mysql_stmt_field_count(used_->prepared) > 0) return step::rows;
  reply_.affected = of.mysql_stmt_affected_rows(used_->prepared);
  reply_.insert_id = of.mysql_stmt_insert_id(used_->prepared);
  return step::end;
}

execution::step execution::fail(unsigned error, const char* text) {
  reply_.error = error;
  reply_.text = text;
  return step::end;
}

// When a connection ends, the library detaches its statements, and the connection has the reason.
execution::step execution::fail_prepared() {
  const libmariadb_functions& of = library();
  if (const unsigned error = of.mysql_errno(handle_); ends_connection(error))
    return fail(error, of.mysql_error(handle_));
  return fail(of.mysql_stmt_errno(used_->prepared), of.mysql_stmt_error(used_->prepared));
}

// The server has its reasons: it knows too many, or it is a proxy.
execution::step execution::refuse() noexcept {
  used_->is_refused = true;
  used_ = nullptr;
  return step::text;
}

void execution::bind_values() {
  const auto& values = statement_.values();
  binds_.assign(values.size(), {});
  lengths_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    MYSQL_BIND& to = binds_[i];
    if (const auto* const number = std::get_if<std::int64_t>(&values[i])) {
      to.buffer_type = MYSQL_TYPE_LONGLONG;
      to.buffer = const_cast<std::int64_t*>(number);  // the library only reads it
    } else {
      const auto& bytes = std::get<std::string>(values[i]);
      lengths_[i] = bytes.size();
      to.buffer_type = MYSQL_TYPE_BLOB;
      to.buffer = const_cast<char*>(bytes.data());
      to.length = &lengths_[i];
    }
  }
  library().mysql_stmt_bind_param(used_->prepared, binds_.data());
}

// Each value is read as text, as those of other statements are.
void execution::bind_columns() {
  const unsigned count = library().mysql_stmt_field_count(used_->prepared);
  columns_.resize(count);
  binds_.assign(count, {});
  for (unsigned i = 0; i < count; ++i) {
    binds_[i].buffer_type = MYSQL_TYPE_STRING;
    binds_[i].buffer = columns_[i].text;
    binds_[i].buffer_length = sizeof columns_[i].text;
    binds_[i].length = &columns_[i].length;
    binds_[i].is_null = &columns_[i].is_null;
  }
  library().mysql_stmt_bind_result(used_->prepared, binds_.data());
}

// The rows are there: nothing is awaited.
void execution::read_rows() {
  const libmariadb_functions& of = library();
  MYSQL_STMT* const from = used_->prepared;
  for (int got = of.mysql_stmt_fetch(from); got == 0 || got == MYSQL_DATA_TRUNCATED;
       got = of.mysql_stmt_fetch(from)) {
    sql_row& out = reply_.rows.emplace_back();
    for (unsigned i = 0; i < columns_.size(); ++i)
      columns_[i].is_null ? out.emplace_back() : out.emplace_back(text_of(i));
  }
  of.mysql_stmt_free_result(from);
}

// Of the row that was fetched last.
std::string execution::text_of(unsigned i) {
  const column& c = columns_[i];
  std::string out(c.text, std::min<std::size_t>(c.length, sizeof c.text));
  if (c.length <= sizeof c.text) return out;
  out.resize(c.length);
  MYSQL_BIND whole = binds_[i];
  whole.buffer = out.data();
  whole.buffer_length = out.size();
  library().mysql_stmt_fetch_column(used_->prepared, &whole, i, 0);
  return out;
}

void execution::drop_prepared() noexcept {
  for (const known_statement& each : std::exchange(known_, {}))
    if (each.prepared) library().mysql_stmt_close(each.prepared);
}

}  // namespace holdfast::mysql
