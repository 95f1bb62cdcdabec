#include "backend/mysql/transport/error_text.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::mysql {

namespace {

struct meaning {
  unsigned error;
  errc code;
  std::string_view remedy;
};

// The server's text is the reason.
constexpr meaning meanings[] = {
    {error::database_denied, errc::refused, "grant this user rights to the database of the URL"},
    {error::access_denied, errc::refused, "check the user and the password in the URL"},
    {1698, errc::refused, "check the user and the password in the URL"},
    {1130, errc::refused, "create the user for this host on the server"},
    {1251, errc::refused, "choose an authentication plugin that libmariadb supports"},
    {5010, errc::refused,
     "without TLS use mysql_native_password, ed25519 or caching_sha2_password; with TLS any"},
    {2059, errc::refused, "install the authentication plugin (Debian: libmariadb3 has them)"},
    {error::no_database, errc::refused, "create the database, or correct the path of the URL"},
    {1046, errc::refused, "name a database in the path of the URL"},
    {1040, errc::unavailable, "raise max_connections of the server"},
    {1203, errc::unavailable, "raise max_user_connections of the server"},
    {1226, errc::unavailable, "raise the resource limits of this user"},
    {2005, errc::unavailable, "check the host in the URL"},
    {2026, errc::refused,
     "the server must have TLS with a certificate for this name that ?tls-ca= verifies"},
    {2007, errc::refused, "the URL must name a MariaDB or MySQL server"},
    {2027, errc::refused, "the URL must name a MariaDB or MySQL server"},
    {error::command_denied, errc::refused,
     "grant this user SELECT, INSERT and UPDATE on the table"},
    {error::column_denied, errc::refused, "grant this user SELECT, INSERT and UPDATE on the table"},
    {error::no_table, errc::refused,
     "create the lock table, or grant this user CREATE so that it is created"},
    {error::no_column, errc::mismatch, "name another table with ?table="},
    {error::read_only, errc::unavailable, "connect to the primary"},
    {1036, errc::unavailable, "connect to the primary"},
    {1114, errc::unavailable, "make room on the server"},
    {1021, errc::unavailable, "make room on the server"},
    {error::lock_wait_timeout, errc::unavailable,
     "another transaction keeps the row of the lock, or another statement its table"},
};

// A statement that failed with one of these changed nothing.
constexpr unsigned passing[] = {error::lock_wait_timeout,
                                error::deadlock,
                                error::read_only,
                                error::query_interrupted,
                                1020,
                                1021,
                                1036,
                                1041,
                                1114,
                                1969,
                                3024,
                                3058};
// A killed connection, and the ends that a server announces; 4031 is MySQL's.
constexpr unsigned ending[] = {1053, 1079, 1080, 1927, 4031};

template <std::size_t Size>
bool is_in(const unsigned (&all)[Size], unsigned error) noexcept {
  return std::find(std::begin(all), std::end(all), error) != std::end(all);
}

std::string with_number(unsigned error, std::string_view text) {
  return std::string(text) + " (error " + std::to_string(error) + ')';
}

base::failure explained(unsigned error, std::string_view text, errc otherwise) {
  const auto found = std::ranges::find(meanings, error, &meaning::error);
  if (found == std::end(meanings)) return {otherwise, with_number(error, text)};
  return {found->code, with_number(error, text) + "; " + std::string(found->remedy)};
}

}  // namespace

sql_verdict verdict_of(unsigned error) noexcept {
  return is_in(passing, error) ? sql_verdict::not_now : sql_verdict::refused;
}

bool ends_connection(unsigned error) noexcept {
  constexpr unsigned first_of_client = 2000, last_of_client = 2999;
  const bool is_of_client = error >= first_of_client && error <= last_of_client;
  return is_of_client || is_in(ending, error);
}

base::failure explain(unsigned error, std::string_view text) {
  return explained(error, text, is_in(passing, error) ? errc::unavailable : errc::refused);
}

base::failure explain_loss(unsigned error, std::string_view text) {
  return explained(error, text, errc::unavailable);
}

base::failure explain_doubt(unsigned error, std::string_view text) {
  return {errc::unavailable, explain_loss(error, text).text};
}

base::failure explain_connecting(unsigned error, std::string_view text) {
  constexpr unsigned cut_off = 2013;
  if (error == cut_off)
    return {errc::unavailable,
            with_number(error, text) + "; check that the URL names a MariaDB or MySQL server"};
  return explain_loss(error, text);
}

bool is_shortage(const base::failure& why) noexcept {
  constexpr std::string_view shortages[] = {"(error 1040)", "(error 1203)", "(error 1226)"};
  return std::ranges::any_of(shortages, [&](std::string_view number) {
    return why.text.find(number) != why.text.npos;
  });
}

}  // namespace holdfast::mysql
