#include "cli/profile.hpp"

#include "cli/message.hpp"

#ifndef HOLDFAST_CLI_WITH_PROFILES

namespace holdfast::cli {

profile read_profile(std::string_view name) {
  throw usage_error("'@" + std::string(name) +
                    "' is a profile, and this build of the command reads none; give the URL, or "
                    "configure the build with -DHOLDFAST_PROFILES=ON");
}

}  // namespace holdfast::cli

#else

#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "cli/file_descriptor.hpp"
#include "cli/suggestion.hpp"

namespace holdfast::cli {
namespace {

std::string variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// The XDG specification ignores a relative path.
std::string path_of_profiles() {
  const std::string chosen = variable("XDG_CONFIG_HOME"), home = variable("HOME");
  if (chosen.starts_with('/')) return chosen + "/holdfast.toml";
  if (home.empty())
    throw usage_error(
        "profiles are in ~/.config/holdfast.toml, and HOME is not set; set it, or set "
        "XDG_CONFIG_HOME to the directory of holdfast.toml");
  return home + "/.config/holdfast.toml";
}

std::string example_of(std::string_view name) { return std::string(name) + " = \"redis://host\""; }

struct profile_file {
  std::string path, text;
  mode_t mode = 0;
};

profile_file read_file(std::string_view name) {
  profile_file out{path_of_profiles(), {}, 0};
  const auto fail = [&](int error) {
    throw usage_error("there is no profile '" + std::string(name) + "': " + out.path +
                      " cannot be read (" + std::generic_category().message(error) +
                      "); create it with the lines [profiles] and " + example_of(name));
  };
  const file_descriptor file(::open(out.path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) fail(errno);
  out.mode = status.st_mode;
  char block[4096];
  for (;;) {
    const auto got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno != EINTR) fail(errno);
    if (got == 0) return out;
    if (got > 0) out.text.append(block, static_cast<std::size_t>(got));
  }
}

// A user of redis: without a password may be a mistyped password. It is a user if an option names
// the place of the password.
bool may_hold_password(std::string_view url) {
  const auto query = url.find('?');
  const auto slashes = url.find("://"), at = url.rfind('@', query);
  const std::string_view options = query == url.npos ? std::string_view() : url.substr(query);
  if (options.find("password=") != options.npos) return true;
  if (slashes == url.npos || at == url.npos || at < slashes) return false;
  const auto user = url.substr(slashes + 3, at - slashes - 3);
  const bool is_elsewhere = options.find("password-") != options.npos;
  return user.find(':') != user.npos || (url.starts_with("redis") && !is_elsewhere);
}

void warn_of_rights(const profile_file& file, const toml::table& profiles) {
  bool has_password = false;
  for (const auto& [name, value] : profiles)
    has_password = has_password || may_hold_password(value.value_or(std::string_view()));
  const auto warn = [&](std::string_view fault) {
    say("warning: " + file.path + std::string(fault) + "; run: chmod 600 " + file.path);
  };
  if ((file.mode & (S_IWGRP | S_IWOTH)) != 0)
    warn(" may be changed by other users");
  else if (has_password && (file.mode & (S_IRGRP | S_IROTH)) != 0)
    warn(" has a password in it, and other users may read it");
}

// The parser's own description may quote a part of a URL.
toml::table parsed(const profile_file& file) {
  try {
    return toml::parse(file.text);
  } catch (const toml::parse_error& e) {
    const auto at = e.source().begin;
    throw usage_error(file.path + ", line " + std::to_string(at.line) + ", column " +
                      std::to_string(at.column) +
                      ": this is not TOML; the file has the line [profiles], and below it a line " +
                      "such as " + example_of("production") + " for each profile");
  }
}

std::string line_of(const profile_file& file, const toml::node& node) {
  return file.path + ", line " + std::to_string(node.source().begin.line);
}

[[noreturn]] void refuse_unknown(std::string_view name, const profile_file& file,
                                 const toml::table* profiles) {
  std::string text = "there is no profile '" + std::string(name) + "' in " + file.path;
  if (!profiles)
    throw usage_error(text + ", which has no line [profiles]; add it, and below it " +
                      example_of(name));
  std::vector<std::string_view> names;
  for (const auto& [key, value] : *profiles) names.push_back(key.str());
  const std::string meant = did_you_mean(nearest_of(names, name));
  throw usage_error(text + (meant.empty() ? "; add below [profiles] " + example_of(name) : meant));
}

}  // namespace

profile read_profile(std::string_view name) {
  const profile_file file = read_file(name);
  const toml::table all = parsed(file);
  const toml::table* const profiles = all["profiles"].as_table();
  const toml::node* const found = profiles ? profiles->get(name) : nullptr;
  if (!found) refuse_unknown(name, file, profiles);
  warn_of_rights(file, *profiles);
  const std::string source = line_of(file, *found);
  const auto url = found->value<std::string>();
  if (!url)
    throw usage_error(source + ": the profile '" + std::string(name) + "' is not a string; write " +
                      example_of(name));
  return {*url, source};
}

}  // namespace holdfast::cli

#endif
