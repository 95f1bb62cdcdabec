// libmariadb, loaded when the first connection is made: a program that opens no mysql: URL, and has
// no mysql_connection, does not load it, nor the OpenSSL behind it. In a program that is linked to
// it these are the same functions.
#pragma once
#include <mysql.h>

namespace holdfast::mysql {

// Over a network without TLS only these prove the user: they do not send the password itself.
inline constexpr const char* plugins_without_tls =
    "mysql_native_password,client_ed25519,caching_sha2_password";

// The functions in use, under their own names.
// clang-format off
#define HOLDFAST_SQL_LIBRARY_FUNCTIONS(each) \
  each(mariadb_get_infov) each(mysql_affected_rows) each(mysql_character_set_name) \
  each(mysql_close) each(mysql_errno) each(mysql_error) each(mysql_fetch_fields) \
  each(mysql_fetch_lengths) each(mysql_fetch_row) each(mysql_field_count) \
  each(mysql_free_result) each(mysql_get_socket) each(mysql_init) each(mysql_insert_id) \
  each(mysql_more_results) each(mysql_next_result_cont) each(mysql_next_result_start) \
  each(mysql_num_fields) each(mysql_options) each(mysql_optionsv) each(mysql_real_connect) \
  each(mysql_real_connect_cont) each(mysql_real_connect_start) each(mysql_real_query) \
  each(mysql_real_query_cont) each(mysql_real_query_start) each(mysql_server_init) \
  each(mysql_stmt_affected_rows) each(mysql_stmt_bind_param) each(mysql_stmt_bind_result) \
  each(mysql_stmt_close) each(mysql_stmt_errno) each(mysql_stmt_error) \
  each(mysql_stmt_execute_cont) each(mysql_stmt_execute_start) each(mysql_stmt_fetch) \
  each(mysql_stmt_fetch_column) each(mysql_stmt_field_count) each(mysql_stmt_free_result) \
  each(mysql_stmt_init) each(mysql_stmt_insert_id) each(mysql_stmt_prepare_cont) \
  each(mysql_stmt_prepare_start) each(mysql_stmt_store_result_cont) \
  each(mysql_stmt_store_result_start) each(mysql_store_result) each(mysql_store_result_cont) \
  each(mysql_store_result_start) each(mysql_thread_id)
// clang-format on

struct libmariadb_functions {
#define HOLDFAST_SQL_LIBRARY_MEMBER(name) decltype(&::name) name = nullptr;
  HOLDFAST_SQL_LIBRARY_FUNCTIONS(HOLDFAST_SQL_LIBRARY_MEMBER)
#undef HOLDFAST_SQL_LIBRARY_MEMBER
  // Drops the OpenSSL errors of the calling thread, before a call for a connection with TLS. The
  // library takes an error that anything else has left there for the end of its connection.
  void (*clear_tls_errors)() = [] {};
};

// Null when the library cannot be loaded; then `why`, if given, gets the reason and the remedy.
// Loads at the first call; safe from any thread.
const libmariadb_functions* libmariadb(const char** why = nullptr) noexcept;
// For connections: those exist only once it is loaded.
inline const libmariadb_functions& library() noexcept { return *libmariadb(); }

}  // namespace holdfast::mysql
