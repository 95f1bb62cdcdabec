// A failure story: events that break a naive lock, and the same events under holdfast.
#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lab/timeline.hpp"

namespace holdfast::lab {

// What a play is known to end with. Another end is a failure of the lab.
enum class verdict : unsigned char {
  breaks,        // with the damage
  stands,        // without it, and no two clients held the lock at a time
  fence_stands,  // without it, because the data refused a write that no lock could prevent
};

// One run of a story's events.
struct play {
  timeline line;
  bool has_damage = false;
  std::string outcome;  // one or two sentences

  // The end of the events; what follows, such as closing clients, is not drawn.
  void ends(bool damage, std::string text) {
    line.finish();
    has_damage = damage;
    outcome = std::move(text);
  }
};

// The events of a story did not take place as they should.
class story_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
void require(bool condition, const char* fact);  // throws story_error
// Returns when the condition holds; throws story_error after half a minute.
void wait_until(const char* fact, const std::function<bool()>& condition);

struct variant {
  const char* lock;  // the lock that is used: "SETNX, then EXPIRE"
  verdict expected;
  void (*run)(play&);
};

enum class server : unsigned char { redis, zookeeper, mariadb };

struct story {
  const char* name;  // of the command line and of the SVG
  const char* title;
  const char* question;  // the situation, for a reader who knows locks but not this failure
  const char* answer;    // why the lock breaks, and what prevents it
  server needs;
  std::vector<variant> variants;
};

// All stories, in the order in which they are told.
const std::vector<story>& all_stories();
const story* story_named(std::string_view);
// Empty when the story begins with a naive lock that breaks, and holdfast follows; else what is
// wrong.
std::string defect_of(const story&);
// Empty when the story's server is installed, else "skipped: ..." and the reason.
std::string lacking_for(const story&);

const char* to_text(verdict) noexcept;
const char* to_text(server) noexcept;
// Runs the variant and judges its end. Empty: as expected; else what is wrong.
std::string run(const variant&, play&);

// The stories of each file.
std::vector<story> redis_release_stories();
std::vector<story> redis_script_stories();
std::vector<story> redis_stamp_stories();
std::vector<story> redis_lease_stories();
std::vector<story> redis_pause_stories();
std::vector<story> redis_failover_stories();
std::vector<story> redlock_stories();
std::vector<story> redlock_vote_stories();
std::vector<story> redis_herd_stories();
std::vector<story> zookeeper_stories();
std::vector<story> zookeeper_session_stories();
std::vector<story> mysql_lock_stories();
std::vector<story> mysql_data_stories();

}  // namespace holdfast::lab
