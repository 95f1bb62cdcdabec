// The columns of a table of lock records, by the options of the URL.
#pragma once
#include <string>

#include "seam/own_options.hpp"

namespace holdfast::mysql::insert {

// Names of columns. Those without a name are not used.
struct columns {
  std::string key;          // of the lock's name, in a unique key
  std::string type;         // part of that key, the same for all locks of a client
  std::string note;         // of the holder
  std::string owner;        // of the claim
  std::string count;        // 1: this library counts re-entry itself
  std::string update_time;  // of the acquire or the last renewal
  std::string lease;        // in milliseconds, from the update_time on; 0: it never expires
  std::string type_value;   // not a name: what the column `type` contains
};

// shape=resource or shape=order, and each name that another option sets. Throws lock_error
// (bad_option).
columns read_columns(seam::own_options&);

}  // namespace holdfast::mysql::insert
