// The part of the tree that a client sees as the whole one. The server knows nothing of it.
#pragma once
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

class chroot {
 public:
  // "/a/b", or "" or "/" for the whole tree. A path that the server would refuse has a fault.
  explicit chroot(std::string_view path) : path_(path == "/" ? "" : path) {}

  const std::string& path() const noexcept { return path_; }
  // The complete path of one that begins with '/'; of "/" the chroot itself. (The server takes an
  // empty path for its root.)
  std::string complete(std::string_view local) const {
    if (path_.empty() || local != "/") return path_ + std::string(local);
    return path_;
  }
  // The client's name for it; empty: it is outside the chroot.
  std::string_view local(std::string_view complete) const noexcept {
    if (!complete.starts_with(path_)) return {};
    complete.remove_prefix(path_.size());
    if (complete.empty()) return "/";
    return complete.front() == '/' ? complete : std::string_view();
  }

 private:
  std::string path_;
};

// Why a server would refuse the path; empty: it would not.
std::string_view path_fault(std::string_view) noexcept;

// The commands that create the node and its missing parents: "create /a, create /a/b".
std::string creation_of(std::string_view path);

}  // namespace holdfast::zookeeper
