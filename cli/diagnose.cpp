// holdfast diagnose
#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/json.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t column_of_what = 6, column_of_text = 20, width_of_text = 100;

std::string word_for(finding_grade g) {
  switch (g) {
    case finding_grade::good: return "good";
    case finding_grade::warn: return "warn";
    default: return "bad";
  }
}

// Broken at blanks; every line but the first is indented to the column of the text.
void append_folded(std::string& to, std::string_view text) {
  std::size_t column = column_of_text;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const bool is_first = column == column_of_text;
    if (!is_first && column + 1 + end > width_of_text) {
      to.append("\n").append(column_of_text, ' ');
      column = column_of_text;
    } else if (!is_first) {
      to += ' ';
      ++column;
    }
    to += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  to += '\n';
}

std::string page_of(const std::vector<finding>& all) {
  std::string out;
  for (const finding& f : all) {
    std::string front = word_for(f.grade);
    front.resize(column_of_what, ' ');
    front.append(printable(f.what));
    front.resize(std::max(front.size() + 1, column_of_text), ' ');
    append_folded(out += front, printable(f.why));
    if (!f.remedy.empty())
      append_folded(out.append(column_of_text, ' '), "-> " + printable(f.remedy));
  }
  return out;
}

std::string array_of(const std::vector<finding>& all) {
  std::vector<json_object> out;
  for (const finding& f : all)
    out.push_back(
        {{{"what", f.what}, {"grade", word_for(f.grade)}, {"why", f.why}, {"remedy", f.remedy}}});
  return json_text(out);
}

// A directory that cannot be used is what this command is run for.
std::vector<finding> findings_of(const place& at) {
  try {
    return client::open(at.text).diagnose();
  } catch (const lock_error& e) {
    if (!at.local() || e.code() == outcome::usage) throw;
    return {{"directory", finding_grade::bad, std::string(e.reason()), std::string(e.remedy())}};
  }
}

}  // namespace

int diagnose(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::diagnose, argc, argv);
  if (arguments.help) return print(help_text("diagnose"));
  const auto all = findings_of(place_of(arguments.url));
  if (const int failed = print(arguments.json ? array_of(all) : page_of(all))) return failed;
  return std::ranges::count(all, finding_grade::bad, &finding::grade) > 0 ? exit_bad : 0;
}

}  // namespace holdfast::cli
