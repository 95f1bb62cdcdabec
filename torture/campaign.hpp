// A campaign: workers contend for locks while faults strike, and the checks afterwards.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "contention/plant.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {

struct campaign_terms {
  std::string program;  // this one: it runs the workers
  std::string keep;     // a folder for the history of a campaign with a violation
  std::chrono::milliseconds length{};
  std::chrono::milliseconds
      recovery_bound{};  // how long recovery may take after the faults have ended
  std::uint64_t seed = 0;
  contention::plant planted = contention::plant::nothing;
};

struct campaign_result {
  std::string deployment;
  std::uint64_t seed = 0;
  std::chrono::milliseconds length{};
  std::uint64_t calls = 0, grants = 0, losses = 0, writes = 0, refused_writes = 0;
  // Overlaps and tokens that do not grow, while the backend makes no promise.
  std::uint64_t excused = 0;
  std::map<std::string, std::uint64_t> faults;
  std::vector<std::string> not_played;  // of deployment
  std::vector<std::string> violations;
  std::string history;  // where it is kept; "": it is not
};

campaign_result run_campaign(const kind_of_deployment&, const campaign_terms&);

}  // namespace holdfast::torture
