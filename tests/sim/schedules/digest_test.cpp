#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "tests/sim/machine/digest.hpp"
#include "tests/sim/memory/player.hpp"
#include "tests/sim/redis/model/sha1.hpp"
#include "tests/sim/redis/play.hpp"
#include "tests/sim/redis/requests.hpp"

namespace holdfast::sim {
namespace {

std::string request(std::initializer_list<std::string_view> argv) {
  std::string out = '*' + std::to_string(argv.size()) + "\r\n";
  for (const std::string_view a : argv)
    out.append('$' + std::to_string(a.size()) + "\r\n").append(a).append("\r\n");
  return out;
}

const std::string text = "return redis.call('GET', KEYS[1])";

std::string output_of(const std::string& command) {
  std::string out;
  FILE* const from = ::popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  for (std::size_t n = 1; from && n > 0;) {
    n = std::fread(part.data(), 1, part.size(), from);
    out.append(part.data(), n);
  }
  return from && ::pclose(from) == 0 ? out : "failed: " + command;
}

TEST(sim_digest, the_order_of_events_and_every_bit_of_them_count) {
  std::set<std::uint64_t> seen;
  const auto see = [&](std::initializer_list<std::string_view> texts) {
    digest d;
    for (const std::string_view t : texts) d.add(t);
    EXPECT_TRUE(seen.insert(d.value()).second);
  };
  see({});
  see({""});
  see({"a", "b"});
  see({"b", "a"});
  see({"ab"});
  see({"ab", ""});
  see({"", "ab"});
  see({"twelve bytes"});
  see({"twelve byte", "s"});
  see({std::string_view("ab\0", 3)});
}

TEST(sim_digest, every_byte_of_a_request_but_those_of_a_script_counts) {
  const std::string hash = sha1_hex(text);
  const std::string bytes = request({"SET", "a lock", "owner", "NX", "PX", "2000"}) +
                            request({"EVALSHA", hash, "1", "lock", ""}) + request({"EXEC"});
  const std::string shown = request_texts().show(bytes);
  EXPECT_EQ(shown, "SET \"a lock\" owner NX PX 2000 | EVALSHA <script 1> 1 lock \"\" | EXEC");
  const std::size_t script = bytes.find(hash);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= script && i < script + hash.size()) continue;
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_NE(request_texts().show(other), shown) << "byte " << i;
  }
  EXPECT_NE(request_texts().show(bytes.substr(0, bytes.size() - 1)), shown);
}

TEST(sim_digest, a_script_is_its_number_by_hash_and_by_text) {
  const auto show = [](const std::string& one, const std::string& two) {
    return request_texts().show(request({"SCRIPT", "LOAD", one}) + request({"EVAL", two, "0"}) +
                                request({"evalsha", sha1_hex(one), "0"}) +
                                request({"SCRIPT", "EXISTS", sha1_hex(two), sha1_hex(one)}));
  };
  const std::string shown = "SCRIPT LOAD <script 1> | EVAL <script 2> 0 | evalsha <script 1> 0 | "
                            "SCRIPT EXISTS <script 2> <script 1>";
  EXPECT_EQ(show(text, "return 1"), shown);
  EXPECT_EQ(show("-- a comment\n" + text, "return 2"), shown);
  EXPECT_NE(show(text, text), shown);
}

TEST(sim_digest, a_write_is_cut_at_an_argument_however_long_they_are) {
  const auto cut = [](std::string_view middle, double share) {
    const std::string bytes = request({"SET", middle, "end"});
    return request_texts().show(bytes.substr(cut_at(bytes, share)));
  };
  EXPECT_TRUE(cut("lock", 0.4).starts_with("raw \"lock")) << cut("lock", 0.4);
  EXPECT_TRUE(cut("lock", 0.7).starts_with("raw \"end")) << cut("lock", 0.7);
  EXPECT_EQ(cut(std::string(5000, 'x'), 0.7), cut("", 0.7));
  EXPECT_EQ(cut_at("+OK\r\n", 0.5), 0U);
}

void expect_same_elsewhere(const std::string& order, int lines) {
  const std::string here = output_of(order);
  EXPECT_EQ(std::count(here.begin(), here.end(), '\n'), lines) << here;
  EXPECT_EQ(output_of(order), here);
  EXPECT_EQ(output_of("LD_PRELOAD=" HOLDFAST_OTHER_PROCESS " " + order), here);
}

TEST(sim_digest, is_the_same_in_another_process_on_another_machine) {
  expect_same_elsewhere(std::string(HOLDFAST_SIM) + " --digest 150 --each", 151);
}

TEST(sim_digest, of_memory_is_the_same_in_another_process_on_another_machine) {
  expect_same_elsewhere(std::string(HOLDFAST_SIM) + " --memory --digest 1000 --each", 1001);
}

TEST(sim_digest, of_a_schedule_does_not_depend_on_those_before_it) {
  const auto digest_of = [](std::uint64_t seed) {
    return play_redis(draw(seed), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < 40; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
  EXPECT_EQ(play_memory(7), play_memory(7));
  EXPECT_NE(play_memory(7), play_memory(8));
}

}  // namespace
}  // namespace holdfast::sim
