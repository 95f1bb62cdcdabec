// The locks of other libraries and documents as bare commands: what a layout cannot do better than.
#pragma once
#include <string>
#include <vector>

namespace bench {

struct bare_lock {
  std::vector<std::string> scripts;  // loaded before the first cycle
  // The commands of a cycle on a key, formatted, one for each round trip. None is answered by nil.
  std::vector<std::string> (*cycle_on)(const std::string& key, const char* owner);
};

extern const bare_lock set_and_compare;    // SET NX PX; a script that compares and deletes
extern const bare_lock setnx_in_a_script;  // SETNX and PEXPIRE in a script; that script
extern const bare_lock setnx_pexpire_del;  // three commands
extern const bare_lock setnx_get_del;      // likewise
extern const bare_lock hash_of_owners;     // the two scripts of Redisson's RFencedLock

}  // namespace bench
