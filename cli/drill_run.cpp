#include "cli/drill_run.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>

#include "cli/drill_links.hpp"
#include "cli/gate.hpp"
#include "cli/message.hpp"
#include "cli/redis_deployment.hpp"
#include "contention/link_faults.hpp"
#include "contention/resource.hpp"
#include "contention/worker.hpp"
#include "contention/workers.hpp"
#include "history/history.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using contention::dice;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds recovery_bound = 30s, slice = 500ms, link_slice = 1s, free_bound = 5s;
// A worker is stopped for so long where locks do not expire.
constexpr milliseconds usual_lease = 2s;
constexpr const char* url_variable = "HOLDFAST_URL";

const contention::name_scheme drill_names{drill_prefix};

// How long the lock of a dead holder stays: by the ttl, or by the timeout of a session.
milliseconds lease_time(const client& c) {
  const auto held = c.mutex(drill_names.warm_up()).acquire();
  const auto left = held.remaining();
  if (left == lease_clock::duration::max()) return usual_lease;
  return std::chrono::ceil<milliseconds>(left);
}

void refuse_a_second_drill(const client& c) {
  std::error_code ec;
  const auto held = c.list(drill_prefix, ec);
  if (!held.empty())
    throw usage_error("the lock " + held.front().name +
                      " is held: another drill uses this store, or one has just been killed; wait "
                      "until it has ended");
}

class drill_campaign {
 public:
  drill_campaign(const drill_terms& terms, milliseconds lease)
      : terms_(terms),
        lease_(lease),
        links_(terms.url, url::parse(terms.url)),
        choices_(terms.seed),
        link_choices_(terms.seed ^ UINT64_MAX),
        workers_(
            {.command = [this](const std::string& name) { return command_of(name); },
             .variables =
                 [this](const std::string&) {
                   return contention::workers::environment{{url_variable, links_.worker_url()}};
                 },
             .folder = folder_.path(),
             .longest_stop = 2 * lease},
            log_) {}

  drill_result play(const std::stop_token& stop, bool in_order) {
    for (std::uint32_t i = 0; i < terms_.workers; ++i) workers_.add();
    const auto end = steady_clock::now() + terms_.length;
    {
      const std::jthread of_links(
          [&](const std::stop_token& ended) { strike_links(end, stop, ended); });
      strike(end, stop);
    }
    if (!stop.stop_requested())
      add(workers_.wait_until_recovered(recovery_bound + 2 * lease_, in_order));
    add(workers_.finish(recovery_bound + 2 * lease_));
    result_.faults = log_.counts();
    result_.obstacle = links_.obstacle();
    return std::move(result_);
  }

  std::vector<history::record> history() const {
    std::vector<history::record> all;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path()))
      if (file.path().extension() == ".history")
        std::ranges::move(history::read_history(file.path()).records, std::back_inserter(all));
    return all;
  }

 private:
  // Workers end with the thread that starts them: their faults are this thread's. One may last
  // until after the end, and the failover still happens.
  void strike(steady_clock::time_point end, const std::stop_token& stop) {
    strike_workers(end - terms_.length / 2, stop);
    if (!terms_.failover.empty() && !stop.stop_requested())
      log_.strike({"failover", [&](dice&) { fail_over(stop); }}, choices_);
    strike_workers(end, stop);
  }

  void strike_workers(steady_clock::time_point end, const std::stop_token& stop) {
    const auto faults = workers_.faults(terms_.has_connections);
    while (steady_clock::now() < end && !stop.stop_requested()) {
      contention::strike_until(std::min(end, steady_clock::now() + slice + lease_), faults, log_,
                               choices_);
      std::this_thread::sleep_until(std::min(end, steady_clock::now() + slice / 10));
    }
  }

  // At the end no connection may stay silent.
  void strike_links(steady_clock::time_point end, const std::stop_token& stop,
                    const std::stop_token& ended) {
    auto& proxies = links_.proxies();
    if (proxies.empty()) return;
    const auto faults = contention::link_faults(proxies, contention::protocol_of(terms_.url), 0ms);
    while (steady_clock::now() < end && !stop.stop_requested() && !ended.stop_requested()) {
      contention::strike_until(std::min(end, steady_clock::now() + link_slice), faults, log_,
                               link_choices_);
      std::this_thread::sleep_until(std::min(end, steady_clock::now() + slice / 10));
    }
    log_.strike(contention::end_of_links(proxies, 0ms), link_choices_);
  }

  void fail_over(const std::stop_token& stop) {
    if (terms_.failover != own_failover) {
      const int status = std::system(terms_.failover.c_str());  // NOLINT: the user's own command
      if (status != 0)
        result_.complaints.push_back("the command of --failover failed: " + terms_.failover);
      return;
    }
    try {
      redis_deployment(terms_.url, url::parse(terms_.url)).fail_over(stop);
    } catch (const std::exception& e) {
      result_.complaints.push_back(std::string("the failover failed: ") + e.what());
    }
  }

  std::vector<std::string> command_of(const std::string& name) {
    return {own_program,
            drill_worker_word,
            name,
            folder_.path(),
            std::to_string(choices_.number()),
            std::to_string(lease_.count())};
  }

  void add(std::vector<std::string> lines) {
    std::ranges::move(lines, std::back_inserter(result_.complaints));
  }

  const drill_terms& terms_;
  const milliseconds lease_;
  drill_links links_;
  testkit::scratch_folder folder_;
  contention::fault_log log_{folder_.file("faults.history")};
  contention::fenced_resource resource_{folder_.file("resource"), folder_.file("resource.history"),
                                        true};
  dice choices_, link_choices_;
  contention::workers workers_;
  drill_result result_;
};

// The locks of killed workers are free when their leases have expired. What remains then belongs to
// nobody.
void clean_up(const client& c, milliseconds lease) {
  std::error_code ec;
  const auto until = steady_clock::now() + lease + free_bound;
  while (!c.list(drill_prefix, ec).empty() && steady_clock::now() < until)
    std::this_thread::sleep_for(100ms);
  for (const holder& h : c.list(drill_prefix, ec)) c.break_lock(h.name, h.owner, ec);
  c.prune(ec);
}

}  // namespace

drill_result run_drill(const drill_terms& terms, const std::stop_token& stop) {
  const client c = client::open(terms.url, {}, stop);
  refuse_a_second_drill(c);
  const milliseconds lease = lease_time(c);
  drill_campaign campaign(terms, lease);
  drill_result result = campaign.play(stop, c.features().fifo);
  clean_up(c, lease);
  result.figures =
      figures_of(campaign.history(), 2 * lease, c.features().reader_tokens != reader_tokens::own);
  return result;
}

int run_drill_worker(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  const char* const url = std::getenv(url_variable);  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string folder = words.at(2) + '/';
  return contention::run_worker({.url = url ? url : "",
                                 .name = words.at(1),
                                 .locks = drill_names,
                                 .ttl = milliseconds(std::stoll(words.at(4))),
                                 .history = folder + words.at(1) + ".history",
                                 .resource = folder + "resource",
                                 .seed = std::stoull(words.at(3))});
}

}  // namespace holdfast::cli
