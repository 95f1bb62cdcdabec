// Those that hold a lock together, or some permits of a semaphore, and those that wait for them.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "tests/unit/backend/memory/party.hpp"

namespace holdfast::mutants {
namespace {

using core::mutant;
using memory::party;
using namespace std::chrono_literals;

struct stage {
  testkit::manual_environment env;
  std::shared_ptr<memory::server> store = std::make_shared<memory::server>();
};

std::string no_reader_passes_a_writer() {
  stage s;
  party reader(s.store, s.env), writer(s.store, s.env), late(s.store, s.env);
  reader.claim->acquire({.ttl = 10s, .mode = lock_mode::shared});
  writer.acquire();
  late.claim->acquire({.one_attempt = true, .ttl = 10s, .mode = lock_mode::shared});
  if (reader.heard.news() != "gw") return "the reader did not hear that it is wanted";
  return late.heard.news() == "r" ? "" : "readers that come and go keep a writer out for ever";
}

std::string a_dead_reader_goes() {
  stage s;
  party reader(s.store, s.env), writer(s.store, s.env);
  reader.claim->acquire({.ttl = 10s, .mode = lock_mode::shared});
  reader.sever(true);
  writer.acquire();
  s.env.advance(11s);
  return writer.heard.news() == "g" ? "" : "a reader whose lease ran out keeps a writer out";
}

std::string a_dead_holders_permits_come_back() {
  stage s;
  party holder(s.store, s.env), next(s.store, s.env);
  holder.claim->acquire({.ttl = 10s, .mode = lock_mode::permit, .permits = 2, .total_permits = 3});
  holder.sever(true);
  next.claim->acquire({.ttl = 10s, .mode = lock_mode::permit, .permits = 2, .total_permits = 3});
  s.env.advance(11s);
  return next.heard.news() == "g" ? "" : "permits are lost with their holder";
}

constexpr scenario of_crowd[] = {
    {mutant::writer_starved, "memory", no_reader_passes_a_writer},
    {mutant::zombie_reader, "memory", a_dead_reader_goes},
    {mutant::permit_lost_with_holder, "memory", a_dead_holders_permits_come_back},
};

}  // namespace

std::span<const scenario> crowd_scenarios() { return of_crowd; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::crowd_scenarios() { return {}; }
#endif
