#include "torture/campaign.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "contention/link_faults.hpp"
#include "contention/resource.hpp"
#include "contention/workers.hpp"
#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/program.hpp"
#include "testkit/servers/redis_link.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "torture/aftermath.hpp"
#include "torture/left_plants.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t worker_count = 6;
constexpr std::chrono::milliseconds many_waiters_bound = 120s;

// Each kind of fault has choices of its own, so that the other kinds do not change them.
enum class purpose : std::uint64_t { workers = 1, worker_faults, link_faults, server_faults };
std::uint64_t seed_for(std::uint64_t seed, purpose p) {
  return seed * 16 + static_cast<std::uint64_t>(p);
}

// A strike may find its own connection cut by another fault, or by a sentinel. The servers recover
// before the next one: otherwise that could strike a server which no other one can replace.
fault forgiving(fault f, const std::function<void()>& afterwards) {
  f.strike = [strike = std::move(f.strike), afterwards](dice& d) {
    try {
      strike(d);
    } catch (const testkit::redis_silent&) {
      // The fault has ended all the same.
    }
    afterwards();
  };
  return f;
}

class campaign {
 public:
  campaign(const kind_of_deployment& kind, const campaign_terms& terms)
      : terms_(terms), servers_(kind.open()) {
    result_.deployment = kind.name;
    result_.seed = terms.seed;
    result_.length = terms.length;
  }

  campaign_result run() {
    // The workers end with the thread that started them.
    auto workers_end = std::async(std::launch::async, [this] { play_workers(); });
    const auto end = steady_clock::now() + terms_.length;
    auto links_end = std::async(std::launch::async, [this, end] { play_links(end); });
    try {
      play_servers(end);
      links_end.get();
      calm_.set_value();
    } catch (...) {
      calm_.set_exception(std::current_exception());
      throw;
    }
    workers_end.get();
    look_for_leaks();
    result_.faults = log_.counts();
    result_.not_played = servers_->not_played();
    resource_.reset();
    judge_history(folder_.path(), *servers_, log_.excuses(), result_);
    if (!result_.violations.empty()) keep_history();
    return std::move(result_);
  }

 private:
  void play_links(steady_clock::time_point end) {
    auto& links = servers_->links();
    if (links.empty()) return;
    const auto excuse = servers_->excuse_of_links();
    dice choices(seed_for(terms_.seed, purpose::link_faults));
    const auto protocol = protocol_of(servers_->url_through_links());
    strike_until(end, link_faults(links, protocol, excuse), log_, choices);
    log_.strike(end_of_links(links, excuse), choices);
  }

  void play_servers(steady_clock::time_point end) {
    dice choices(seed_for(terms_.seed, purpose::server_faults));
    std::vector<fault> all;
    for (fault& one : servers_->server_faults())
      all.push_back(forgiving(std::move(one), [this] { wait_until_healthy(); }));
    strike_until(end, all, log_, choices);
    std::this_thread::sleep_until(end);
    wait_until_healthy();
  }

  // A connection that the last fault has cut is noticed by the next command over it.
  void wait_until_healthy() {
    constexpr int server_connections = 10;
    for (int cut = 0;; ++cut) {
      try {
        return servers_->wait_until_healthy();
      } catch (const testkit::redis_silent&) {
        if (cut == server_connections) throw;
      }
      std::this_thread::sleep_for(200ms);
    }
  }

  void play_workers() {
    workers all({.command = [this](const std::string& name) { return command_of(name); },
                 .variables = [this](const std::string& name) { return variables_of(name); },
                 .folder = folder_.path(),
                 .longest_stop = lease_ttl * 5 / 2},
                log_);
    for (std::size_t i = 0; i < worker_count; ++i) all.add();
    std::vector<fault> faults = all.faults(may_cut());
    faults.push_back({"worker.clock", [this, &all](dice& d) { step_clock(all, d); }});
    const auto each_again = faults;  // waiters.many takes longer, and comes less often
    faults.insert(faults.end(), each_again.begin(), each_again.end());
    faults.push_back({"waiters.many", [this](dice& d) { add_many_waiters(d); }});
    dice choices(seed_for(terms_.seed, purpose::worker_faults));
    strike_until(steady_clock::now() + terms_.length, faults, log_, choices);
    calm_.get_future().get();
    if (terms_.planted == plant::stuck) {
      planted_client_ = client::open(servers_->url());
      planted_lease_ = planted_client_->mutex(names.mutex(0)).acquire();
    }
    std::error_code ec;
    const bool in_order = client::open(servers_->url(), {}, ec).features().fifo;
    add(all.wait_until_recovered(terms_.recovery_bound, in_order));
    add(all.finish(terms_.recovery_bound));
    add(locks_not_released(*servers_, terms_.recovery_bound));
  }

  // A worker may execute the command long after the fault, when nothing excuses it any more.
  bool may_cut() const {
    return !servers_->url_through_links().empty() && servers_->excuse_of_links() == 0ms;
  }

  // Every second worker reaches the servers through the links.
  std::vector<std::string> command_of(const std::string& name) {
    const std::string through = servers_->url_through_links();
    const bool is_direct = through.empty() || shims_.size() % 2 == 0;
    return {terms_.program,
            "--worker",
            is_direct ? servers_->url() : through,
            name,
            folder_.path(),
            std::to_string(worker_seeds_.number()),
            word_of(terms_.planted)};
  }

  workers::environment variables_of(const std::string& name) {
    const auto made = shims_.try_emplace(name, folder_.file(name + ".clock"));
    return made.first->second.environment();
  }

  // No wall clock of a client matters.
  void step_clock(const workers& all, dice& d) {
    constexpr std::array<std::chrono::milliseconds, 3> steps = {-1h, 0ms, 1h};
    shims_.at(all.name(d.below(all.size()))).set_offset(steps.at(d.below(steps.size())));
  }

  // A process with hundreds of waiters for one lock. All of them have left when it ends.
  void add_many_waiters(dice& d) {
    const std::string name = "c" + std::to_string(waiting_processes_++), report = name + ".report";
    testkit::program waiters({.argv = {terms_.program, "--waiters", servers_->url(), name,
                                       folder_.path(), std::to_string(d.number())},
                              .output = folder_.file(report)});
    const int status = waiters.wait(many_waiters_bound);
    if (status < 0)
      add({name + " did not end within " + std::to_string(many_waiters_bound / 1s) + " s"});
    if (status > 0)
      add({name + " ended with status " + std::to_string(status) + ": " + folder_.read(report)});
  }

  void look_for_leaks() {
    if (terms_.planted == plant::left_lock) {
      planted_client_ = client::open(servers_->url());
      planted_lease_ = planted_client_->mutex(names.prefix + "left").acquire();
    }
    if (terms_.planted == plant::left_connection) {
      planted_client_ = client::open(servers_->url());
      planted_client_->mutex(names.mutex(0)).acquire().release();
    }
    const auto planted = plant_in_store(*servers_, terms_.planted);
    add(things_left(*servers_, terms_.recovery_bound));
  }

  void add(std::vector<std::string> lines) {
    std::ranges::move(lines, std::back_inserter(result_.violations));
  }

  void keep_history() {
    std::string name = result_.deployment + '.' + std::to_string(terms_.seed);
    if (terms_.planted != plant::nothing) name += '.' + word_of(terms_.planted);
    const auto to = std::filesystem::path(terms_.keep) / name;
    std::filesystem::remove_all(to);
    std::filesystem::create_directories(to);
    for (const auto& file : std::filesystem::directory_iterator(folder_.path()))
      if (const auto kind = file.path().extension(); kind == ".history" || kind == ".report")
        std::filesystem::copy(file.path(), to);
    result_.history = to;
  }

  const campaign_terms terms_;
  campaign_result result_;
  testkit::scratch_folder folder_;
  fault_log log_{folder_.file("faults.history")};
  std::unique_ptr<deployment> servers_;
  std::optional<fenced_resource> resource_{std::in_place, folder_.file("resource"),
                                           folder_.file("resource.history"),
                                           terms_.planted != plant::stale_write};
  dice worker_seeds_{seed_for(terms_.seed, purpose::workers)};
  std::map<std::string, testkit::clock_shim> shims_;  // by worker
  std::size_t waiting_processes_ = 0;
  std::promise<void> calm_;
  std::optional<client> planted_client_;
  lease planted_lease_;
};

}  // namespace

campaign_result run_campaign(const kind_of_deployment& kind, const campaign_terms& terms) {
  return campaign(kind, terms).run();
}

}  // namespace holdfast::torture
