#include <unistd.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

// A mount namespace in which the default directory cannot be created.
class default_directory : public cli {
 protected:
  static constexpr const char* without_lock = "mount -t tmpfs none /run && exec \"$@\"";
  static constexpr const char* read_only =
      "mount -t tmpfs none /run && mkdir -m 1777 /run/lock && mount -o remount,ro /run && "
      "exec \"$@\"";

  static words unshared(const std::string& script, const words& command) {
    words all{"/usr/bin/unshare", "-m", "sh", "-c", script, "sh"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  void SetUp() override {
    for (const char* script : {without_lock, read_only}) {
      process probe(unshared(script, {"true"}));
      if (probe.wait() != ending{0, 0}) GTEST_SKIP() << "skipped: no mount namespaces here";
    }
  }
};

TEST_F(default_directory, that_cannot_be_created_is_never_replaced_by_another) {
  const std::string folder = "/run/lock/holdfast-" + std::to_string(::geteuid());
  for (const char* script : {without_lock, read_only}) {
    process run(unshared(script, holdfast({"run", "-n", "x", "--", "true"})));
    EXPECT_EQ(run.wait(), (ending{69, 0})) << run.err();
    EXPECT_NE(run.err().find("cannot create the lock directory " + folder), std::string::npos)
        << run.err();
    EXPECT_NE(run.err().find("--url file:///directory"), std::string::npos) << run.err();
    process diagnosis(unshared(script, holdfast({"diagnose", "--json"})));
    EXPECT_EQ(diagnosis.wait(), (ending{1, 0})) << diagnosis.err();
    EXPECT_NE(diagnosis.out().find("\"what\":\"directory\",\"grade\":\"bad\""), std::string::npos)
        << diagnosis.out();
  }
}

}  // namespace
}  // namespace holdfast::cli_test
