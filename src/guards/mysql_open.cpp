#include <holdfast/mysql.hpp>

#include "base/fail.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include <errmsg.h>
#include <fcntl.h>
#include <mysqld_error.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "backend/mysql/transport/libmariadb.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "guards/mysql_session.hpp"
#include "seam/client_options.hpp"

namespace holdfast::inline v0 {
namespace {

constexpr base::duration default_bound = std::chrono::seconds{5};

struct terms_of_opening {
  std::string host, socket, database, ca, certificate, key;
  int port = 0;
  bool tls = true;
  base::duration connect_bound = default_bound, reply_bound = default_bound;
};

void read_option(const url& where, const url::option& option, terms_of_opening& terms) {
  const auto& [name, value] = option;
  if (name == "socket") {
    terms.socket = value;
  } else if (name == "tls") {
    terms.tls = seam::parse_bool(value, name);
  } else if (name == "tls-ca") {
    terms.ca = value;
  } else if (name == "tls-cert") {
    terms.certificate = value;
  } else if (name == "tls-key") {
    terms.key = value;
  } else if (name == "connect-timeout") {
    terms.connect_bound = seam::parse_duration(value, name);
  } else if (name == "op-timeout") {
    terms.reply_bound = seam::parse_duration(value, name);
  } else if (name != "password-file" && name != "password-env") {
    base::fail(errc::bad_option, "open",
               "a connection has no option \"" + base::shown_option_name(name) +
                   "\"; holdfast/mysql.hpp lists them",
               {}, where.text());
  }
}

terms_of_opening read_terms(const url& where) {
  if (where.scheme() != "mysql") base::refuse_url(where, "the scheme is not mysql:");
  terms_of_opening terms;
  terms.port = where.default_port();
  terms.tls = where.uses_tls();
  if (where.endpoints().size() > 1) base::refuse_url(where, "name one host");
  if (!where.endpoints().empty()) {
    terms.host = where.endpoints()[0].host;
    if (where.endpoints()[0].port) terms.port = where.endpoints()[0].port;
  }
  terms.database = where.path().starts_with('/') ? where.path().substr(1) : where.path();
  for (const url::option& option : where.options()) read_option(where, option, terms);
  if (terms.socket.empty() && terms.host.empty())
    base::refuse_url(where,
                     "name a host, mysql://user@host/database, or a Unix socket with ?socket=");
  if (!terms.socket.empty() && !terms.host.empty() && terms.host != "localhost")
    base::refuse_url(where, "a Unix socket is on this machine, and the URL names another host");
  if (!terms.socket.empty() && terms.tls)
    base::fail(errc::bad_option, "open", "a Unix socket has no TLS; leave out the options of TLS",
               {}, where.text());
  return terms;
}

unsigned seconds_of(base::duration d) {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(d).count();
  return static_cast<unsigned>(std::clamp<std::int64_t>(whole, 1, 86'400));
}

// Not the library's own defaults, which send the password to a server without TLS, and any local
// file that the server asks for. ENFORCE alone accepts a server without TLS; VERIFY does not.
void set_options(const mysql::libmariadb_functions& library, MYSQL* mysql,
                 const terms_of_opening& terms) {
  const unsigned no_file = 0;
  const char no = 0, tls = terms.tls ? 1 : 0;
  const unsigned protocol = terms.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  const unsigned connect_bound = seconds_of(terms.connect_bound);
  const unsigned reply_bound = seconds_of(terms.reply_bound);
  const std::string row_bound =
      "SET innodb_lock_wait_timeout=" + std::to_string(std::max(1u, reply_bound / 2));
  library.mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &no_file);
  library.mysql_options(mysql, MYSQL_OPT_RECONNECT, &no);
  library.mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
  library.mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  library.mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_bound);
  library.mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &reply_bound);
  library.mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &reply_bound);
  library.mysql_options(mysql, MYSQL_INIT_COMMAND, row_bound.c_str());
  library.mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &tls);
  library.mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &tls);
  if (!terms.tls && terms.socket.empty())  // a plug-in of the server's choice could ask for it
    library.mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, mysql::plugins_without_tls);
  if (!terms.ca.empty()) library.mysql_options(mysql, MYSQL_OPT_SSL_CA, terms.ca.c_str());
  if (!terms.certificate.empty())
    library.mysql_options(mysql, MYSQL_OPT_SSL_CERT, terms.certificate.c_str());
  if (!terms.key.empty()) library.mysql_options(mysql, MYSQL_OPT_SSL_KEY, terms.key.c_str());
}

bool is_refusal(unsigned error) {
  return error == ER_ACCESS_DENIED_ERROR || error == ER_DBACCESS_DENIED_ERROR ||
         error == ER_BAD_DB_ERROR || error == ER_HOST_NOT_PRIVILEGED ||
         error == ER_ACCESS_DENIED_NO_PASSWORD_ERROR || error == CR_SSL_CONNECTION_ERROR ||
         error == CR_AUTH_PLUGIN_CANNOT_LOAD || error == CR_PLUGIN_NOT_ALLOWED;
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace

mysql_connection mysql_connection::open(const url& where) {
  const terms_of_opening terms = read_terms(where);
  const char* why = nullptr;
  const auto* const library = mysql::libmariadb(&why);
  if (!library) base::fail(errc::unsupported, "open", why, {}, where.text());
  mysql_connection made;
  made.state_ = std::make_shared<state>();
  made.state_->is_ours = true;
  made.state_->fork_generation = guards::watched_fork_generation();
  MYSQL* const mysql = made.state_->mysql = library->mysql_init(nullptr);
  if (!mysql) throw std::bad_alloc();
  set_options(*library, mysql, terms);
  const std::string password(secret_access::password(where));
  if (!library->mysql_real_connect(mysql, or_null(terms.host), or_null(where.user()),
                                   password.c_str(), or_null(terms.database),
                                   static_cast<unsigned>(terms.port), or_null(terms.socket), 0)) {
    const unsigned error = library->mysql_errno(mysql);
    base::fail(is_refusal(error) ? errc::refused : errc::unavailable, "open",
               "the server reported error " + std::to_string(error) + ": " +
                   library->mysql_error(mysql),
               {}, where.text());
  }
  // The library sets no FD_CLOEXEC: a child program would keep the session after its parent's end.
  ::fcntl(static_cast<int>(library->mysql_get_socket(mysql)), F_SETFD, FD_CLOEXEC);
  return made;
}

}  // namespace holdfast::inline v0

#else

namespace holdfast::inline v0 {

mysql_connection mysql_connection::open(const url& where) {
  base::fail(errc::unsupported, "open", "configure holdfast with -DHOLDFAST_WITH_MYSQL=ON", {},
             where.text());
}

}  // namespace holdfast::inline v0
#endif

namespace holdfast::inline v0 {

mysql_connection mysql_connection::open(const url& where, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return open(where); });
}

}  // namespace holdfast::inline v0
