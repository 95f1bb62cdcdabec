// The events of a story and the time at which each took place.
#pragma once
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::lab {

enum class activity : unsigned char {
  holds,     // the client has the lock, and the store agrees
  believes,  // the client acts as a holder, and the store no longer agrees
  left,      // the client is dead, and the store keeps its lock
  other,     // the client has another lock than the others
  stopped,   // the client's process does not run
  waits,     // the client waits for the lock
};
inline constexpr std::size_t activities = 6;

enum class tone : unsigned char { plain, good, bad };

// Times are milliseconds since the start of the timeline.
struct interval {
  double begin = 0, end = 0;
};
struct span : interval {
  std::size_t lane = 0;
  activity what = activity::holds;
};
struct event {
  std::size_t lane = 0;
  double at = 0;
  std::string text;
  tone how = tone::plain;
};

// Safe to call from any thread until finish(); the accessors are for the time after it.
class timeline {
 public:
  std::size_t add_lane(std::string name);
  // The time of the first call of any of these is the start.
  void note(std::size_t lane, std::string text, tone);
  void begin(std::size_t lane, activity);  // ends what the lane did before
  void end(std::size_t lane);
  void finish();  // ends what all lanes do; sorts the events by their time

  const std::vector<std::string>& lanes() const noexcept { return lanes_; }
  const std::vector<span>& spans() const noexcept { return spans_; }
  const std::vector<event>& events() const noexcept { return events_; }
  double length() const noexcept { return length_; }  // at least 1
  // When two lanes or more acted as holders at the same time.
  std::vector<interval> overlaps() const;

 private:
  double now();

  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_{};
  std::vector<std::string> lanes_;
  std::vector<span> spans_, open_;
  std::vector<event> events_;
  double length_ = 1;
};

// One lane of a timeline: a client, a server, or the data that the lock protects.
class actor {
 public:
  actor(timeline& on, std::string name) : on_(on), lane_(on.add_lane(std::move(name))) {}

  void note(std::string text) { on_.note(lane_, std::move(text), tone::plain); }
  void good(std::string text) { on_.note(lane_, std::move(text), tone::good); }
  void bad(std::string text) { on_.note(lane_, std::move(text), tone::bad); }
  // These begin an activity together with an event.
  void holds(std::string text) { start(activity::holds, std::move(text), tone::plain); }
  void also_holds(std::string text) { start(activity::holds, std::move(text), tone::bad); }
  void believes(std::string text) { start(activity::believes, std::move(text), tone::bad); }
  void leaves_its_lock(std::string text) { start(activity::left, std::move(text), tone::bad); }
  void stops(std::string text) { start(activity::stopped, std::move(text), tone::plain); }
  void has_another(std::string text) { start(activity::other, std::move(text), tone::plain); }
  void waits(std::string text) { start(activity::waits, std::move(text), tone::plain); }
  void ends(std::string text, tone how = tone::plain) {
    on_.note(lane_, std::move(text), how);
    on_.end(lane_);
  }
  // For many turns in a row, which would need too many events.
  void begin_turn() { on_.begin(lane_, activity::holds); }
  void end_turn() { on_.end(lane_); }

 private:
  void start(activity what, std::string text, tone how) {
    on_.note(lane_, std::move(text), how);
    on_.begin(lane_, what);
  }

  timeline& on_;
  std::size_t lane_;
};

// The text in lines of at most `width` characters; the breaks are at spaces.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);
// The distance of the marks of a time axis of this length: 1, 2 or 5 times a power of ten.
double tick_of(double length);
std::string in_ms(double time);  // "12 ms"

}  // namespace holdfast::lab
