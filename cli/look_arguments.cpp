#include "cli/look_arguments.hpp"

#include <string_view>

#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "cli/message.hpp"
#include "cli/secret_argument.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* command_words[] = {"list",  "holders",  "wait",  "break",
                                         "prune", "diagnose", "schema"};

void declare(command_line& line, look which, look_arguments& to) {
  line.text("--url", to.url);
  if (which == look::wait) {
    line.duration("-w,--wait", to.wait);
    line.number("-E,--conflict-exit-code", to.conflict_exit_code, 0, 255);
  } else if (which != look::schema) {
    line.flag("--json", to.json);
  }
  if (which == look::wait || which == look::holders) line.flag("-q,--quiet", to.quiet);
  if (which == look::break_lock) {
    line.text("--owner", to.owner);
    line.text("--holder", to.owner);  // the older spelling
  }
}

// The one NAME of the line; of list the PREFIX, which may be left out.
std::string name_in(const std::vector<std::string>& plain, look which, std::string_view usage) {
  const auto fail = [&](const std::string& why) {
    throw usage_error(why + ": " + std::string(usage));
  };
  const bool takes_none = which == look::prune || which == look::diagnose || which == look::schema;
  if (takes_none && !plain.empty())
    fail(command_words[static_cast<int>(which)] + std::string(" takes no NAME"));
  if (plain.size() > 1) fail("there is more than one NAME");
  if (takes_none) return {};
  if (!plain.empty()) refuse_url(plain.front());
  if (which == look::list) return plain.empty() ? std::string() : plain.front();
  if (plain.empty()) fail("the NAME of the lock is missing");
  if (plain.front().empty()) throw usage_error("NAME is empty; give the name of a lock");
  return plain.front();
}

}  // namespace

look_arguments parse_look_arguments(look which, int argc, char** argv) {
  look_arguments out;
  const separated_words words = take_words(argc, argv);
  command_line line;
  declare(line, which, out);
  line.parse(words.before);
  out.help = line.asks_for_help();
  if (out.help) return out;
  auto plain = line.plain_words();
  for (char** word = words.after; word && *word; ++word) plain.emplace_back(*word);
  out.name = name_in(plain, which, usage_of(command_words[static_cast<int>(which)]));
  if (which == look::break_lock && !out.owner)
    throw usage_error("--owner is missing: give the id that `holdfast holders " + out.name +
                      "` prints, so that no other holder loses the lock");
  return out;
}

}  // namespace holdfast::cli
