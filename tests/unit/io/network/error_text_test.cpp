#include "io/network/error_text.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/network.hpp"

namespace holdfast::io {
namespace {

TEST(network_error, while_connecting_has_its_remedy) {
  const std::pair<int, const char*> unavailable[] =
      {{ECONNREFUSED, "db:1: nothing listens there; start the server or correct the address"},
       {ENOENT, "db:1: there is no such socket; start the server or correct the path"},
       {EMFILE, "db:1: no descriptor is left; raise the limit of files (ulimit -n)"},
       {ENFILE, "db:1: no descriptor is left; raise the limit of files (ulimit -n)"},
       {ETIMEDOUT, "db:1: no answer; check the address, the network and the firewall"},
       {ENETUNREACH,
        "db:1: cannot be reached (Network is unreachable); check the address and the network"}};
  for (const auto& [number, text] : unavailable) {
    const base::failure why = connect_error("db:1", number);
    EXPECT_EQ(why.code, errc::unavailable) << number;
    EXPECT_EQ(why.text, text);
  }
  for (const int number : {EACCES, EPERM}) {
    const base::failure why = connect_error("/run/s", number);
    EXPECT_EQ(why.code, errc::refused) << number;
    EXPECT_TRUE(why.text.ends_with("; check the rights to the socket, or the firewall"))
        << why.text;
  }
}

TEST(network_error, while_reading_says_how_the_connection_ended) {
  const std::pair<int, const char*> ends[] =
      {{0, "db:1: the server has closed the connection"},
       {ECONNRESET, "db:1: the server has reset the connection"},
       {EPIPE, "db:1: the server has reset the connection"},
       {ETIMEDOUT, "db:1: the server no longer answers; check it and the network"},
       {ENETDOWN, "db:1: the connection broke (Network is down)"}};
  for (const auto& [number, text] : ends) {
    const base::failure why = read_error("db:1", number);
    EXPECT_EQ(why.code, errc::unavailable) << number;
    EXPECT_EQ(why.text, text);
  }
}

TEST(network_error, of_a_name_that_is_not_found_names_dns) {
  const base::failure why = lookup_error("nowhere:1", "no such host");
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_EQ(why.text,
            "nowhere:1: the name is not found (no such host); check its spelling and DNS");
}

TEST(network_address, is_shown_as_in_a_url) {
  EXPECT_EQ(base::text_of(base::address{"db", 7, {}}), "db:7");
  EXPECT_EQ(base::text_of(base::address{"::1", 7, {}}), "[::1]:7");
  EXPECT_EQ(base::text_of(base::address{"db", 7, "/run/s"}), "/run/s");
}

}  // namespace
}  // namespace holdfast::io
