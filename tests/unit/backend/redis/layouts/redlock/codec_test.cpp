// Redlock's codec: votes and holders in the replies of its scripts.
#include "backend/redis/layouts/redlock/codec.hpp"

#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis::redlock {
namespace {

using namespace std::chrono_literals;

ballot attempt(std::string_view bytes) {
  ballot out;
  with_replies(bytes, [&](const value& v) { out = read_attempt(v); });
  return out;
}

TEST(redlock_codec, an_attempt_is_answered_with_a_number_or_with_the_owner) {
  const ballot yes = attempt("*2\r\n:1\r\n:700\r\n");
  EXPECT_EQ(yes.what, vote::yes);
  EXPECT_EQ(yes.number, 700);
  const ballot no = attempt("*3\r\n:0\r\n$3\r\nher\r\n:5000\r\n");
  EXPECT_EQ(no.what, vote::no);
  EXPECT_EQ(no.holder, std::hash<std::string_view>{}("her"));
  EXPECT_EQ(no.rest, 5s);
}

TEST(redlock_codec, what_the_script_does_not_answer_is_no_vote) {
  for (const std::string_view bytes : {"*0\r\n", "*1\r\n:1\r\n", "*1\r\n:0\r\n", ":1\r\n",
                                       "+OK\r\n", "-ERR what\r\n", "*2\r\n:2\r\n:700\r\n"})
    EXPECT_EQ(attempt(bytes).what, vote::missing) << bytes;
}

}  // namespace
}  // namespace holdfast::redis::redlock
