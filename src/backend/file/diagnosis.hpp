// diagnose(): what a lock directory is, and what that means for locks.
#pragma once
#include <holdfast/finding.hpp>

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/file/directory.hpp"

namespace holdfast::file {

struct upper_directory {
  std::string path;
  struct stat info = {};
};

struct directory_facts {
  std::string path;
  struct stat info = {};
  directory_rules rules;
  std::string untrusted;       // why no lock can be acquired there; empty: it can
  std::string former_default;  // of earlier versions, which exists too; empty: it does not
  bool is_at_its_path = true;
  bool removes_unused = false;         // holdfast prune has an effect there
  std::vector<upper_directory> above;  // the nearest first
  long fs_type = 0;
  std::uint64_t bytes_free = 0;
  std::uint64_t block = 4096;               // what a new file takes at least
  std::optional<std::uint64_t> files_free;  // unset: the file system counts none
  std::string unread;                       // why the last four are not known; empty: they are
};

directory_facts read_facts(const directory&);

// Pure.
finding grade_directory(const directory_facts&);
finding grade_default(const directory_facts&);
finding grade_path(const directory_facts&);
finding grade_file_system(const directory_facts&);
finding grade_space(const directory_facts&);
std::vector<finding> grade_all(const directory_facts&);  // in this order

}  // namespace holdfast::file
