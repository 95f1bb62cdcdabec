// The group that shares a directory.
#include <errno.h>
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "backend/file/directory.hpp"
#include "base/fail.hpp"
#include "base/number.hpp"

namespace holdfast::file {
namespace {

constexpr std::size_t entry_bytes_max = 1 << 20;

std::optional<gid_t> look_up(const std::string& name) {
  std::vector<char> text(4096);
  struct group entry;
  struct group* found = nullptr;
  int error;
  while ((error = ::getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found)) == ERANGE &&
         text.size() < entry_bytes_max)
    text.resize(text.size() * 2);
  if (error == 0 && found) return found->gr_gid;
  return base::whole_number<gid_t>(name);
}

bool is_member(gid_t group) {
  if (::geteuid() == 0 || ::getegid() == group) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> all(static_cast<std::size_t>(std::max(count, 0)));
  if (::getgroups(static_cast<int>(all.size()), all.data()) < 0) return false;
  return std::find(all.begin(), all.end(), group) != all.end();
}

}  // namespace

gid_t group_of(const std::string& name, const url& where) {
  const auto group = look_up(name);
  if (!group)
    base::fail(errc::bad_option, "open", "there is no group " + name + ": create it (groupadd)", {},
               where.text());
  if (!is_member(*group))
    base::fail(errc::refused, "open",
               "this process is not in the group " + name +
                   ": add its user (usermod -aG) and log in again",
               {}, where.text());
  return *group;
}

}  // namespace holdfast::file
