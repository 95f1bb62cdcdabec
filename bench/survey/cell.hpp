// The measurements of one lock under one load.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "survey/latencies.hpp"

namespace survey {

// A time for which a worker held the lock. The times count from the beginning of the run.
struct tenure {
  unsigned worker = 0;
  double from_us = 0, to_us = 0;
};

// One run of it.
struct measurement {
  double seconds = 0;
  std::uint64_t attempts = 0, acquired = 0;
  std::uint64_t errors = 0;    // of the attempts
  std::uint64_t overlaps = 0;  // grants while another worker held the lock, and lost updates
  std::string first_error{};
  latencies acquire{}, held{}, handoff{}, cycle{};
  std::vector<tenure> timeline{};  // the first ones of a lock for which several workers compete
  double most_to_fewest = 0;       // acquisitions of one worker; by half a one if a worker had none
  double jain = 0;        // Jain's index: 1 for equal shares, 1/workers if one worker has all
  double client_cpu = 0;  // seconds of processor time, of all
  double server_cpu = 0;
  double others_cpu = 0;       // of other programs, as a share of the machine
  double server_commands = 0;  // those of scripts included; of the attempts that failed too
  double bytes = 0;            // that the workers' clients sent and received
  // The memory for each lock, in bytes, under a load that holds many of them.
  double client_memory = 0, server_memory = 0;
};

// All runs of it.
struct cell {
  std::string topology, lock, load;
  bool is_unsafe = false;  // a demonstration: two may hold it together
  std::string refused{};   // why it cannot be measured
  std::vector<measurement> runs{};
  unsigned repeated = 0;  // runs that were thrown away because other programs disturbed them
};

double median(std::vector<double>);

// A figure of each run.
template <class Figure>
std::vector<double> each(const cell& c, Figure figure) {
  std::vector<double> all;
  for (const measurement& m : c.runs) all.push_back(figure(m));
  return all;
}

template <class Figure>
auto total(const cell& c, Figure figure) {
  decltype(figure(measurement())) sum{};
  for (const measurement& m : c.runs) sum += figure(m);
  return sum;
}

latencies all_of(const cell&, latencies measurement::*);
bool is_optimistic(const cell&);     // its updates hold no lock
latencies handoffs_of(const cell&);  // none of a lock that nothing holds

double acquired_per_second(const measurement&);
double success_rate(const cell&);  // 0 to 1
double commands_per_acquisition(const cell&);
double bytes_per_acquisition(const cell&);
double client_us_per_acquisition(const cell&);
double server_us_per_acquisition(const cell&);
// "ok", "failed" when two workers held a lock together, else why there are no figures.
std::string verdict(const cell&);

}  // namespace survey
