#include "cli/drill_run.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>

#include "cli/gate.hpp"
#include "cli/message.hpp"
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

constexpr milliseconds recovery_bound = 30s, slice = 500ms, free_bound = 5s;
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
        choices_(terms.seed),
        workers_({.command = [this](const std::string& name) { return command_of(name); },
                  .variables =
                      [this](const std::string&) {
                        return contention::workers::environment{{url_variable, terms_.url}};
                      },
                  .folder = folder_.path(),
                  .longest_stop = 2 * lease},
                 log_) {}

  drill_result play(const std::stop_token& stop, bool in_order) {
    for (std::uint32_t i = 0; i < terms_.workers; ++i) workers_.add();
    strike(stop);
    if (!stop.stop_requested())
      add(workers_.wait_until_recovered(recovery_bound + 2 * lease_, in_order));
    add(workers_.finish(recovery_bound + 2 * lease_));
    result_.faults = log_.counts();
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
  void strike(const std::stop_token& stop) {
    const auto begin = steady_clock::now(), end = begin + terms_.length;
    auto faults = workers_.faults(terms_.has_connections);
    bool is_failover_due = !terms_.failover.empty();
    while (steady_clock::now() < end && !stop.stop_requested()) {
      if (is_failover_due && steady_clock::now() >= begin + terms_.length / 2) {
        is_failover_due = false;
        log_.strike({"failover", [this](dice&) { fail_over(); }}, choices_);
      }
      contention::strike_until(std::min(end, steady_clock::now() + slice + lease_), faults, log_,
                               choices_);
      std::this_thread::sleep_until(std::min(end, steady_clock::now() + slice / 10));
    }
  }

  void fail_over() {
    const int status = std::system(terms_.failover.c_str());  // NOLINT: the user's own command
    if (status != 0)
      result_.complaints.push_back("the command of --failover failed: " + terms_.failover);
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
  testkit::scratch_folder folder_;
  contention::fault_log log_{folder_.file("faults.history")};
  contention::fenced_resource resource_{folder_.file("resource"), folder_.file("resource.history"),
                                        true};
  dice choices_;
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
