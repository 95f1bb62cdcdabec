#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "cli/exit_code.hpp"
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

const words subcommands{"run",   "list",     "top",     "holders", "wait", "break",
                        "prune", "diagnose", "explain", "schema",  "drill"};

std::string cli_folder() { return std::getenv("HOLDFAST_CLI_FOLDER"); }

std::string output_of(const words& line, const start_options& options = {}) {
  process run(line, options);
  EXPECT_EQ(run.wait(), (ending{0, 0})) << ::testing::PrintToString(line) << run.err();
  return run.out();
}

words lines_of(const std::string& text) {
  std::istringstream in(text);
  words out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

using option_set = std::set<std::string>;

// The names in "  -w, --wait SECONDS  text" with their placeholder: "-w SECONDS", "--wait SECONDS".
void add_option(option_set& to, const std::string& names, const std::string& placeholder) {
  const std::regex name("--?[a-zA-Z][-a-z]*");
  for (std::sregex_iterator it(names.begin(), names.end(), name), end; it != end; ++it)
    to.insert(it->str() + (placeholder.empty() ? "" : " " + placeholder));
}

option_set in_help(const std::string& command) {
  const std::regex head(R"(^ {2,6}((?:-\w|--[-a-z]+)(?:, --[-a-z]+)*)(?: ([A-Z]+))?(?: .*)?$)");
  option_set out;
  for (const auto& line : lines_of(output_of(holdfast({command, "--help"})))) {
    std::smatch found;
    if (std::regex_match(line, found, head)) add_option(out, found[1], found[2]);
  }
  return out;
}

// Those of the section of the command, as in "*-w*, *--wait* _SECONDS_".
option_set in_manual(const std::string& command) {
  std::string title = "# " + command;
  for (char& letter : title) letter = static_cast<char>(std::toupper(letter));
  std::ifstream in(cli_folder() + "/holdfast.1.scd");
  const std::regex head(R"(^(\*-[^_]*\*)(?: _([A-Z]+)_)?$)");
  option_set out;
  bool is_in_section = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) is_in_section = line == title;
    std::smatch found;
    if (is_in_section && std::regex_match(line, found, head)) add_option(out, found[1], found[2]);
  }
  return out;
}

std::string without_asterisks(std::string text) {
  std::erase(text, '*');
  return text;
}

// Of the table in docs/cli.md, the first column.
words exit_codes_in_the_reference() {
  std::ifstream in(cli_folder() + "/../docs/cli.md");
  words out;
  bool is_in_table = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "| exit code | meaning |") {
      is_in_table = true;
    } else if (is_in_table && !line.starts_with("|")) {
      return out;
    } else if (is_in_table && !line.starts_with("|-")) {
      out.push_back(line.substr(2, line.find(" |", 2) - 2));
    }
  }
  return out;
}

words exit_codes_in_the_manual() {
  std::ifstream in(cli_folder() + "/holdfast.1.scd");
  words out;
  bool is_in_section = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) is_in_section = line == "# EXIT STATUS";
    if (is_in_section && line.starts_with("*")) out.push_back(without_asterisks(line));
  }
  return out;
}

option_set without_placeholders(const option_set& all) {
  option_set out;
  for (const auto& option : all) out.insert(option.substr(0, option.find(' ')));
  return out;
}

class help_pages : public cli {};

TEST_F(help_pages, the_manual_has_each_option_of_the_help_and_no_other) {
  for (const auto& command : subcommands) {
    EXPECT_FALSE(in_help(command).empty()) << command;
    EXPECT_EQ(in_help(command), in_manual(command)) << command;
  }
}

TEST_F(help_pages, the_overview_and_the_manual_name_each_command) {
  const auto overview = lines_of(output_of(holdfast({"help"})));
  std::ifstream in(cli_folder() + "/holdfast.1.scd");
  const std::string manual(std::istreambuf_iterator<char>(in), {});
  for (const auto& command : subcommands) {
    EXPECT_TRUE(std::ranges::any_of(overview, [&](const std::string& line) {
      return line.starts_with("  " + command + " ");
    })) << command;
    EXPECT_NE(manual.find("\n*holdfast " + command + "*"), std::string::npos) << command;
  }
}

TEST_F(help_pages, the_reference_and_the_manual_list_each_exit_code_and_no_other) {
  using std::to_string;
  const words expected{
      "0",
      to_string(holdfast::cli::exit_busy),
      to_string(holdfast::cli::exit_none_recorded),
      to_string(holdfast::cli::exit_usage),
      to_string(holdfast::cli::exit_broken),
      to_string(holdfast::cli::exit_lost),
      to_string(holdfast::cli::exit_cannot_run) + ", " + to_string(holdfast::cli::exit_not_found),
      to_string(holdfast::cli::exit_by_signal) + " + N",
  };
  EXPECT_EQ(exit_codes_in_the_reference(), expected);
  EXPECT_EQ(exit_codes_in_the_manual(), expected);
}

TEST_F(help_pages, each_help_ends_with_examples_and_names_the_manual) {
  words all = subcommands;
  all.emplace_back("help");
  for (const auto& command : all) {
    const auto lines = lines_of(output_of(holdfast({"help", command})));
    EXPECT_NE(std::ranges::find(lines, "Manual: man holdfast"), lines.end()) << command;
    const auto title = std::ranges::find(lines, "Examples:");
    ASSERT_NE(title, lines.end()) << command;
    EXPECT_GE(lines.end() - title, 3) << command;
    EXPECT_LE(lines.end() - title, 4) << command;
    EXPECT_TRUE(std::all_of(title + 1, lines.end(), [](const std::string& line) {
      return line.starts_with("  holdfast ") && line.size() <= 100;
    })) << command;
  }
}

TEST_F(help_pages, the_manual_is_rendered_without_a_warning) {
  process made({"/bin/sh", "-c", "command -v scdoc >/dev/null || exit 77; scdoc <\"$0\" >\"$1\"",
                cli_folder() + "/holdfast.1.scd", path("holdfast.1").string()});
  const auto how = made.wait();
  if (how.code == 77) GTEST_SKIP() << "skipped: scdoc is not installed";
  ASSERT_EQ(how, (ending{0, 0})) << made.err();
  process shown(
      {"/bin/sh", "-c",
       "command -v man >/dev/null || exit 77; LC_ALL=C MANWIDTH=80 man --warnings -l \"$0\" | cat",
       path("holdfast.1").string()});
  if (shown.wait().code == 77) GTEST_SKIP() << "skipped: man is not installed";
  EXPECT_EQ(shown.err(), "");
  EXPECT_NE(shown.out().find("--conflict-exit-code CODE"), std::string::npos) << shown.out();
}

struct shell_case {
  const char *name, *file;
};
std::ostream& operator<<(std::ostream& out, const shell_case& c) { return out << c.name; }

class completions : public cli, public ::testing::WithParamInterface<shell_case> {
 protected:
  void SetUp() override {
    process found({"/bin/sh", "-c", "command -v \"$0\"", GetParam().name});
    if (found.wait().code != 0)
      GTEST_SKIP() << "skipped: " << GetParam().name << " is not installed";
  }
  // The profiles are those of path("holdfast.toml"), unless `chosen` is another XDG_CONFIG_HOME.
  option_set at_end_of(const std::string& line, const std::string& chosen = "") const {
    const std::string script = std::string(std::getenv("HOLDFAST_COMPLETIONS")) + GetParam().name;
    const std::string folder = path("x").parent_path().string();
    const start_options options{
        .environment = {{"XDG_CONFIG_HOME", chosen.empty() ? folder : chosen}, {"HOME", folder}}};
    const words command{script, cli_folder() + "/completions/" + GetParam().file, line};
    option_set out;
    for (const auto& word : lines_of(output_of(command, options))) out.insert(word);
    return out;
  }
};

TEST_P(completions, offer_the_commands) {
  option_set expected(subcommands.begin(), subcommands.end());
  expected.insert({"help", "version"});
  EXPECT_EQ(at_end_of("holdfast "), expected);
  EXPECT_EQ(at_end_of("holdfast di"), option_set{"diagnose"});
}

TEST_P(completions, offer_each_option_of_the_help_and_no_other) {
  for (const auto& command : subcommands) {
    option_set offered = at_end_of("holdfast " + command + " -");
    if (GetParam().name == std::string("fish"))
      offered.merge(at_end_of("holdfast " + command + " --"));
    EXPECT_EQ(offered, without_placeholders(in_help(command))) << command;
  }
}

TEST_P(completions, offer_urls_and_no_text_for_other_values) {
  EXPECT_EQ(at_end_of("holdfast list --url r"), option_set{"redis://"});
  EXPECT_EQ(at_end_of("holdfast run --note "), option_set{});
  if (GetParam().name != std::string("fish"))  // which offers the whole word
    EXPECT_EQ(at_end_of("holdfast run --url=r"), option_set{"redis://"});
  else
    EXPECT_EQ(at_end_of("holdfast run --url=r"), option_set{"--url=redis://"});
}

TEST_P(completions, offer_the_profiles_as_urls) {
  EXPECT_EQ(at_end_of("holdfast list --url @"), option_set{});
  std::ofstream(path("holdfast.toml")) << "# staging = 'redis://db3'\n"
                                          "[other]\npeer = 'x'\n"
                                          "[ profiles ]  # of this user\n"
                                          "production = \"redis://db1?ttl=5s\"\n"
                                          "\"db.2\" = 'redis://db2'\n"
                                          "'$(echo x)' = 'redis://db4'\n"
                                          "[another]\nproduct = 'x'\n";
  EXPECT_EQ(at_end_of("holdfast list --url @"), (option_set{"@production", "@db.2"}));
  EXPECT_EQ(at_end_of("holdfast run --url @pr"), option_set{"@production"});
  EXPECT_TRUE(at_end_of("holdfast wait --url ").contains("@production"));
  EXPECT_EQ(at_end_of("holdfast list --url @production "), option_set{});
  const bool is_fish = GetParam().name == std::string("fish");  // which offers the whole word
  EXPECT_EQ(at_end_of("holdfast run --url=@pr"),
            option_set{is_fish ? "--url=@production" : "@production"});
}

TEST_P(completions, find_the_profiles_in_the_home_directory_where_no_other_is_set) {
  std::filesystem::create_directory(path(".config"));
  std::ofstream(path(".config/holdfast.toml")) << "profiles.local = 'file:'\n";
  EXPECT_EQ(at_end_of("holdfast list --url @", "relative"), option_set{"@local"});
}

TEST_P(completions, after_the_separator_complete_the_command_of_run) {
  EXPECT_TRUE(at_end_of("holdfast run -n x -- basenam").contains("basename"));
  EXPECT_EQ(at_end_of("holdfast wait -- basenam"), option_set{});
}

INSTANTIATE_TEST_SUITE_P(shells, completions,
                         ::testing::Values(shell_case{"bash", "holdfast.bash"},
                                           shell_case{"zsh", "_holdfast"},
                                           shell_case{"fish", "holdfast.fish"}));

}  // namespace
}  // namespace holdfast::cli_test
