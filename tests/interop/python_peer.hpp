// A Python script that takes locks with a library, in a process of its own.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

#include "testkit/servers/program.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::interop_test {

inline constexpr const char* debian_python = "/usr/bin/python3";  // which has Debian's packages

inline bool has_python_package(const std::string& name) {
  return testkit::run_program({{debian_python, "-c", "import " + name}, {}, "/dev/null"}) == 0;
}

// Requests and answers are lines.
class python_peer {
 public:
  // The script, below this folder, gets the port of a server as its argument.
  python_peer(const std::string& script, int port)
      : process_([script, port](const file_test::other_process::line& l) {
          const auto path = std::filesystem::path(__FILE__).parent_path() / script;
          ::dup2(l.in, STDIN_FILENO);
          ::dup2(l.out, STDOUT_FILENO);
          ::execl(debian_python, debian_python, path.c_str(), std::to_string(port).c_str(),
                  nullptr);
        }) {}
  std::string ask(const std::string& line) {
    process_.say(line);
    return process_.hear();
  }
  void say(const std::string& line) { process_.say(line); }
  std::string hear() { return process_.hear(); }
  void kill() { process_.kill(); }

 private:
  file_test::other_process process_;
};

}  // namespace holdfast::interop_test
