// Metrics as the text that Prometheus reads.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using holdfast::errc;
using holdfast::metric_label;
using holdfast::metrics;
using holdfast::to_prometheus;

metrics some() {
  metrics m;
  m.counted = true;
  m.backend = "redis://u@h:6379";
  m.busy = 3;
  m.errors_unavailable = 1;
  m.errors_lost = 4;
  m.errors_usage = 7;
  m.waits.shared.buckets[0] = 2;
  m.waits.shared.buckets[5] = 1;
  m.waits.shared.buckets.back() = 1;
  m.waits.shared.sum = 2001500000ns;
  return m;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(prometheus_text, has_counters_and_cumulative_buckets_in_seconds) {
  const std::string text = to_prometheus(some());
  EXPECT_TRUE(has_line(text, "# TYPE holdfast_busy_total counter"));
  EXPECT_TRUE(has_line(text, R"(holdfast_busy_total{backend="redis://u@h:6379"} 3)"));
  EXPECT_TRUE(has_line(text, "# TYPE holdfast_wait_seconds histogram"));
  const std::string labels = R"({backend="redis://u@h:6379",mode="shared")";
  const std::string wait = "holdfast_wait_seconds";
  EXPECT_TRUE(has_line(text, wait + "_bucket" + labels + R"(,le="0.000001"} 2)"));
  EXPECT_TRUE(has_line(text, wait + "_bucket" + labels + R"(,le="0.0005"} 2)"));
  EXPECT_TRUE(has_line(text, wait + "_bucket" + labels + R"(,le="0.001"} 3)"));
  EXPECT_TRUE(has_line(text, wait + "_bucket" + labels + R"(,le="600"} 3)"));
  EXPECT_TRUE(has_line(text, wait + "_bucket" + labels + R"(,le="+Inf"} 4)"));
  EXPECT_TRUE(has_line(text, wait + "_sum" + labels + "} 2.0015"));
  EXPECT_TRUE(has_line(text, wait + "_count" + labels + "} 4"));
  EXPECT_TRUE(has_line(text, "holdfast_acquired_total" + labels + "} 4"));
}

TEST(prometheus_text, is_valid_with_every_family_once_and_every_series_once) {
  metrics other = some();
  other.backend = "file:";
  const std::vector<metrics> all = {some(), other, some()};
  const std::string label = R"re([a-z]+="([^"\\\n]|\\.)*")re";
  const std::regex sample("[a-zA-Z_:][a-zA-Z0-9_:]*\\{" + label + "(," + label + ")*\\} \\S+");
  const std::regex comment("# (HELP|TYPE) [a-zA-Z_:][a-zA-Z0-9_:]* .+");
  std::set<std::string> seen;
  std::istringstream written(to_prometheus(all));
  for (std::string line; std::getline(written, line);) {
    EXPECT_TRUE(std::regex_match(line, line[0] == '#' ? comment : sample)) << line;
    const std::string key =
        line[0] == '#' ? line.substr(0, line.find(' ', 7)) : line.substr(0, line.rfind(' '));
    EXPECT_TRUE(seen.insert(key).second) << line << " stands there twice";
  }
}

TEST(prometheus_text, sums_the_clients_of_one_backend) {
  const std::string text = to_prometheus(std::vector{some(), some()});
  const std::string of = R"({backend="redis://u@h:6379")";
  EXPECT_TRUE(has_line(text, "holdfast_busy_total" + of + "} 6"));
  EXPECT_TRUE(has_line(text, "holdfast_errors_total" + of + R"(,outcome="unavailable"} 2)"));
  EXPECT_TRUE(has_line(text, "holdfast_errors_total" + of + R"(,outcome="lost"} 8)"));
  EXPECT_TRUE(has_line(text, "holdfast_errors_total" + of + R"(,outcome="usage"} 14)"));
  EXPECT_TRUE(has_line(text, "holdfast_wait_seconds_count" + of + R"(,mode="shared"} 8)"));
}

TEST(prometheus_text, shows_a_loss_of_one_of_the_clients_of_a_backend) {
  metrics near = some(), far = some();
  near.connected = true;
  near.reconnects = 2;
  far.reconnects = 1;
  EXPECT_TRUE(has_line(to_prometheus(near), "# TYPE holdfast_connected gauge"));
  EXPECT_TRUE(has_line(to_prometheus(near), R"(holdfast_connected{backend="redis://u@h:6379"} 1)"));
  EXPECT_TRUE(has_line(to_prometheus(far), R"(holdfast_connected{backend="redis://u@h:6379"} 0)"));
  const std::vector<metrics> both = {near, far};
  EXPECT_TRUE(has_line(to_prometheus(both), R"(holdfast_connected{backend="redis://u@h:6379"} 0)"));
  EXPECT_TRUE(
      has_line(to_prometheus(both), R"(holdfast_reconnects_total{backend="redis://u@h:6379"} 3)"));
  metrics total;
  total += near;
  EXPECT_TRUE(total.connected) << "an empty sum has lost nothing";
}

TEST(prometheus_text, escapes_the_values_of_labels) {
  const metric_label label{"job", "a\"b\\c\nd"};
  EXPECT_TRUE(has_line(to_prometheus(some(), {&label, 1}),
                       R"(holdfast_busy_total{backend="redis://u@h:6379",job="a\"b\\c\nd"} 3)"));
}

TEST(prometheus_text, has_labels_of_letters_digits_and_underscores) {
  const metric_label labels[] = {{"_z9", "x"}, {"AZ0", "y"}};
  EXPECT_TRUE(has_line(to_prometheus(some(), labels),
                       R"(holdfast_busy_total{backend="redis://u@h:6379",_z9="x",AZ0="y"} 3)"));
}

TEST(prometheus_text, refuses_labels_that_cannot_be) {
  const std::string_view empty = std::string_view("job").substr(0, 0);
  for (const std::string_view name :
       {empty, "1st"sv, "a-b"sv, "__x"sv, "le"sv, "mode"sv, "backend"sv, "outcome"sv, "é"sv}) {
    const metric_label label{name, "x"};
    try {
      (void)to_prometheus(some(), {&label, 1});
      ADD_FAILURE() << name << " was accepted";
    } catch (const holdfast::lock_error& e) {
      EXPECT_EQ(e.code(), errc::bad_option) << name;
    }
  }
  const metric_label twice[] = {{"a", "1"}, {"a", "2"}};
  EXPECT_THROW((void)to_prometheus(some(), twice), holdfast::lock_error);
}

TEST(prometheus_text, shows_no_password) {
  const auto door = holdfast::client::open("memory:?metrics=1&password=secret");
  (void)door.mutex("x").acquire();
  const std::string text = to_prometheus(door.metrics());
  EXPECT_NE(text.find("holdfast_grants_total{backend=\"memory:\"}"), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

}  // namespace
