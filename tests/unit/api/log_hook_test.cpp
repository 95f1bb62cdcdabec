// The log hook of one client, next to that of the process.
#include <gtest/gtest.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <string>
#include <vector>

#include "api/client_access.hpp"
#include "testkit/manual_environment.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::log_level;

using lines = std::vector<std::string>;

void take(log_level, std::string_view line, void* to) {
  static_cast<lines*>(to)->emplace_back(line);
}

struct log_hooks : ::testing::Test {
  log_hooks() { holdfast::set_log_hook(&take, &of_process); }
  ~log_hooks() override { holdfast::set_log_hook(nullptr); }

  holdfast::client open(const holdfast::open_options& o) {
    return holdfast::detail::client_access::open(holdfast::url::parse(store.url() + "?ttl=10s"), o,
                                                 env);
  }

  holdfast::testkit::manual_environment env;
  holdfast::memory_store store{"log hooks"};
  lines of_process, of_client;
};

TEST_F(log_hooks, a_client_with_a_hook_logs_there_and_another_to_the_process) {
  const auto own = open({.log = &take, .log_context = &of_client});
  const auto plain = open({});
  const auto lost = own.mutex("a").acquire();
  const auto also_lost = plain.mutex("b").acquire();
  store.begin_outage();
  env.advance(11s);
  ASSERT_EQ(of_client.size(), 2u) << "a doubt and a loss";
  EXPECT_NE(of_client[1].find("\"a\""), std::string::npos);
  ASSERT_EQ(of_process.size(), 2u);
  EXPECT_NE(of_process[1].find("\"b\""), std::string::npos);
}

TEST_F(log_hooks, what_open_logs_goes_to_the_hook_that_it_is_given) {
  const std::string directory = testing::TempDir() + "holdfast-log-" + std::to_string(::getpid());
  const auto c =
      holdfast::client::open("file://" + directory, {.log = &take, .log_context = &of_client});
  ::rmdir(directory.c_str());
  ASSERT_EQ(of_client.size(), 1u);
  EXPECT_NE(of_client[0].find("has been created"), std::string::npos);
  EXPECT_TRUE(of_process.empty());
}

}  // namespace
