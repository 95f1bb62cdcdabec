#include "tests/cli/cli_test.hpp"

#include <stdlib.h>

#include <stdexcept>

namespace holdfast::cli_test {

cli::cli() {
  std::string name = std::filesystem::temp_directory_path() / "holdfast-cli-XXXXXX";
  if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  scratch_ = name;
  folder_ = scratch_ / "locks";
  std::filesystem::create_directory(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  ::unsetenv("HOLDFAST_URL");
  adopt_orphans();
}

cli::~cli() {
  end_orphans();
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

words cli::run(words options, words command) {
  words all{"run"};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"lock", "--"});
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

words cli::on_file(words options, words command) const {
  options.insert(options.begin(), {"--url", file_url()});
  return holdfast(run(std::move(options), std::move(command)));
}

words cli::on_memory(const std::string& query, words options, words command) const {
  options.insert(options.begin(), {"--url", "memory:" + query});
  return holdfast_over_memory(run(std::move(options), std::move(command)));
}

words sleeper() { return shell("echo $$; exec sleep 1000"); }

words shell(const std::string& script) { return {"sh", "-c", script}; }

pid_t number_in(const std::string& line) {
  if (line.empty()) throw std::runtime_error("the command did not start");
  return std::stoi(line);
}

}  // namespace holdfast::cli_test
