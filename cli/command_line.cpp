#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>

#include <charconv>

#include "cli/duration_text.hpp"
#include "cli/message.hpp"
#include "cli/secret_argument.hpp"
#include "cli/suggestion.hpp"

namespace holdfast::cli {
namespace {

// `option` is the option's name, for the message of the usage_error.
std::chrono::nanoseconds duration_of(std::string_view option, std::string_view text) {
  if (const auto d = parse_duration(text)) return *d;
  throw usage_error(
      std::string(option) + " '" + std::string(text) +
      "' is not a duration; give seconds, for example 30 or 1.5, or a unit: 500ms, 2m, 1h, 1d");
}

std::uint32_t number_of(std::string_view option, std::string_view text, std::uint32_t lowest,
                        std::uint32_t highest, std::string_view hint) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= lowest &&
      number <= highest)
    return number;
  std::string why = std::string(option) + " '" + std::string(text) + "' is not a number from " +
                    std::to_string(lowest) + " to " + std::to_string(highest);
  if (text.find_first_not_of("+-.0123456789") != text.npos) why += hint;
  throw usage_error(why);
}

template <class T>
void set_once(std::optional<T>& to, T value, std::string_view option) {
  if (to && *to != value)
    throw usage_error(std::string(option) + " is given twice with different values; keep one");
  to = std::move(value);
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }
bool is_long(std::string_view word) { return word.starts_with("--"); }

std::string_view first_of(std::string_view names) { return names.substr(0, names.find(',')); }
// The letter alone of an option without a long name.
std::string_view long_of(std::string_view names) {
  const auto at = names.find("--");
  return at == names.npos ? names : names.substr(at);
}

// Without what stands behind a '=': it may be a password.
std::string option_in(std::string_view word) {
  return std::string(word.substr(0, is_long(word) ? word.find('=') : 2));
}

// Null when no long name starts like this, or more than one.
const declared_option* find_long(const std::vector<declared_option>& all, std::string_view start) {
  const declared_option* found = nullptr;
  for (const declared_option& option : all) {
    const auto name = long_of(option.names);
    if (name == start) return &option;
    if (!name.starts_with(start)) continue;
    if (found) return nullptr;
    found = &option;
  }
  return found;
}

std::string meant_option(const std::vector<declared_option>& all, std::string_view word) {
  std::vector<std::string_view> names;
  for (const declared_option& option : all) names.push_back(long_of(option.names));
  return is_long(word) ? did_you_mean(nearest_of(names, word)) : std::string();
}

// Spells long options as CLI11 wants them: in full, and each value as a word of its own, because
// CLI11 takes the word behind "--note=" for its value.
std::vector<std::string> in_full(const std::vector<declared_option>& all,
                                 const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto equals = word->find('=');
    const auto* option = is_long(*word) ? find_long(all, word->substr(0, equals)) : nullptr;
    if (!option) {
      out.push_back(*word);
      continue;
    }
    const bool joined = equals != word->npos;
    out.emplace_back(long_of(option->names));
    if (joined && !option->takes_value)
      throw usage_error("option " + out.back() + " takes no value");
    if (joined)
      out.push_back(word->substr(equals + 1));
    else if (option->takes_value && word + 1 != words.end())
      out.push_back(*++word);
  }
  return out;
}

// To declare an option costs CLI11 some microseconds, and most command lines have one or two.
bool may_occur(const declared_option& option, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    if (!is_option(word)) return false;
    if (is_long(word)) return word == long_of(option.names);
    return !is_long(option.names) && word.find(option.names[1]) != word.npos;
  });
}

// The option that is the last word, or the last letter of it.
std::string last_option(const std::vector<std::string>& words) {
  const std::string& word = words.back();
  return is_long(word) ? word : std::string{'-', word.back()};
}

const CLI::Option* add_to(CLI::App& app, const declared_option& option) {
  auto* const out = app.add_option(std::string(option.names), CLI::callback_t());
  // Without extra arguments, or "[a,b]" would be two values.
  return out->take_all()->allow_extra_args(false)->expected(option.takes_value ? 1 : 0);
}

// The name that the caller has used.
std::string_view name_in(const std::vector<std::string>& words, const declared_option& option) {
  const auto name = long_of(option.names);
  return std::ranges::find(words, name) != words.end() ? name : first_of(option.names);
}

template <class T, class Read>
declared_option valued(std::string_view names, std::optional<T>& to, Read read) {
  return {names, true, [=, &to](std::string_view option, const std::string& value) {
            set_once(to, read(option, value), option);
          }};
}

}  // namespace

separated_words take_words(int argc, char** argv) {
  separated_words out;
  bool is_url = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") {
      out.after = argv + i + 1;
      break;
    }
    // Any word with "://" too: the option before it may be mistyped.
    const bool may_be_url = is_url || word.starts_with("--u") || word.find("://") != word.npos;
    is_url = word.size() > 2 && std::string_view("--url").starts_with(word);
    out.before.push_back(may_be_url ? take_secret_argument(argv[i]) : std::string(word));
  }
  return out;
}

void command_line::flag(std::string_view names, bool& to) {
  options_.push_back({names, false, [&to](auto, auto&) { to = true; }});
}

void command_line::text(std::string_view names, std::optional<std::string>& to) {
  options_.push_back(valued(names, to, [](auto, const std::string& value) { return value; }));
}

void command_line::duration(std::string_view names, std::optional<std::chrono::nanoseconds>& to) {
  options_.push_back(valued(names, to, duration_of));
}

void command_line::number(std::string_view names, std::optional<std::uint32_t>& to,
                          std::uint32_t lowest, std::uint32_t highest, std::string_view hint) {
  options_.push_back(valued(names, to, [=](std::string_view option, const std::string& value) {
    return number_of(option, value, lowest, highest, hint);
  }));
}

void command_line::parse(const std::vector<std::string>& words) {
  flag("-h,--help", asks_for_help_);
  const auto full = in_full(options_, words);
  CLI::App app;
  app.set_help_flag();  // ours wins over whatever is wrong beside it
  app.allow_extras();
  std::vector<std::pair<const declared_option*, const CLI::Option*>> declared;
  for (const declared_option& option : options_)
    if (may_occur(option, full)) declared.emplace_back(&option, add_to(app, option));
  std::string fault;
  try {
    app.parse(std::vector(full.rbegin(), full.rend()));
  } catch (const CLI::ArgumentMismatch&) {
    fault = "option " + last_option(full) + " needs a value";
  }
  for (const std::string& word : app.remaining())
    if (!is_option(word))
      plain_words_.push_back(word);
    else if (fault.empty())
      fault = "there is no option " + option_in(word) +
              ", or its abbreviation is ambiguous; a NAME that starts with '-' comes after --" +
              meant_option(options_, option_in(word));
  // The last one declared is --help.
  asks_for_help_ = !declared.empty() && declared.back().first == &options_.back() &&
                   declared.back().second->count() > 0;
  if (asks_for_help_) return;
  if (!fault.empty()) throw usage_error(fault);
  for (const auto& [option, found] : declared)
    for (const std::string& value : found->results()) option->set(name_in(full, *option), value);
}

}  // namespace holdfast::cli
