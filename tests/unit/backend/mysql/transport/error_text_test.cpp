#include "backend/mysql/transport/error_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace holdfast::mysql_unit {
namespace {

using mysql::sql_verdict;

TEST(mysql_error, of_a_statement_has_the_number_and_the_remedy) {
  const base::failure why = mysql::explain(1142, "SELECT command denied");
  EXPECT_EQ(why.code, errc::refused);
  EXPECT_EQ(why.text,
            "SELECT command denied (error 1142); grant this user SELECT, INSERT and UPDATE on the "
            "table");
}

TEST(mysql_error, an_unknown_one_is_refused_for_a_statement_and_unavailable_while_connecting) {
  EXPECT_EQ(mysql::explain(1, "odd").code, errc::refused);
  EXPECT_EQ(mysql::explain(1, "odd").text, "odd (error 1)");
  EXPECT_EQ(mysql::explain_connecting(1, "odd").code, errc::unavailable);
  EXPECT_EQ(mysql::explain_connecting(1045, "denied").code, errc::refused);
}

TEST(mysql_error, means_the_same_for_every_user) {
  const std::pair<unsigned, errc> meanings[] =
      {{1044, errc::refused},     {1045, errc::refused},     {1698, errc::refused},
       {1130, errc::refused},     {1251, errc::refused},     {5010, errc::refused},
       {2059, errc::refused},     {1049, errc::refused},     {1046, errc::refused},
       {1040, errc::unavailable}, {1203, errc::unavailable}, {1226, errc::unavailable},
       {2005, errc::unavailable}, {2026, errc::refused},     {2007, errc::refused},
       {2027, errc::refused},     {1143, errc::refused},     {1146, errc::refused},
       {1054, errc::mismatch},    {1290, errc::unavailable}, {1036, errc::unavailable},
       {1114, errc::unavailable}, {1021, errc::unavailable}, {1205, errc::unavailable}};
  for (const auto& [value, code] : meanings) {
    const base::failure why = mysql::explain(value, "words");
    EXPECT_EQ(why.code, code) << value;
    EXPECT_NE(why.text.find("); "), std::string::npos) << value << " has a remedy";
  }
}

TEST(mysql_error, a_cut_while_connecting_may_be_a_server_of_another_kind) {
  const base::failure why = mysql::explain_connecting(2013, "Lost connection");
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_EQ(why.text,
            "Lost connection (error 2013); check that the URL names a MariaDB or MySQL server");
  EXPECT_EQ(mysql::explain(2013, "Lost connection").text, "Lost connection (error 2013)");
}

TEST(mysql_error, a_cut_in_use_says_nothing_about_the_url) {
  const base::failure why = mysql::explain_loss(2013, "Lost connection");
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_EQ(why.text, "Lost connection (error 2013)");
}

TEST(mysql_error, of_a_statement_that_changed_nothing_lets_it_be_repeated) {
  for (const unsigned passing :
       {1020u, 1021u, 1036u, 1041u, 1114u, 1205u, 1213u, 1290u, 1317u, 1969u, 3024u, 3058u}) {
    EXPECT_EQ(mysql::verdict_of(passing), sql_verdict::not_now) << passing;
    EXPECT_EQ(mysql::explain(passing, "words").code, errc::unavailable) << passing;
  }
  for (const unsigned other : {1u, 1142u, 1146u, 1054u, 1019u, 1022u})
    EXPECT_EQ(mysql::verdict_of(other), sql_verdict::refused) << other;
}

TEST(mysql_error, of_the_client_library_or_of_a_server_that_stops_ends_the_connection) {
  for (const unsigned ending : {1053u, 1079u, 1080u, 1927u, 4031u, 2000u, 2013u, 2999u})
    EXPECT_TRUE(mysql::ends_connection(ending)) << ending;
  for (const unsigned other : {1052u, 1205u, 1999u, 3000u})
    EXPECT_FALSE(mysql::ends_connection(other)) << other;
}

TEST(mysql_error, of_too_many_connections_is_a_shortage) {
  for (const unsigned shortage : {1040u, 1203u, 1226u})
    EXPECT_TRUE(mysql::is_shortage(mysql::explain_connecting(shortage, "words"))) << shortage;
  EXPECT_FALSE(mysql::is_shortage(mysql::explain_connecting(2013, "words")));
}

}  // namespace
}  // namespace holdfast::mysql_unit
