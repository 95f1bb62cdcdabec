// docs/features.md lists what features() returns for each layout of each backend.
// The page lists all backends, so a build that lacks one cannot be compared with it.
#if defined(HOLDFAST_WITH_MEMORY) && defined(HOLDFAST_WITH_REDIS) && \
    defined(HOLDFAST_WITH_ZOOKEEPER) && defined(HOLDFAST_WITH_MYSQL)
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/client_access.hpp"
#include "backend/mysql/backend.hpp"
#include "backend/mysql/strategies/strategies.hpp"
#include "backend/redis/backend.hpp"
#include "backend/redis/layouts/layouts.hpp"
#include "backend/zookeeper/backend.hpp"
#include "backend/zookeeper/layouts/layouts.hpp"
#include "tests/written_part.hpp"

namespace holdfast {
namespace {

// A backend that was not connected describes itself all the same: the test needs no server.
template <class Backend, auto ReadSettings>
seam::backend unconnected(const seam::open_args& o) {
  auto made = std::make_unique<Backend>(o.env, ReadSettings(o));
  const seam::store_family stores = made->stores();
  return {std::move(made), stores};
}

client open_unconnected(const std::string& at) {
  static constexpr seam::scheme schemes[] = {
      {"redis", unconnected<redis::backend, redis::read_settings>, ""},
      {"redlock", unconnected<redis::backend, redis::read_settings>, ""},
      {"mysql", unconnected<mysql::backend, mysql::read_settings>, ""},
      {"zookeeper", unconnected<zookeeper::backend, zookeeper::read_settings>, ""},
  };
  constexpr log_hook silent = [](log_level, std::string_view, void*) {};
  return detail::client_access::open(url::parse(at), {.log = silent}, base::system_environment(),
                                     {}, schemes);
}

struct described_client {
  std::string layout;  // as the page names it
  client described;
};

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(", ", at), names.size());
    out.push_back(names.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

void add_layouts(std::vector<described_client>& to, const std::string& scheme,
                 const std::string& names) {
  for (const std::string& layout : split(names))
    to.push_back({'`' + scheme + "` `" + layout + '`',
                  open_unconnected(scheme + "//127.0.0.1:1?unsafe=1&layout=" + layout)});
}

std::vector<described_client> every_layout(const std::string& directory) {
  std::vector<described_client> out;
  out.push_back({"`file:`", client::open("file://" + directory)});
  out.push_back({"`memory:`", client::open("memory:")});
  add_layouts(out, "redis:", redis::layout_names());
  out.push_back({"`redis:` `redisson` `fair=1`",
                 open_unconnected("redis://127.0.0.1:1?layout=redisson&fair=1")});
  out.push_back({"`redlock:`", open_unconnected("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3")});
  add_layouts(out, "zookeeper:", zookeeper::layout_names());
  for (const std::string& strategy : split(mysql::strategy_names()))
    out.push_back({"`mysql:` `" + strategy + '`',
                   open_unconnected("mysql://127.0.0.1:1/holdfast?strategy=" + strategy)});
  return out;
}

bool has_kind(const features& f, lock_kind k) {
  if (k == lock_kind::shared_mutex) return f.shared;
  return k == lock_kind::semaphore ? f.permits : f.processes || f.deadline || f.breakable;
}

std::string word(bool yes) { return yes ? "yes" : "no"; }

std::string end_of_leases(const features& f) {
  if (f.ttl) return "with their ttl";
  return f.deadline ? "with the session" : "with the process";
}

std::string cells(const features& f) {
  return end_of_leases(f) + " | " + (f.fifo ? "arrival" : "none") + " | " + word(f.tokens) + " | " +
         word(f.durable) + " | " + word(f.processes) + " | " + word(f.breakable) + " | " +
         word(f.revocation) + " | " + word(f.unsafe) + " |\n";
}

// Kinds of locks with the same features share a row.
std::string rows_of(const described_client& d) {
  static constexpr std::pair<lock_kind, const char*> kinds[] = {{lock_kind::mutex, "mutex"},
                                                                {lock_kind::shared_mutex,
                                                                 "shared_mutex"},
                                                                {lock_kind::semaphore,
                                                                 "semaphore"}};
  std::vector<std::pair<std::string, std::string>> rows;  // kinds, cells
  for (const auto& [kind, name] : kinds) {
    const features f = d.described.features(kind);
    if (!has_kind(f, kind)) continue;
    const std::string now = cells(f);
    if (!rows.empty() && rows.back().second == now)
      rows.back().first.append(", ").append(name);
    else
      rows.emplace_back(name, now);
  }
  std::string out;
  for (const auto& [names, text] : rows) out += "| " + d.layout + " | " + names + " | " + text;
  return out;
}

std::string row_of_readers(const described_client& d) {
  const features f = d.described.features();
  if (!f.shared) return {};
  const char* const tokens =
      f.reader_tokens == reader_tokens::own ? "one for each client" : "one for all readers";
  return "| " + d.layout + " | " + tokens + " | " + word(f.writer_preference) + " | " +
         word(f.downgrade) + " |\n";
}

std::string tables(const std::vector<described_client>& all) {
  std::string out =
      "| layout | kinds of locks | leases end | order of waiters | tokens | tokens are durable | "
      "other processes | `break_lock()` | revocation | unsafe |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const described_client& d : all) out += rows_of(d);
  out += "\n| layout | tokens of readers | writer preference | downgrade is seen at once |\n"
         "|---|---|---|---|\n";
  for (const described_client& d : all) out += row_of_readers(d);
  return out;
}

// HOLDFAST_WRITE_PAGES=1 writes the tables into the page.
TEST(features_page, lists_the_features_of_every_layout) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("holdfast-features-" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  const std::string expected = tables(every_layout(directory.string()));
  std::filesystem::remove_all(directory);
  pages::compare_written_part("features.md", "<!-- features: written by unit_tests -->\n",
                              expected);
}

}  // namespace
}  // namespace holdfast
#endif
