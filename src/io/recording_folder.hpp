// The directory of a user's recordings, in memory: /dev/shm/holdfast-UID, or $HOLDFAST_RECORDER.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/failure.hpp"

namespace holdfast::io {

class recording_folder {
 public:
  // $HOLDFAST_RECORDER: off, on, or a directory. Nothing, without a failure: it is off.
  static std::optional<recording_folder> of_this_user(base::failure& why);

  ~recording_folder();
  recording_folder(recording_folder&& other) noexcept;
  recording_folder& operator=(recording_folder&&) = delete;

  // The descriptor of a new file of that many bytes, which no full file system can take away; -1
  // with a failure. The oldest recordings of processes that have ended make room for it.
  int create(std::size_t bytes, base::failure& why) const;

 private:
  recording_folder(std::string path, int descriptor) noexcept
      : path_(std::move(path)), descriptor_(descriptor) {}
  void remove_oldest() const;

  std::string path_;
  int descriptor_;
};

}  // namespace holdfast::io
