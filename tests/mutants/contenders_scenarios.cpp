// Holders of a shared lock or of permits, and their waiters.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "tests/unit/backend/memory/contender.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using memory::contender;
using namespace std::chrono_literals;

struct one_lock {
  testkit::manual_environment env;
  std::shared_ptr<memory::server> store = std::make_shared<memory::server>();
};

std::string no_reader_passes_a_writer() {
  one_lock s;
  contender reader(s.store, s.env), writer(s.store, s.env), late(s.store, s.env);
  reader.claim->acquire({.ttl = 10s, .mode = lock_mode::shared});
  writer.acquire();
  late.claim->acquire({.one_attempt = true, .ttl = 10s, .mode = lock_mode::shared});
  if (reader.heard.news() != "gw") return "the reader did not hear that it is wanted";
  return late.heard.news() == "r" ? "" : "readers that come and go keep a writer out for ever";
}

std::string a_dead_reader_goes() {
  one_lock s;
  contender reader(s.store, s.env), writer(s.store, s.env);
  reader.claim->acquire({.ttl = 10s, .mode = lock_mode::shared});
  reader.cut_off(true);
  writer.acquire();
  s.env.advance(11s);
  return writer.heard.news() == "g" ? "" : "a reader whose lease ran out keeps a writer out";
}

std::string a_dead_holders_permits_come_back() {
  one_lock s;
  contender holder(s.store, s.env), next(s.store, s.env);
  holder.claim->acquire({.ttl = 10s, .mode = lock_mode::permit, .permits = 2, .total_permits = 3});
  holder.cut_off(true);
  next.claim->acquire({.ttl = 10s, .mode = lock_mode::permit, .permits = 2, .total_permits = 3});
  s.env.advance(11s);
  return next.heard.news() == "g" ? "" : "permits are lost with their holder";
}

constexpr scenario of_contenders[] = {
    {mutant::writer_starved, "memory", no_reader_passes_a_writer},
    {mutant::zombie_reader, "memory", a_dead_reader_goes},
    {mutant::permit_lost_with_holder, "memory", a_dead_holders_permits_come_back},
};

}  // namespace

std::span<const scenario> contenders_scenarios() { return of_contenders; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::contenders_scenarios() {
  return {};
}
#endif
