#include "backend/file/backend.hpp"

#include <errno.h>

#include <utility>

#include "backend/file/claim.hpp"
#include "backend/file/error_text.hpp"
#include "backend/file/examination.hpp"
#include "backend/file/holder_scan.hpp"
#include "base/fail.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {
namespace {

constexpr core::capabilities abilities{
    .life = core::bound_to::process,
    .queue = core::order::none,
    .wanted = core::wanted_by::poll,
    .modes = core::bit_of(lock_mode::exclusive) | core::bit_of(lock_mode::shared) |
             core::bit_of(lock_mode::permit),
    .tokens = true,
    .durable = true,
    .processes = true,
};

identity who_am_i(core::environment& env) {
  core::process_identity me = env.process();
  return {std::move(me.host), me.pid, core::random_u64(env)};
}

std::string path_of(const url& where) {
  for (const url::endpoint& e : where.endpoints())
    if (e.host != "localhost" || e.port != 0)
      core::fail(errc::bad_url, "open",
                 "a directory has no host; write three slashes, file:///directory", {},
                 where.text());
  if (!where.endpoints().empty() && where.path().empty())
    core::fail(errc::bad_url, "open", "the directory is missing; write file:///directory", {},
               where.text());
  if (where.path().find('\0') != std::string::npos)
    core::fail(errc::bad_url, "open", "a path has no zero byte", {}, where.text());
  // Programs in two directories would use two places and exclude nobody.
  if (!where.path().empty() && !where.path().starts_with('/'))
    core::fail(errc::bad_url, "open",
               "the directory is relative to the current one; write file:///absolute/path", {},
               where.text());
  return where.path();
}

directory_options read_options(const core::opening& o) {
  directory_options out;
  std::vector<url::option> rest;
  for (const url::option& option : o.own) {
    if (option.first == "network") {
      out.network = core::parse_bool(option.second, option.first);
    } else if (option.first == "unlink") {
      out.unlink = core::parse_bool(option.second, option.first);
    } else if (option.first == "group") {
      out.group = option.second;
      if (out.group.empty()) core::fail(errc::bad_option, "open", "group= names no group");
    } else {
      rest.push_back(option);
    }
  }
  core::refuse_unknown_options(o.where, rest, "network unlink group");
  if (out.network && out.unlink.value_or(false))
    core::fail(errc::bad_option, "open",
               "unlink=1 is for local directories: another host may not see that a file is in "
               "use; leave out unlink or network",
               {}, o.where.text());
  return out;
}

class file_backend final : public core::backend {
 public:
  explicit file_backend(const core::opening& o)
      : env_(o.env),
        me_(who_am_i(o.env)),
        folder_(o.where, path_of(o.where), read_options(o), me_.host) {}

  const core::capabilities& can() const noexcept override { return abilities; }

  std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink& sink) override {
    return std::make_unique<file_claim>(folder_, threads_, env_, me_, name, sink);
  }

  void inspect(std::string_view prefix, core::holders_handler& answer) override {
    core::failure why;
    auto all = scan_holders(folder_, prefix, env_.wall(), why);
    if (why.code) return answer.on_failed(std::move(why));
    answer.on_holders(std::move(all));
  }

  void holders(std::string_view name, core::holders_handler& answer) override {
    core::failure why;
    auto all = find_holders(folder_, name, env_.wall(), why);
    if (why.code) return answer.on_failed(std::move(why));
    answer.on_holders(std::move(all));
  }

  void examine(core::findings_handler& answer) override {
    answer.on_findings(grade_all(read_facts(folder_.place)));
  }

  std::size_t remove_unused(core::failure& why) override {
    if (!folder_.unused.on()) {
      why = {errc::unsupported, "files are not removed from " + folder_.place.path() +
                                    ": say ?unlink=1, here and in all programs that use it"};
      return 0;
    }
    const auto removed = folder_.unused.remove_all(env_.wall());
    if (!removed) why = error_text("list the lock directory", folder_.place.path(), errno);
    return removed.value_or(0);
  }

  void break_lock(std::string_view name, std::string_view,
                  core::decision_handler& answer) override {
    core::failure why;
    const auto found = find_holders(folder_, name, env_.wall(), why);
    if (why.code) return answer.on_failed(std::move(why));
    if (found.empty()) return answer.on_failed({errc::unsupported, "nobody holds the lock"});
    std::string text = "the kernel keeps this lock and nobody can take it away: end ";
    for (const holder& h : found) {
      if (&h != &found.front()) text += ", ";
      text += "process " + std::to_string(h.pid);
      if (h.host != me_.host) text += " on " + h.host;
    }
    text += ", and what was left running with the lock (fuser " + path_to(name) + " names all)";
    answer.on_failed({errc::unsupported, std::move(text)});
  }

  bool close(core::time_point until) override {
    threads_.close(until - env_.now());
    return false;
  }

  void forked() noexcept override {
    threads_.forked();
    if (core::planted(core::mutant::child_keeps_descriptor)) return;
    folder_.files.close_all();
  }

 private:
  std::string path_to(std::string_view name) { return lock_file(folder_, name).path(); }

  core::environment& env_;
  const identity me_;
  folder folder_;
  waiter_threads threads_;
};

}  // namespace

std::unique_ptr<core::backend> open(const core::opening& o) {
  return std::make_unique<file_backend>(o);
}

}  // namespace holdfast::file
