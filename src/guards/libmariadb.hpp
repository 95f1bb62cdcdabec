// libmariadb, loaded when it is used first: a program that uses no MariaDB does not load it, nor
// the OpenSSL behind it. In a program that is linked to it these are the same functions.
#pragma once
#include <mysql.h>

namespace holdfast::guards {

// The functions in use, under their own names.
#define HOLDFAST_MARIADB_CALLS(each)                                                               \
  each(mariadb_get_infov) each(mysql_affected_rows) each(mysql_character_set_name)                 \
      each(mysql_close) each(mysql_errno) each(mysql_error) each(mysql_fetch_fields)               \
          each(mysql_fetch_lengths) each(mysql_fetch_row) each(mysql_free_result)                  \
              each(mysql_get_socket) each(mysql_init) each(mysql_insert_id) each(mysql_num_fields) \
                  each(mysql_options) each(mysql_optionsv) each(mysql_real_connect)                \
                      each(mysql_real_query) each(mysql_server_init) each(mysql_store_result)

struct libmariadb_functions {
#define HOLDFAST_MARIADB_MEMBER(name) decltype(&::name) name = nullptr;
  HOLDFAST_MARIADB_CALLS(HOLDFAST_MARIADB_MEMBER)
#undef HOLDFAST_MARIADB_MEMBER
};

// Null when the library cannot be loaded; then `why`, if given, gets the reason and the remedy.
// Safe to call from any thread.
const libmariadb_functions* libmariadb(const char** why = nullptr) noexcept;

}  // namespace holdfast::guards
