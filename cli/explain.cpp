// holdfast explain
#include <cstdlib>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/explanation_text.hpp"
#include "cli/help.hpp"
#include "cli/message.hpp"

namespace holdfast::cli {
namespace {

struct explain_arguments {
  std::string name;  // empty: all locks
  std::optional<std::uint32_t> lines;
  bool json = false;
  bool help = false;
};

explain_arguments parse_explain_arguments(int argc, char** argv) {
  explain_arguments out;
  const separated_words words = take_words(argc, argv);
  command_line line;
  line.flag("--json", out.json);
  line.number("-n,--lines", out.lines, 0, UINT32_MAX);
  line.parse(words.before);
  out.help = line.asks_for_help();
  auto plain = line.plain_words();
  for (char** word = words.after; word && *word; ++word) plain.emplace_back(*word);
  if (plain.size() > 1)
    throw usage_error("there is more than one NAME: " + std::string(usage_of("explain")));
  if (!plain.empty()) {
    out.name = plain.front();
    if (out.name.empty()) throw usage_error("NAME is empty; give the name of a lock");
  }
  return out;
}

std::string_view chosen_folder() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  const char* const text = std::getenv("HOLDFAST_RECORDER");
  return text ? text : "";
}

int complain_of_nothing(const explanation& found, const std::string& name,
                        const std::vector<std::string>& folders) {
  std::string where;
  for (const std::string& f : folders) where.append(where.empty() ? "" : ", ").append(f);
  say((name.empty() ? "no client has recorded a lock" : "no client has recorded " + name) + " in " +
      (where.empty() ? "/dev/shm" : where) +
      "; check the name, the user, HOLDFAST_RECORDER and recorder= in the URLs");
  return found.from.unreadable.empty() ? exit_none_recorded : exit_broken;
}

}  // namespace

int explain(int argc, char** argv) {
  const auto arguments = parse_explain_arguments(argc, argv);
  if (arguments.help) return print(help_text("explain"));
  const auto folders = history::recording_folders(chosen_folder());
  const auto now = history::moment::now();
  const auto found = explain_locks(history::read_recordings(folders, now), now, arguments.name);
  for (const std::string& sentence : found.from.unreadable) say(printable(sentence));
  if (found.timeline.empty()) return complain_of_nothing(found, arguments.name, folders);
  const std::string page = arguments.json
                               ? json_of_explanation(found)
                               : page_of_explanation(found, arguments.lines.value_or(50));
  if (const int failed = print(page)) return failed;
  return found.violations.empty() ? 0 : exit_bad;
}

}  // namespace holdfast::cli
