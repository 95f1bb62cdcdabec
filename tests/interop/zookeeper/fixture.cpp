#include "tests/interop/zookeeper/fixture.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "testkit/peers/curator_peer.hpp"
#include "testkit/peers/kazoo_peer.hpp"

namespace holdfast::zookeeper_wire {
namespace {

#define SKIP_WITHOUT(peer) \
  if (const std::string& why_not = peer::unavailable(); !why_not.empty()) GTEST_SKIP() << why_not

}  // namespace

void with_curator::SetUp() {
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  SKIP_WITHOUT(testkit::curator_peer);
}

void with_kazoo::SetUp() {
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  SKIP_WITHOUT(testkit::kazoo_peer);
}

void with_both::SetUp() {
  with_curator::SetUp();
  if (IsSkipped()) return;
  SKIP_WITHOUT(testkit::kazoo_peer);
}

testkit::line_peer& curator() {
  static testkit::curator_peer peer;
  return peer;
}

testkit::line_peer& kazoo() {
  static testkit::kazoo_peer peer;
  return peer;
}

bool curator_keeps_the_place() { return curator().ask("any main version").text >= "5.5"; }

std::string address_of(const zookeeper_server& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

std::string text_of(const testkit::peer_answer& answer) {
  return answer.ok ? answer.text : "failed: " + answer.text;
}

peer_client::peer_client(testkit::line_peer& peer, const std::string& address,
                         const std::string& options)
    : peer_(peer) {
  static int count = 0;
  name_ = 'c' + std::to_string(++count);
  const std::string session = ask("open " + address + ' ' + options);
  EXPECT_TRUE(session.starts_with("0x")) << session;
}

peer_client::~peer_client() { ask("close"); }

call peer_client::send(const std::string& thread, const std::string& words) const {
  return peer_.send(name_ + ' ' + thread + ' ' + words);
}

std::string peer_client::ask(const std::string& thread, const std::string& words) const {
  return text_of(send(thread, words).wait());
}

bool peer_client::is_asleep(const std::string& thread) const {
  const std::string answer = ask("asleep " + thread);
  return answer == "true" || answer == "True";
}

void peer_client::end_session() const { EXPECT_EQ(ask("kill"), ""); }

void peer_client::wait_for_session_after(const std::string& ended) const {
  EXPECT_TRUE(eventually([&] {
    const std::string now = ask("session");
    return now != ended && now != "0x0" && names("/").find("zookeeper") != std::string::npos;
  }));
}

void peer_client::lose_session() const {
  const std::string ended = ask("session");
  end_session();
  wait_for_session_after(ended);
}

std::string peer_client::children(const std::string& path) const {
  std::istringstream answer(names(path));
  std::vector<std::string> all{std::istream_iterator<std::string>(answer), {}};
  const auto place = [](const std::string& name) {
    return name.substr(name.size() - std::min<std::size_t>(name.size(), 10));
  };
  std::ranges::stable_sort(all, {}, place);
  std::string joined;
  for (const std::string& name : all) joined += (joined.empty() ? "" : " ") + name;
  return with_kinds_of_ids(joined);
}

}  // namespace holdfast::zookeeper_wire
