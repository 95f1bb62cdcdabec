#include "lab/story.hpp"

#include <algorithm>
#include <thread>

#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/zookeeper_server.hpp"

namespace holdfast::lab {

void require(bool condition, const char* fact) {
  if (!condition) throw story_error(std::string("not so: ") + fact);
}

void wait_until(const char* fact, const std::function<bool()>& condition) {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds limit{30};
  constexpr std::chrono::milliseconds pause{2};
  const auto end = steady_clock::now() + limit;
  while (!condition()) {
    if (steady_clock::now() > end) throw story_error(std::string("did not happen: ") + fact);
    std::this_thread::sleep_for(pause);
  }
}

const std::vector<story>& all_stories() {
  static const std::vector<story> all = [] {
    std::vector<story> joined;
    for (auto of_file :
         {redis_release_stories, redis_script_stories, redis_stamp_stories, redis_lease_stories,
          redis_pause_stories, redis_failover_stories, redlock_stories, redlock_vote_stories,
          redis_herd_stories, zookeeper_stories, zookeeper_session_stories, mysql_lock_stories,
          mysql_data_stories}) {
      for (story& s : of_file()) joined.push_back(std::move(s));
    }
    return joined;
  }();
  return all;
}

const story* story_named(std::string_view name) {
  for (const story& s : all_stories())
    if (s.name == name) return &s;
  return nullptr;
}

std::string defect_of(const story& s) {
  const auto is_holdfast = [](const variant& v) {
    return std::string_view(v.lock).find("holdfast") != std::string_view::npos;
  };
  const auto is_answer = [&](const variant& v) {
    return is_holdfast(v) && v.expected != verdict::breaks;
  };
  if (s.variants.empty() || is_holdfast(s.variants.front()) ||
      s.variants.front().expected != verdict::breaks)
    return "the story does not begin with a naive lock that breaks";
  if (std::ranges::none_of(s.variants, is_answer))
    return "the story does not show holdfast in the events that break the naive lock";
  return {};
}

std::string lacking_for(const story& s) {
  using namespace testkit;
  switch (s.needs) {
    case server::redis: return redis_server::installed() ? "" : redis_server::not_installed;
    case server::zookeeper:
      return zookeeper_server::installed() ? "" : zookeeper_server::not_installed;
    case server::mariadb: return mariadb_server::installed() ? "" : mariadb_server::not_installed;
  }
  return {};
}

const char* to_text(verdict v) noexcept {
  switch (v) {
    case verdict::breaks: return "breaks";
    case verdict::stands: return "stands";
    case verdict::fence_stands: return "only the fence stands";
  }
  return "";
}

const char* to_text(server s) noexcept {
  switch (s) {
    case server::redis: return "redis";
    case server::zookeeper: return "zookeeper";
    case server::mariadb: return "mariadb";
  }
  return "";
}

std::string run(const variant& v, play& p) {
  try {
    v.run(p);
  } catch (const std::exception& e) {
    p.line.finish();
    return e.what();
  }
  p.line.finish();
  if (v.expected == verdict::breaks) return p.has_damage ? "" : "the damage did not come about";
  if (p.has_damage) return "there is damage";
  if (v.expected == verdict::stands && !p.line.overlaps().empty())
    return "two clients held the lock at the same time";
  return {};
}

}  // namespace holdfast::lab
