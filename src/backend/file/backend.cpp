#include "backend/file/backend.hpp"

#include <errno.h>

#include <utility>

#include "backend/file/claim.hpp"
#include "backend/file/diagnosis.hpp"
#include "backend/file/error_text.hpp"
#include "backend/file/holder_scan.hpp"
#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "seam/own_options.hpp"

namespace holdfast::file {
namespace {

constexpr seam::capabilities abilities{
    .life = seam::lifetime::process,
    .queue = seam::order::none,
    .contention = seam::contention_signal::poll,
    .modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared) |
             seam::bit_of(lock_mode::permit),
    .tokens = true,
    .durable = true,
    .processes = true,
    .writer_preference = true,
};

identity who_am_i(base::environment& env) {
  base::process_identity me = env.process();
  return {std::move(me.host), me.pid, base::random_u64(env)};
}

std::string path_of(const url& where) {
  for (const url::endpoint& e : where.endpoints())
    if (e.host != "localhost" || e.port != 0)
      base::refuse_url(where, "a directory has no host; write three slashes, file:///directory");
  if (!where.endpoints().empty() && where.path().empty())
    base::refuse_url(where, "the directory is missing; write file:///directory");
  if (where.path().find('\0') != std::string::npos)
    base::refuse_url(where, "a path has no zero byte");
  // Programs in two directories would use two places and exclude nobody.
  if (!where.path().empty() && !where.path().starts_with('/'))
    base::refuse_url(where,
                     "the directory is relative to the current one; write file:///absolute/path");
  return where.path();
}

}  // namespace

directory_options read_settings(const seam::open_args& o) {
  directory_options out;
  out.log = o.shared.log;
  seam::own_options own(o);
  own.flag("network", out.network);
  bool unlinks = false;
  if (own.flag("unlink", unlinks)) out.unlink = unlinks;
  if (own.text("group", out.group) && out.group.empty()) own.refuse("group= names no group");
  own.refuse_others();
  if (out.network && out.unlink.value_or(false))
    own.refuse(
        "unlink=1 is for local directories: another host may not see that a file is in use; leave "
        "out unlink or network");
  return out;
}

namespace {

class file_backend final : public seam::lock_store,
                           public seam::connection,
                           private seam::unused_locks {
 public:
  explicit file_backend(const seam::open_args& o)
      : env_(o.env),
        me_(who_am_i(o.env)),
        folder_(o.where, path_of(o.where), read_settings(o), me_.host) {}

  const seam::capabilities& can() const noexcept override { return abilities; }

  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink& sink) override {
    return std::make_unique<file_claim>(folder_, threads_, env_, me_, name, sink);
  }

  void inspect(std::string_view prefix, seam::holders_handler& answer) override {
    base::failure why;
    auto all = scan_holders(folder_, prefix, env_.wall(), why);
    if (why.code) return answer.on_failed(std::move(why));
    answer.on_result(std::move(all));
  }

  void holders(std::string_view name, seam::holders_handler& answer) override {
    base::failure why;
    auto all = find_holders(folder_, name, env_.wall(), why);
    if (why.code) return answer.on_failed(std::move(why));
    answer.on_result(std::move(all));
  }

  void diagnose(seam::findings_handler& answer) override {
    answer.on_result(grade_all(read_facts(folder_.place)));
  }

  void remove_unused(seam::result_handler<std::size_t>& answer) override {
    if (!folder_.unused.on())
      return answer.on_failed(
          {errc::unsupported, "files are not removed from " + folder_.place.path() +
                                  "; add unlink=1 to its URL, in all programs that use it"});
    const auto removed = folder_.unused.remove_all(env_.wall());
    if (!removed)
      return answer.on_failed(error_text("list the lock directory", folder_.place.path(), errno));
    answer.on_result(*removed);
  }

  void break_lock(std::string_view name, std::string_view,
                  seam::decision_handler& answer) override {
    base::failure why;
    const auto found = find_holders(folder_, name, env_.wall(), why);
    if (why.code) return answer.on_failed(std::move(why));
    if (found.empty()) return answer.on_failed({errc::unsupported, "no process holds the lock"});
    std::string text = "the kernel keeps this lock, and it cannot be taken away; end ";
    for (const holder& h : found) {
      if (&h != &found.front()) text += ", ";
      text += "process " + std::to_string(h.pid);
      if (h.host != me_.host) text += " on " + h.host;
    }
    text += ", and the processes that inherited the lock (fuser " + path_to(name) + " lists them)";
    answer.on_failed({errc::unsupported, std::move(text)});
  }

  bool close(base::time_point until) override {
    threads_.close(until - env_.now());
    return false;
  }

  void forked() noexcept override {
    threads_.forked();
    if (!base::planted(base::mutant::child_keeps_descriptor)) folder_.files.close_all();
  }

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer<seam::unused_locks>(*this, wanted);
  }
  std::string path_to(std::string_view name) { return lock_file(folder_, name).path(); }

  base::environment& env_;
  const identity me_;
  folder folder_;
  waiter_threads threads_;
};

}  // namespace

seam::backend open(const seam::open_args& o) {
  return seam::backend_of(std::make_unique<file_backend>(o));
}

}  // namespace holdfast::file
