#include "cli/look_arguments.hpp"

#include "cli/help.hpp"
#include "cli/option_reader.hpp"
#include "cli/secret_argument.hpp"

namespace holdfast::cli {
namespace {

enum : int { opt_look_url = 256, opt_json, opt_holder };

constexpr option url_option{"url", required_argument, nullptr, opt_look_url};
constexpr option json_option{"json", no_argument, nullptr, opt_json};
constexpr option help_option{"help", no_argument, nullptr, 'h'};
constexpr option no_more{nullptr, 0, nullptr, 0};

constexpr option looking[] = {url_option, json_option, help_option, no_more};
constexpr option breaking[] = {
    {"holder", required_argument, nullptr, opt_holder},
    url_option,
    json_option,
    help_option,
    no_more,
};
constexpr option waiting[] = {
    {"wait", required_argument, nullptr, 'w'},
    {"conflict-exit-code", required_argument, nullptr, 'E'},
    url_option,
    help_option,
    no_more,
};

struct command_line {
  const char* word;
  const char* letters;
  const option* names;
};
constexpr command_line command_lines[] = {
    {"ls", "h", looking},
    {"show", "h", looking},
    {"wait", "w:E:h", waiting},
    {"break", "h", breaking},
};

void set_look_option(look_arguments& to, int which, char* value) {
  switch (which) {
    case 'w': set_once(to.wait, duration_of("-w", value), "-w"); break;
    case 'E': set_once(to.conflict_exit_code, number_of("-E", value, 0, 255), "-E"); break;
    case opt_look_url: set_once(to.url, take_secret_argument(value), "--url"); break;
    case opt_holder: set_once(to.holder, std::string(value), "--holder"); break;
    case opt_json: to.json = true; break;
    default: to.help = true;
  }
}

class name_place {  // the one NAME of the line
 public:
  name_place(look_arguments& to, std::string_view usage) : to_(to), usage_(usage) {}

  void set(const char* word) {
    if (given_) fail("there is more than one NAME");
    given_ = true;
    to_.name = word;
  }
  void check(look which) const {
    if (which == look::ls) return;
    if (!given_) fail("the NAME of the lock is missing");
    if (to_.name.empty()) throw usage_error("NAME is empty; give the name of a lock");
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw usage_error(std::string(why) + ": " + std::string(usage_));
  }
  look_arguments& to_;
  std::string_view usage_;
  bool given_ = false;
};

}  // namespace

look_arguments parse_look_arguments(look which, int argc, char** argv) {
  const command_line& line = command_lines[static_cast<int>(which)];
  look_arguments out;
  name_place name(out, usage_of(line.word));
  option_reader words(argc, argv, line.letters, line.names);
  for (int found = words.next(); found != option_reader::end; found = words.next()) {
    if (found == option_reader::plain)
      name.set(words.value());
    else
      set_look_option(out, found, words.value());
    if (out.help) return out;
  }
  for (char** word = words.rest(); *word; ++word) name.set(*word);
  name.check(which);
  if (which == look::break_lock && !out.holder)
    throw usage_error("--holder is missing: give the id that `holdfast show " + out.name +
                      "` tells, so that nobody else loses the lock");
  return out;
}

}  // namespace holdfast::cli
