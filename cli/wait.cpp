// holdfast wait
#include <holdfast/error.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>

#include "cli/commands.hpp"
#include "cli/duration_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/holders.hpp"
#include "cli/interruptible.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"
#include "cli/waiting_line.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Looks, and takes nothing: a lock that is taken for a moment is a lock that a `run -n` of somebody
// else does not get.
class lookout {
 public:
  lookout(const look_arguments& arguments, const place& at, const client& where)
      : arguments_(arguments),
        at_(at),
        where_(where),
        until_(arguments.wait && *arguments.wait < std::chrono::hours{24 * 365}
                   ? steady_clock::now() + *arguments.wait
                   : steady_clock::time_point::max()) {}

  // True when nobody holds the lock; false when the time is over or it was stopped. Waits through
  // an outage of the store; throws lock_error when the last look before the end met one.
  bool run(const std::stop_token& stop) {
    std::optional<waiting_line> line;
    for (;;) {
      const auto begun = steady_clock::now();
      try {
        if (where_.holders(arguments_.name).empty()) return true;
      } catch (const lock_error& e) {
        const bool is_over = steady_clock::now() >= until_ && !stop.stop_requested();
        const bool is_outage = e.code() == errc::unavailable || e.code() == errc::no_quorum;
        if (!is_outage || is_over) throw;
      }
      const auto now = steady_clock::now();
      if (now >= until_ || stop.stop_requested()) return false;
      if (!line && !arguments_.quiet) line.emplace(where_, at_, std::span(&arguments_.name, 1));
      sleep(std::min<steady_clock::duration>(pause_after(now - begun), until_ - now), stop);
    }
  }

 private:
  // Longer each time, and so long that a slow store is asked no more than a tenth of the time.
  steady_clock::duration pause_after(steady_clock::duration look) {
    constexpr milliseconds longest{1000};
    pause_ = std::min(pause_ * 3 / 2, longest);
    std::uniform_real_distribution<double> some(0.5, 1);
    return std::max<steady_clock::duration>(std::chrono::floor<steady_clock::duration>(pause_ *
                                                                                       some(dice_)),
                                            9 * look);
  }

  static void sleep(steady_clock::duration d, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, d, [] { return false; });
  }

  const look_arguments& arguments_;
  const place& at_;
  const client& where_;
  const steady_clock::time_point until_;
  milliseconds pause_{10};
  std::minstd_rand dice_{std::random_device{}()};
};

}  // namespace

int wait_until_free(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::wait, argc, argv);
  if (arguments.help) return print(help_text("wait"));
  if (arguments.quiet) leave_out_notices();
  const place at = place_of(arguments.url);
  refuse_memory(at);
  signal_inbox signals;
  bool is_free = false;
  std::optional<client> where;
  const int signal = run_interruptibly(signals, [&](const std::stop_token& stop) {
    where.emplace(client::open(at.text, {}, stop));
    is_free = lookout(arguments, at, *where).run(stop);
  });
  if (signal != 0) return exit_by_signal + signal;
  if (is_free) return 0;
  const auto code = static_cast<int>(arguments.conflict_exit_code.value_or(exit_busy));
  if (arguments.quiet) return code;
  say(who_holds(*where, std::span(&arguments.name, 1)).text + "; gave up after " +
      spoken(*arguments.wait));
  return code;
}

}  // namespace holdfast::cli
