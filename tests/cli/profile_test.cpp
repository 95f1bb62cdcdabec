#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class profiles : public cli {
 protected:
  void SetUp() override {
    if (refusal_of("@x").find("this build of the command reads none") != std::string::npos)
      GTEST_SKIP() << "skipped: the command was built without profiles";
  }
  std::string file() const { return path("holdfast.toml").string(); }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file()) << text;
    ::chmod(file().c_str(), mode);
  }
  start_options here(const std::string& url = "") const {
    return {.environment = {{"XDG_CONFIG_HOME", path("x").parent_path().string()},
                            {"HOLDFAST_URL", url}}};
  }
  std::string refusal_of(const std::string& url) const {
    process run(holdfast({"list", "--url", url}), here());
    EXPECT_EQ(run.wait(), (ending{64, 0})) << run.err();
    EXPECT_EQ(run.out(), "");
    return run.err();
  }
  void expect_refused(const std::string& url, const std::string& text) const {
    const std::string shown = refusal_of(url);
    EXPECT_NE(shown.find(text), std::string::npos) << shown << "lacks " << text;
    EXPECT_EQ(shown.find("hunter2"), std::string::npos) << shown;
  }
};

TEST_F(profiles, name_a_url_for_the_option_and_for_the_variable) {
  write("# the stores of this user\n[profiles]\nlocal = \"" + file_url() + "\"\n");
  process run(holdfast({"run", "--verbose", "--url", "@local", "job", "--", "true"}), here());
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_NE(run.err().find(file_url() + " (@local)"), std::string::npos) << run.err();
  process variable(holdfast({"top"}), here("@local"));
  EXPECT_EQ(variable.wait(), (ending{0, 0})) << variable.err();
  EXPECT_NE(variable.out().find(file_url() + " (@local)"), std::string::npos) << variable.out();
  EXPECT_EQ(variable.err(), "");
}

TEST_F(profiles, are_in_the_home_directory_where_no_other_is_set) {
  std::filesystem::create_directory(path(".config"));
  std::ofstream(path(".config/holdfast.toml")) << "profiles.local = '" + file_url() + "'\n";
  for (const char* const other : {"", "relative"}) {
    process run(holdfast({"top", "--url", "@local"}),
                {.environment = {{"XDG_CONFIG_HOME", other}, {"HOME", path("").string()}}});
    EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  }
  process homeless(holdfast({"list", "--url", "@local"}),
                   {.environment = {{"XDG_CONFIG_HOME", ""}, {"HOME", ""}}});
  EXPECT_EQ(homeless.wait(), (ending{64, 0}));
  EXPECT_NE(homeless.err().find("HOME is not set"), std::string::npos) << homeless.err();
}

TEST_F(profiles, that_are_missing_are_reported_with_the_file_and_the_remedy) {
  expect_refused("@local", file() + " cannot be read (No such file or directory); create it with "
                                    "the lines [profiles] and local = \"redis://host\"");
  write("");
  expect_refused("@local", "in " + file() + ", which has no line [profiles]; add it");
  write("[profiles]\nproduction = 'redis://db1'\n");
  expect_refused("@local", "add below [profiles] local = \"redis://host\"");
  expect_refused("@producton", "; did you mean 'production'?");
}

TEST_F(profiles, of_a_wrong_form_are_reported_with_their_line_and_no_password) {
  write("[profiles]\na = 'file:'\nlocal = redis://u:hunter2@host\n");
  expect_refused("@local", file() + ", line 3, column ");
  write("[profiles]\nlocal = ['redis://u:hunter2@host']\n");
  expect_refused("@local", file() + ", line 2: the profile 'local' is not a string; write local");
  write("[profiles]\n\nlocal = 'redis://u:hunter2@host:port'\n");
  expect_refused("@local", file() + ", line 3: ");
  write("[profiles]\nlocal = 'db1:6379'\n");
  expect_refused("@local", "is not a URL; did you mean redis://db1:6379?");
  write("[profiles]\nlocal = 'host?password=hunter2'\n");
  expect_refused("@local", file() + ", line 2: ");
  write("[profiles]\nlocal = '@other'\n");
  expect_refused("@local", file() + ", line 2: ");
}

TEST_F(profiles, are_reported_when_other_users_may_read_a_password_or_change_them) {
  const std::string local = "[profiles]\nlocal = '" + file_url() + "'\n";
  const auto warnings = [&](const std::string& rest, mode_t mode) {
    write(local + rest, mode);
    process run(holdfast({"list", "--url", "@local"}), here());
    EXPECT_EQ(run.wait(), (ending{0, 0}));
    EXPECT_EQ(run.err().find("hunter2"), std::string::npos) << run.err();
    return run.err();
  };
  const std::string remedy = "; run: chmod 600 " + file() + '\n';
  const std::string readable =
      "holdfast: warning: " + file() + " has a password in it, and other users may read it";
  for (const char* const url : {"redis://u:hunter2@host", "redis://hunter2@host",
                                "mysql://u@host/d?password=hunter2", "zookeeper://u:hunter2@h/l"})
    EXPECT_EQ(warnings("other = '" + std::string(url) + "'\n", 0644), readable + remedy) << url;
  for (const char* const url :
       {"mysql://u@host/d?password-env=P", "redis://host", "rediss://u@host?password-file=/run/p"})
    EXPECT_EQ(warnings("other = '" + std::string(url) + "'\n", 0644), "") << url;
  EXPECT_EQ(warnings("other = 'redis://u:hunter2@host'\n", 0600), "");
  EXPECT_EQ(warnings("", 0622),
            "holdfast: warning: " + file() + " may be changed by other users" + remedy);
}

}  // namespace
}  // namespace holdfast::cli_test
