// The table of behaviours: what every lock does, on every backend.
#pragma once
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "stage.hpp"
#include "subject.hpp"

namespace contract {

enum class played : unsigned char {
  in_threads,   // the others, if any, are threads
  in_both,      // and once more with processes, where the backend excludes processes
  in_processes  // with processes where the backend has them, else with threads in their place
};

enum class needs : unsigned char { nothing, ttl, breaking, outages, durability, time };

// In which modes a behaviour is played. The store knows three; a writer is to it what a mutex is,
// and a recursive lock too: what depends on the store alone is not repeated with those.
class in_modes {
 public:
  constexpr in_modes(std::initializer_list<mode> all) {
    for (const mode one : all) bits_ |= bit(one);
  }
  constexpr bool has(mode one) const { return (bits_ & bit(one)) != 0; }

 private:
  static constexpr unsigned bit(mode one) { return 1u << static_cast<unsigned>(one); }
  unsigned bits_ = 0;
};

inline constexpr in_modes exclusively{mode::exclusive};
inline constexpr in_modes recursively{mode::recursive};
inline constexpr in_modes shared{mode::shared};
inline constexpr in_modes with_permits{mode::permit};
inline constexpr in_modes exclusively_or_shared{mode::exclusive, mode::shared};
inline constexpr in_modes one_at_a_time{mode::exclusive, mode::permit};
inline constexpr in_modes as_a_lockable{mode::exclusive, mode::writer, mode::recursive};
inline constexpr in_modes at_the_store{mode::exclusive, mode::shared, mode::permit};
inline constexpr in_modes on_both_sides{mode::exclusive, mode::writer, mode::shared, mode::permit};
inline constexpr in_modes in_every_mode{mode::exclusive, mode::writer, mode::shared, mode::permit,
                                        mode::recursive};

struct behaviour {
  int number;
  std::string_view name;  // its sentence in docs/contract.md, with _ for spaces
  played how;
  in_modes modes;
  needs what;
  void (*play)(stage&);
};

#define CONTRACT_BEHAVIOUR(number, function, how, modes, what) \
  { number, #function, played::how, modes, needs::what, function }

using behaviours = std::vector<behaviour>;
behaviours granting();
behaviours waiting();
behaviours leaving();
behaviours tokens();
behaviours ownership();
behaviours reentry();
behaviours standard_library();
behaviours losses();
behaviours time_passing();
behaviours outages();
behaviours closing();
behaviours names();
behaviours inspecting();
behaviours errors();
behaviours crashes();
behaviours sharing();
behaviours shared_mutexes();
behaviours permits();
behaviours limits();
behaviours crowds();
behaviours several();

const behaviours& all_behaviours();  // by number
inline constexpr std::array all_modes = {mode::exclusive, mode::writer, mode::shared, mode::permit,
                                         mode::recursive};

// Why the backend cannot show the behaviour; "" when it can.
std::string not_applicable(const behaviour&, const backend_under_test&);
std::vector<place> places(const behaviour&, const backend_under_test&);
std::string case_name(const behaviour&);  // "b07_a_stale_unlock_harms_nobody"
std::string_view word_of(mode);           // "shared"

}  // namespace contract
