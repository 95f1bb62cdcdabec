#include "torture/campaign.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <future>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "testkit/servers/scratch_folder.hpp"
#include "torture/aftermath.hpp"
#include "torture/link_faults.hpp"
#include "torture/locks.hpp"
#include "torture/resource.hpp"
#include "torture/workers.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t worker_count = 6;
constexpr std::chrono::milliseconds shortest_pause = 20ms, longest_pause = 600ms;

// Each kind of fault has choices of its own, so that the other kinds do not change them.
enum class purpose : std::uint64_t { workers = 1, worker_faults, link_faults, server_faults };
std::uint64_t seed_for(std::uint64_t seed, purpose p) {
  return seed * 16 + static_cast<std::uint64_t>(p);
}

void strike_until(steady_clock::time_point end, const std::vector<fault>& all, fault_log& log,
                  dice choices) {
  if (all.empty()) return;
  for (;;) {
    const auto pause = choices.between(shortest_pause, longest_pause);
    if (steady_clock::now() + pause >= end) return;
    std::this_thread::sleep_for(pause);
    log.strike(all[choices.below(all.size())], choices);
  }
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
    auto links_end = std::async(std::launch::async, [this, end] {
      strike_until(end, link_faults(servers_->links(), servers_->excuse_of_links()), log_,
                   dice(seed_for(terms_.seed, purpose::link_faults)));
    });
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
    resource_.reset();
    judge_history(folder_.path(), *servers_, log_.excuses(), result_);
    if (!result_.violations.empty()) keep_history();
    return std::move(result_);
  }

 private:
  void play_servers(steady_clock::time_point end) {
    dice choices(seed_for(terms_.seed, purpose::server_faults));
    std::vector<fault> all = servers_->server_faults();
    for (fault& one : all)
      one.strike = [this, strike = std::move(one.strike)](dice& d) {
        strike(d);
        servers_->wait_until_healthy();
      };
    strike_until(end, all, log_, std::move(choices));
    std::this_thread::sleep_until(end);
    servers_->wait_until_healthy();
  }

  void play_workers() {
    std::vector<std::string> urls{servers_->url()};
    if (const auto other = servers_->url_through_links(); !other.empty()) urls.push_back(other);
    workers all({.program = terms_.program,
                 .urls = urls,
                 .folder = folder_.path(),
                 .seed = seed_for(terms_.seed, purpose::workers),
                 .planted = terms_.planted},
                log_);
    for (std::size_t i = 0; i < worker_count; ++i) all.add();
    strike_until(steady_clock::now() + terms_.length, all.faults(), log_,
                 dice(seed_for(terms_.seed, purpose::worker_faults)));
    calm_.get_future().get();
    if (terms_.planted == plant::stuck) {
      planted_client_ = client::open(servers_->url());
      planted_lease_ = planted_client_->mutex(mutex_name(0)).acquire();
    }
    add(all.wait_until_recovered(terms_.patience));
    add(all.finish(terms_.patience));
    add(locks_not_released(*servers_, terms_.patience));
  }

  void look_for_leaks() {
    if (terms_.planted == plant::left_lock) {
      planted_client_ = client::open(servers_->url());
      planted_lease_ = planted_client_->mutex(name_prefix + "left").acquire();
    }
    if (terms_.planted == plant::left_key) servers_->plant_left_key();
    add(things_left(*servers_, terms_.patience));
  }

  void add(std::vector<std::string> lines) {
    std::ranges::move(lines, std::back_inserter(result_.violations));
  }

  void keep_history() {
    const auto to = std::filesystem::path(terms_.keep) /
                    (result_.deployment + '.' + std::to_string(terms_.seed));
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
  std::promise<void> calm_;
  std::optional<client> planted_client_;
  lease planted_lease_;
};

}  // namespace

campaign_result run_campaign(const kind_of_deployment& kind, const campaign_terms& terms) {
  return campaign(kind, terms).run();
}

}  // namespace holdfast::torture
