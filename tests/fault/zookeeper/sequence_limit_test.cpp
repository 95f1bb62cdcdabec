// Locks whose parent has had almost 2^31 children.
#include <algorithm>
#include <limits>

#include "lock_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

constexpr std::int32_t limit = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t last_granted = limit - 10'001;

struct kind_of_lock {
  const char* layout;
  const char* folder;  // of the nodes whose sequence is at its limit
};

class zookeeper_sequence_limit : public on_zookeeper,
                                 public testing::WithParamInterface<kind_of_lock> {
 protected:
  // The lock "x", whose next node gets this sequence.
  void SetUp() override {
    on_zookeeper::SetUp();
    if (IsSkipped()) return;
    raw_ = std::make_unique<session_client>(server_.url());
    raw_->open();
    const std::string folder = GetParam().folder;
    for (std::size_t at = folder.find('/', 1); at != folder.npos; at = folder.find('/', at + 1))
      ASSERT_EQ(raw_->create(folder.substr(0, at)).code, error::ok);
    ASSERT_EQ(raw_->create(folder).code, error::ok);
    ASSERT_EQ(raw_->create(folder + "/a").code, error::ok);
    ASSERT_EQ(raw_->remove(folder + "/a").code, error::ok);
  }
  void set_next(std::int32_t sequence) {
    server_.set_created(std::string(GetParam().folder) + "/a", sequence);
  }
  client open() const {
    return client::open(server_.url() + "?session-timeout=10s&layout=" + GetParam().layout);
  }
  static lease acquire(const client& c, std::error_code& why) {
    if (is_of_permits()) return semaphore(c, "x", 1).acquire({}, why);
    return mutex(c, "x").acquire({}, why);
  }
  static lease try_acquire(const client& c, std::error_code& why) {
    if (is_of_permits()) return semaphore(c, "x", 1).try_acquire({}, why);
    return mutex(c, "x").try_acquire({}, why);
  }
  static bool is_of_permits() { return std::string_view(GetParam().layout) == "curator-semaphore"; }
  bool is_empty() { return raw_->children_of(GetParam().folder).empty(); }

  zookeeper_server server_;
  std::unique_ptr<session_client> raw_;
};

TEST_P(zookeeper_sequence_limit, is_refused_as_exhausted_once_its_node_is_removed) {
  set_next(last_granted);
  const client c = open();
  std::error_code why;
  lease held = acquire(c, why);
  ASSERT_TRUE(held.held()) << why.message();
  held.release();
  EXPECT_FALSE(bool(acquire(c, why)));
  EXPECT_EQ(why, errc::exhausted) << why.message();
  EXPECT_TRUE(is_empty());
  const auto all = c.diagnose();
  const auto found = std::ranges::find(all, "sequences", &finding::what);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->grade, finding_grade::bad) << found->why;
}

// There the server gives each node the same sequence, and the order of the GUIDs is random.
TEST_P(zookeeper_sequence_limit, is_not_held_by_two_clients_that_have_the_same_sequence) {
  constexpr int rounds = 20;
  set_next(limit);
  const client one = open(), other = open();
  for (int i = 0; i < rounds; ++i) {
    std::error_code why, others;
    const lease held = try_acquire(one, why), also = try_acquire(other, others);
    ASSERT_FALSE(held.held() && also.held()) << "both hold it in round " << i;
    EXPECT_EQ(why, errc::exhausted);
    EXPECT_EQ(others, errc::exhausted);
  }
  EXPECT_TRUE(is_empty());
}

TEST_P(zookeeper_sequence_limit, is_warned_about_from_two_billions_on) {
  set_next(2'000'000'000);
  const client c = open();
  std::error_code why;
  const lease held = acquire(c, why);
  EXPECT_TRUE(held.held()) << why.message();
  const auto all = c.diagnose();
  const auto found = std::ranges::find(all, "sequences", &finding::what);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->grade, finding_grade::warn) << found->why;
}

INSTANTIATE_TEST_SUITE_P(of, zookeeper_sequence_limit,
                         testing::Values(kind_of_lock{"curator", "/x"},
                                         kind_of_lock{"curator-rw", "/x"},
                                         kind_of_lock{"kazoo", "/x"},
                                         kind_of_lock{"curator-semaphore", "/x/leases"}),
                         [](const auto& of) {
                           std::string name = of.param.layout;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::zookeeper_test
