// Reads the record of a locked lock file, repeatedly.
#pragma once
#include <sys/types.h>

#include <array>
#include <optional>
#include <span>
#include <string>

#include "backend/file/descriptors.hpp"
#include "backend/file/directory.hpp"
#include "backend/file/record.hpp"

namespace holdfast::file {

// By pread(2) the first time, afterwards through a mapping, which saves a system call in every
// cycle. (Not on a network file system: other hosts' writes may not become visible.) The file must
// have its full size when it is read: a process that truncates it between that check and the
// reading kills this process with SIGBUS, as with any mapped file. In a directory of one user only
// that user's processes can; in a directory shared by a group nothing is mapped.
class record_view {
 public:
  record_view() noexcept = default;
  ~record_view() { forget(); }
  record_view(const record_view&) = delete;
  record_view& operator=(const record_view&) = delete;

  // The record in file `fd`, which is `file` in the directory. Valid until the next call; nullopt
  // with errno when it cannot be read, shorter when the file is shorter.
  std::optional<std::span<const char>> read(int fd, descriptor_table&, const directory&,
                                            const std::string& file);
  void forget() noexcept;  // call it when the file changes

 private:
  void map(int fd, descriptor_table&, const directory&, const std::string& file);

  const char* mapped_ = nullptr;
  bool read_before_ = false;  // a single read is not worth a mapping
  std::array<char, record_bytes> read_{};
};

}  // namespace holdfast::file
