#include "backend/redis/transport/resp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {
namespace {

using namespace std::string_literals;
using value_kind = value::kind;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// A reply in one line: 7, "text", +status, -error, nil, [..].
std::string shown(const value& v) {
  switch (v.what()) {
    case value_kind::nil: return "nil";
    case value_kind::integer: return std::to_string(v.integer());
    case value_kind::status: return '+' + std::string(v.text());
    case value_kind::error: return '-' + std::string(v.text());
    case value_kind::text: return '"' + std::string(v.text()) + '"';
    case value_kind::array: break;
  }
  std::string out = "[";
  value part = v[0];
  for (std::size_t i = 0; i < v.size(); ++i, part = part.next())
    out += (i ? " " : "") + shown(part);
  return out + ']';
}

// Every reply that is read when the bytes come in pieces of this size, and the fault, if any.
std::vector<std::string> read(std::string_view bytes, std::size_t piece) {
  reply_reader reader;
  std::vector<std::string> out;
  bool works = true;
  while (works && !bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    works = reader.feed(bytes_of(part)) && reader.for_each([&](const value& v) {
      out.push_back(shown(v));
      return true;
    });
  }
  EXPECT_EQ(works, reader.fault().empty());
  if (!works) out.emplace_back("fault");
  return out;
}

std::vector<std::string> read(std::string_view bytes) { return read(bytes, bytes.size()); }

// The same when no reply is taken before all bytes are there.
std::vector<std::string> read_late(std::string_view bytes, std::size_t piece) {
  reply_reader reader;
  std::vector<std::string> looked_at, out;
  while (!bytes.empty()) {
    reader.feed(bytes_of(bytes.substr(0, piece)));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    reader.for_each([](const value&) { return false; });
    reader.look_ahead([&](const value& v) {
      looked_at.push_back(shown(v));
      return true;
    });
  }
  const bool works = reader.for_each([&](const value& v) {
    out.push_back(shown(v));
    return true;
  });
  EXPECT_EQ(looked_at, std::vector(out.begin() + (out.empty() ? 0 : 1), out.end()));
  if (!works) out.emplace_back("fault");
  return out;
}

struct in_braces {  // an argument that writes itself
  std::string_view text;
  std::size_t size() const { return text.size() + 2; }
  void write_to(char* at) const {
    *at = '{';
    at[1 + text.copy(at + 1, text.size())] = '}';
  }
};

TEST(redis_resp, a_reply_has_errors_when_it_or_a_part_of_it_is_one) {
  reply_reader reader;
  std::string out;
  ASSERT_TRUE(
      reader.feed(bytes_of("+OK\r\n-ERR\r\n:1\r\n*2\r\n$1\r\na\r\n*1\r\n-X\r\n*1\r\n:1\r\n")));
  ASSERT_TRUE(reader.for_each([&](const value& v) {
    out += v.has_errors() ? 'e' : '.';
    return true;
  }));
  EXPECT_EQ(out, ".e.e.");
}

TEST(redis_resp, a_command_has_the_length_of_each_argument) {
  std::string out;
  command(out, 4) << "SET" << std::string_view("a\r\n$1\r\n", 7)
                  << std::numeric_limits<std::int64_t>::min() << "";
  EXPECT_EQ(out,
            "*4\r\n$3\r\nSET\r\n$7\r\na\r\n$1\r\n\r\n$20\r\n-9223372036854775808\r\n$0\r\n\r\n");
  out.clear();
  command(out, 1) << in_braces{"job"};
  EXPECT_EQ(out, "*1\r\n$5\r\n{job}\r\n");
}

TEST(redis_resp, a_command_of_words_counts_them) {
  std::string out = "before";
  append_command(out, "SET", in_braces{"job"}, std::int64_t{7});
  EXPECT_EQ(out, "before*3\r\n$3\r\nSET\r\n$5\r\n{job}\r\n$1\r\n7\r\n");
}

TEST(redis_resp, a_command_is_appended_to_what_is_there) {
  std::string out = "before";
  command(out, 1) << "PING";
  command(out, 1) << std::string(100, 'x');
  EXPECT_EQ(out, "before*1\r\n$4\r\nPING\r\n*1\r\n$100\r\n" + std::string(100, 'x') + "\r\n");
}

struct resp_row {
  std::string bytes;
  std::vector<std::string> replies;
};

const resp_row resp_rows[] = {
    {":7\r\n", {"7"}},
    {":-9223372036854775808\r\n", {"-9223372036854775808"}},
    {"+OK\r\n", {"+OK"}},
    {"+\r\n", {"+"}},
    {"-ERR no\r\n", {"-ERR no"}},
    {"$-1\r\n", {"nil"}},
    {"*-1\r\n", {"nil"}},
    {"$0\r\n\r\n", {"\"\""}},
    {"$5\r\na\r\nb\0\r\n"s, {"\"a\r\nb\0\""s}},
    {"*0\r\n", {"[]"}},
    {"*3\r\n:1\r\n$1\r\nx\r\n$-1\r\n", {"[1 \"x\" nil]"}},
    {"*2\r\n*2\r\n:1\r\n-E\r\n*1\r\n*1\r\n+x\r\n", {"[[1 -E] [[+x]]]"}},
    {":1\r\n:2\r\n*1\r\n:3\r\n", {"1", "2", "[3]"}},
    {":1\r\n$9\r\nhalf", {"1"}},
};

TEST(redis_resp, replies_are_the_same_in_one_piece_and_cut_anywhere) {
  for (const resp_row& r : resp_rows)
    for (const std::size_t piece : {r.bytes.size(), std::size_t{1}, std::size_t{3}})
      EXPECT_EQ(read(r.bytes, piece), r.replies) << r.bytes << " in pieces of " << piece;
}

TEST(redis_resp, what_is_no_reply_is_a_fault_and_what_came_before_it_is_read) {
  for (const std::string_view bad :
       {"x\r\n", "hello\r\n", ":x\r\n", ":1x\r\n", ":99999999999999999999\r\n", "$x\r\n", "$-2\r\n",
        "*x\r\n", "*-2\r\n", "*1\r\nx\r\n", "*99999999999\r\n", "#t\r\n", "*1\r\n#f\r\n",
        ",1.5\r\n"}) {
    EXPECT_EQ(read(bad), std::vector<std::string>{"fault"}) << bad;
    EXPECT_EQ(read(":7\r\n" + std::string(bad), 1), (std::vector<std::string>{"7", "fault"}))
        << bad;
  }
}

TEST(redis_resp, after_a_fault_nothing_more_is_read) {
  reply_reader reader;
  reader.feed(bytes_of("x\r\n"));
  EXPECT_FALSE(reader.for_each([](const value&) { return true; }));
  const std::string fault = reader.fault();
  EXPECT_NE(fault, "");
  EXPECT_FALSE(reader.feed(bytes_of(":1\r\n")));
  EXPECT_FALSE(reader.for_each([](const value&) {
    ADD_FAILURE() << "a reply after a fault";
    return true;
  }));
  EXPECT_EQ(reader.fault(), fault);
}

std::string nested(int deep) {
  std::string out;
  for (int i = 0; i < deep; ++i) out += "*1\r\n";
  return out + ":1\r\n";
}

TEST(redis_resp, arrays_are_nested_seven_deep_and_no_deeper) {
  EXPECT_EQ(read(nested(7)), std::vector<std::string>{"[[[[[[[1]]]]]]]"});
  EXPECT_EQ(read(nested(8)), std::vector<std::string>{"fault"});
  EXPECT_EQ(read(nested(9)), std::vector<std::string>{"fault"});
}

TEST(redis_resp, a_reply_has_a_bounded_number_of_values) {
  const auto array_of = [](std::size_t n) {
    std::string out = '*' + std::to_string(n) + "\r\n";
    for (std::size_t i = 0; i < n; ++i) out += ":1\r\n";
    return out;
  };
  reply_reader reader;
  ASSERT_TRUE(reader.feed(bytes_of(array_of(reply_reader::nodes_max - 1))));
  std::size_t size = 0;
  EXPECT_TRUE(reader.for_each([&](const value& v) {
    size = v.size();
    return true;
  }));
  EXPECT_EQ(size, reply_reader::nodes_max - 1);
  EXPECT_EQ(read(array_of(reply_reader::nodes_max)), std::vector<std::string>{"fault"});
}

TEST(redis_resp, a_reply_has_a_bounded_number_of_bytes) {
  const auto text_of = [](std::size_t n) {
    return '$' + std::to_string(n) + "\r\n" + std::string(n, 'x') + "\r\n";
  };
  EXPECT_EQ(read(text_of(reply_reader::bytes_max), 65536).front().size(),
            reply_reader::bytes_max + 2);
  EXPECT_EQ(read(text_of(reply_reader::bytes_max + 1), 65536), std::vector<std::string>{"fault"});
  EXPECT_EQ(read("$999999999\r\n" + std::string(3 * reply_reader::bytes_max, 'x'), 65536),
            std::vector<std::string>{"fault"});
}

TEST(redis_resp, a_fault_is_named) {
  const auto fault_of = [](std::string_view bytes) {
    reply_reader reader;
    reader.feed(bytes_of(bytes));
    reader.for_each([](const value&) { return true; });
    return reader.fault();
  };
  EXPECT_EQ(fault_of("x\r\n"), "Protocol error, got \"x\" as reply type byte");
  std::string many = '*' + std::to_string(reply_reader::nodes_max) + "\r\n";
  for (std::size_t i = 0; i < reply_reader::nodes_max; ++i) many += ":1\r\n";
  EXPECT_EQ(fault_of(many), "a reply exceeds the size limit");
}

TEST(redis_resp, what_a_value_is_not_is_empty) {
  reply_reader reader;
  reader.feed(bytes_of("*2\r\n:7\r\n-NOSCRIPT none\r\n"));
  int replies = 0;
  reader.for_each([&](const value& v) {
    ++replies;
    EXPECT_EQ(v.text(), "");
    EXPECT_EQ(v.integer(), 0);
    EXPECT_EQ(v[0].size(), 0u);
    EXPECT_EQ(v[0].text(), "");
    EXPECT_TRUE(v[2].is(value_kind::nil));
    EXPECT_TRUE(v[0][0].is(value_kind::nil));
    EXPECT_TRUE(v[1].next().is(value_kind::nil));
    EXPECT_TRUE(v[1].is_error("NOSCRIPT"));
    EXPECT_FALSE(v[1].is_error("NOSCRIP"));
    EXPECT_FALSE(v[0].is_error("7"));
    return true;
  });
  EXPECT_EQ(replies, 1);
}

TEST(redis_resp, a_reply_that_is_not_taken_comes_again_before_the_rest) {
  reply_reader reader;
  reader.feed(bytes_of(":1\r\n:2\r\n:"));
  std::string seen;
  const auto show = [&](const value& v) { seen += shown(v) + ' '; };
  EXPECT_TRUE(reader.for_each([&](const value& v) { return show(v), false; }));
  EXPECT_TRUE(reader.is_kept());
  EXPECT_EQ(reader.passed_on(), 1u);
  EXPECT_TRUE(reader.for_each([&](const value& v) { return show(v), true; }));
  EXPECT_FALSE(reader.is_kept());
  EXPECT_EQ(seen, "1 1 2 ");
  EXPECT_EQ(reader.passed_on(), 2u);
}

TEST(redis_resp, replies_behind_one_that_is_not_taken_are_shown_once_and_come_in_their_turn) {
  reply_reader reader;
  std::string seen;
  const auto take = [&](const value& v) { return seen += shown(v) + ' ', true; };
  const auto look = [&](const value& v) { return seen += '(' + shown(v) + ") ", v.integer() != 3; };
  reader.look_ahead(look);
  EXPECT_EQ(seen, "") << "no reply was refused";
  reader.feed(bytes_of(":1\r\n:2\r\n:"));
  reader.for_each([](const value&) { return false; });
  reader.look_ahead(look);
  reader.feed(bytes_of("3\r\n:4\r\n"));
  reader.look_ahead(look);
  EXPECT_EQ(seen, "(2) (3) ");
  EXPECT_EQ(reader.replies(), 3u);
  EXPECT_EQ(reader.passed_on(), 1u);
  EXPECT_TRUE(reader.for_each(take));
  EXPECT_EQ(seen, "(2) (3) 1 2 3 4 ");
  EXPECT_EQ(reader.passed_on(), 4u);
}

// As tests/fuzz/redis_reply.cpp, here without the sanitizers' build of its own.
TEST(redis_resp, changed_replies_are_read_in_pieces_as_in_one) {
  std::string all;
  for (const resp_row& r : resp_rows) all += r.bytes;
  std::minstd_rand draw;
  for (int times = 0; times < 3000; ++times) {
    std::string bytes = all;
    for (auto changes = 1 + draw() % 3; changes > 0; --changes)
      bytes[draw() % bytes.size()] = "*$+-:0129\r\nx"[draw() % 12];
    const auto whole = read(bytes);
    EXPECT_EQ(read(bytes, 1 + draw() % 9), whole) << bytes;
    EXPECT_EQ(read_late(bytes, 1 + draw() % 9), whole) << bytes;
  }
}

}  // namespace
}  // namespace holdfast::redis
