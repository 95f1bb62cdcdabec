#include "backend/zookeeper/layouts/lock_path.hpp"

#include "base/percent.hpp"

namespace holdfast::zookeeper {

namespace {

constexpr std::string_view kept = " !\"#$&'()*+,:;<=>?@[\\]^`{|}";  // a path may have them

}  // namespace

std::string lock_path(std::string_view chroot, std::string_view name) {
  std::string out(chroot);
  out += '/';
  if (name == ".") return out += "%2E";
  if (name == "..") return out += "%2E%2E";
  return out += base::percent_encode(name, kept);
}

std::optional<std::string> lock_name(std::string_view node) { return base::percent_decode(node); }

std::string_view lock_name_fault(std::string_view chroot, std::string_view name) noexcept {
  if (chroot.empty() && name == "zookeeper")
    return "\"zookeeper\" is the servers' own node; name another lock, or a path in the URL";
  return {};
}

}  // namespace holdfast::zookeeper
