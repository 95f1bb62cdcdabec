// Workers that take one lock without a pause: how many turns they have, and how long one waits.
#pragma once
#include <chrono>
#include <functional>
#include <string>

namespace holdfast::interop_test {

using worker_clock = std::chrono::steady_clock;  // a JVM's too

struct turns_had {
  long long all = 0, fewest = 0;  // of all workers; of the worker that had the fewest
  worker_clock::duration longest_wait{};
};

// The time in which turns are counted; it begins soon.
struct counted_time {
  worker_clock::time_point from = worker_clock::now() + std::chrono::milliseconds{300};
  worker_clock::time_point to = from + std::chrono::seconds{5};
};

// `take_turn`, given the number of the worker, acquires and releases, and returns the time between.
turns_had play_workers(
    int count, counted_time,
    const std::function<worker_clock::time_point(std::size_t worker)>& take_turn);

// The command for the contenders of a peer (Contenders.java), and what it answers.
std::string contenders_of(int count, const std::string& type, const std::string& name,
                          counted_time);
turns_had turns_in(const std::string& answer);

struct turns_of_both {
  turns_had them, us;
};

// Plays periods until each worker had a turn in one, six at most: on a busy machine a worker of a
// JVM may have none in 5 s.
turns_of_both play_until_all_had_turns(const std::function<turns_of_both()>& play_a_period);

void show(const std::string& layout, const std::string& whose, const turns_had&);

}  // namespace holdfast::interop_test
