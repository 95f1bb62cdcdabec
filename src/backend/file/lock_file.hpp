// The lock file itself: the system calls behind the recipe's actions.
#pragma once
#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "backend/file/descriptors.hpp"
#include "backend/file/directory.hpp"
#include "backend/file/holder_bytes.hpp"
#include "backend/file/probe_gate.hpp"
#include "backend/file/recipe.hpp"
#include "backend/file/record.hpp"
#include "backend/file/record_view.hpp"
#include "backend/file/release_notice.hpp"
#include "backend/file/unused_files.hpp"
#include "backend/file/waiters_file.hpp"

namespace holdfast::file {

// The state that the lock files of one backend share.
struct folder {
  folder(const url& where, std::string path, const directory_options& o, std::string host)
      : place(files, where, std::move(path), o),
        gate(place),
        unused(files, place, std::move(host)) {}

  descriptor_table files;
  notice_pool notices{files};
  directory place;
  probe_gate gate;
  unused_files unused;
};

// Used by one thread at a time, except others_wait().
class lock_file {
 public:
  enum class attempt : unsigned char { locked, busy, interrupted, failed };

  lock_file(folder&, std::string_view lock_name);
  ~lock_file() { close(); }
  lock_file(const lock_file&) = delete;
  lock_file& operator=(const lock_file&) = delete;

  bool is_open() const noexcept { return static_cast<bool>(fd_); }
  int get() const noexcept { return fd_.get(); }
  std::string path() const { return folder_.place.path_of(file_); }
  const base::failure& trouble() const noexcept { return trouble_; }  // of the last failure

  bool open(std::chrono::microseconds wall);
  void close() noexcept;  // releases its lock, unless a child has a copy of the descriptor
  // Closes it, and removes the lock's files when no other process uses them. Not while it is
  // locked.
  void discard(std::chrono::microseconds wall) noexcept;
  // `shares`: as one of several holders.
  attempt try_lock(bool shares);
  attempt try_unprobed(bool shares);
  attempt lock(bool shares);  // blocks; interrupted by a signal
  void unlock() noexcept;     // the holder bytes too
  // `last`: the record that this claim wrote last.
  std::optional<observation> look(const record_text& last, std::string_view lock_name,
                                  std::chrono::microseconds wall);
  bool write(const record_text&);
  // Read without the lock, so it may be outdated; 0: no record can be read.
  std::int64_t number_in_file();
  // The same: whether the last holder was exclusive.
  bool was_exclusive();
  // The same: the kind in which others hold it jointly, if they do.
  std::optional<kind> shared_by_others();

  // For joint holders (recipe.hpp).
  holder_bytes bytes() const noexcept { return holder_bytes(fd_.get()); }
  attempt guard(bool blocks);
  attempt claim_bytes(const kind&);  // busy: full
  bool mark(const record_text&);
  waiters_file& waiters() noexcept { return waiters_; }

 private:
  bool try_open_once(bool& again, std::chrono::microseconds wall);
  std::optional<std::int64_t> floor();
  bool fail(std::string_view doing, int error);
  bool fail(std::string_view doing, std::string_view file, int error);
  attempt failed_to(std::string_view doing);
  std::optional<record> read_unlocked();
  bool write_at(off_t, const record_text&);
  void release_bytes() noexcept;
  std::optional<bool> is_the_folders(struct statx&, std::chrono::microseconds wall);

  folder& folder_;
  std::string file_;
  waiters_file waiters_;
  descriptor fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  record_view view_;
  std::vector<holder_bytes::range> bytes_;
  bool has_bytes_ = false;  // or the guard
  bool was_empty_ = false;
  bool contended_ = false;
  std::chrono::microseconds looked_through_at_{};
  base::failure trouble_;
};

}  // namespace holdfast::file
