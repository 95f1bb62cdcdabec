#include "cli/option_reader.hpp"

#include <charconv>

#include "cli/duration_text.hpp"

namespace holdfast::cli {
namespace {

std::string option_in(std::string_view word) {
  if (word.starts_with("--")) return std::string(word.substr(0, word.find('=')));
  return '-' + std::string(1, static_cast<char>(optopt));
}

[[noreturn]] void refuse_option(int verdict, std::string_view word) {
  const std::string option = option_in(word);
  if (verdict == ':') throw usage_error("option " + option + " needs a value");
  if (word.starts_with("--") && optopt != 0)
    throw usage_error("option " + option + " takes no value");
  throw usage_error("there is no option " + option + ", or it is cut too short");
}

}  // namespace

// '-': words and options come in the order they stand in, so that the first -- is seen.
option_reader::option_reader(int argc, char** argv, const char* letters, const option* names)
    : argc_(argc), argv_(argv), letters_(std::string("-:") + letters), names_(names) {
  opterr = 0;
}

int option_reader::next() {
  const int word = optind;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet
  const int found = ::getopt_long(argc_, argv_, letters_.c_str(), names_, nullptr);
  if (found == '?' || found == ':') refuse_option(found, argv_[word]);
  return found;
}

bool option_reader::saw_separator() const noexcept {
  return std::string_view(argv_[optind - 1]) == "--";
}

std::chrono::nanoseconds duration_of(const char* what, std::string_view text) {
  if (const auto d = parse_duration(text)) return *d;
  throw usage_error(std::string(what) + " '" + std::string(text) +
                    "' is no duration; give seconds as 30 or 1.5, or a unit as 500ms, 2m, 1h");
}

std::uint32_t number_of(const char* what, std::string_view text, std::uint32_t least,
                        std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  throw usage_error(std::string(what) + " '" + std::string(text) + "' is no number from " +
                    std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace holdfast::cli
