#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

constexpr int no_sandbox = 77;  // of programs/denying.cpp

class sandbox : public cli {
 protected:
  static words denying(const std::string& call, const std::string& error, const words& command) {
    const char* const folder = std::getenv("HOLDFAST_CLI_PROGRAMS");
    words all{std::string(folder ? folder : ".") + "/denying", call, error};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  void SetUp() override {
    process probe(denying("statx", "EPERM", {"true"}));
    if (probe.wait() == ending{no_sandbox, 0}) GTEST_SKIP() << "skipped: no seccomp filter here";
  }
  void nothing_runs_without(const std::string& call) {
    const std::string made = path("made");
    process run(denying(call, "EPERM", on_memory("", {}, {"touch", made})));
    EXPECT_EQ(run.wait(), (ending{69, 0})) << call;
    EXPECT_NE(run.err().find("needs " + call + "; permit this call in the sandbox"),
              std::string::npos)
        << run.err();
    EXPECT_FALSE(std::filesystem::exists(made)) << call;
  }
};

TEST_F(sandbox, without_a_timer_for_the_guardian_nothing_is_run) {
  nothing_runs_without("timerfd_create");
}

TEST_F(sandbox, without_a_process_descriptor_for_the_guardian_nothing_is_run) {
  nothing_runs_without("pidfd_open");
}

TEST_F(sandbox, without_shared_memory_for_the_guardian_nothing_is_run) {
  nothing_runs_without("memfd_create");
}

TEST_F(sandbox, without_a_call_for_files_the_error_names_the_sandbox) {
  for (const std::string call : {"statx", "faccessat2"}) {
    process run(denying(call, "EPERM", on_file({}, {"true"})));
    EXPECT_EQ(run.wait(), (ending{69, 0})) << call;
    EXPECT_NE(run.err().find("or permit the system call in the sandbox (seccomp)"),
              std::string::npos)
        << call << ": " << run.err();
  }
}

TEST_F(sandbox, without_close_range_the_guardian_keeps_no_descriptor) {
  const auto script = "echo $$; exec >&- sleep 1000";
  for (const std::string error : {"EPERM", "ENOSYS"}) {
    words inheriting = shell("exec 9</dev/null; exec \"$@\"");
    inheriting.front() = "/bin/sh";
    inheriting.push_back("sh");
    for (auto& word : denying("close_range", error, on_memory("", {}, shell(script))))
      inheriting.push_back(std::move(word));
    process run(inheriting);
    number_in(run.line());
    const std::string children =
        "/proc/" + std::to_string(run.pid()) + "/task/" + std::to_string(run.pid()) + "/children";
    const pid_t guardian = std::stoi(file_text(children));
    const auto open_ones = [&] {
      std::size_t count = 0;
      std::error_code ended;
      for (const auto& entry :
           std::filesystem::directory_iterator("/proc/" + std::to_string(guardian) + "/fd", ended))
        count += entry.path().empty() ? 0 : 1;
      return count;
    };
    // The standard ones, the process descriptor and the timer. The mapped page needs none.
    EXPECT_TRUE(eventually([&] { return open_ones() == 5; })) << error << ' ' << open_ones();
    run.signal(SIGTERM);
    run.wait();
  }
}

TEST_F(sandbox, without_a_subreaper_one_line_warns) {
  process run(denying("prctl", "EPERM", on_memory("", {}, {"true"})));
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  EXPECT_NE(run.err().find("cannot adopt the daemons that the command starts"), std::string::npos)
      << run.err();
}

TEST_F(sandbox, without_a_timer_a_wait_for_a_file_names_the_call) {
  process holder(on_file({}, sleeper()));
  number_in(holder.line());
  process run(denying("timer_create", "EPERM", on_file({"-w", "30"}, {"true"})));
  EXPECT_EQ(run.wait(), (ending{69, 0}));
  EXPECT_NE(run.err().find(
                "timer_create: Operation not permitted; permit this call in the sandbox"),
            std::string::npos)
      << run.err();
}

}  // namespace
}  // namespace holdfast::cli_test
