#include <signal.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class looking : public cli {
 protected:
  words at_folder(words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", file_url()});
    return holdfast(arguments);
  }
  words hold(const std::string& name, const std::string& note = "") const {
    words line{"run", name, "--note", note, "--"};
    for (const auto& word : sleeper()) line.push_back(word);
    return at_folder(line);
  }
  std::string output_of(words arguments, int code) const {
    process run(at_folder(std::move(arguments)));
    EXPECT_EQ(run.wait(), (ending{code, 0})) << run.err();
    return run.out();
  }
  std::string field(const std::string& json, const std::string& name) const {
    const auto at = json.find('"' + name + "\":");
    if (at == json.npos) return "no " + name;
    const auto from = at + name.size() + 3;
    return json.substr(from, json.find_first_of(",}]", from) - from);
  }
};

TEST_F(looking, ls_lists_by_prefix_what_is_held) {
  EXPECT_EQ(output_of({"list"}, 0), "");
  EXPECT_EQ(output_of({"list", "--json"}, 0), "[]\n");
  process a(hold("shop/a", "rows")), b(hold("shop/b")), c(hold("depot"));
  for (process* const p : {&a, &b, &c}) p->line();
  const std::string all = output_of({"list"}, 0), shop = output_of({"list", "shop/"}, 0);
  EXPECT_EQ(all.find("NAME"), 0u);
  EXPECT_NE(all.find("depot"), all.npos) << all;
  EXPECT_EQ(shop.find("depot"), shop.npos) << shop;
  EXPECT_NE(shop.find("shop/a  exclusive  " + std::to_string(a.pid())), shop.npos) << shop;
  EXPECT_NE(shop.find("rows\n"), shop.npos) << shop;
  EXPECT_EQ(output_of({"list", "nothing"}, 0), "");
}

TEST_F(looking, show_names_the_holder_and_its_exit_code_whether_there_is_one) {
  EXPECT_EQ(output_of({"holders", "job"}, 1), "job: free\n");
  process holder(hold("job", "of the night"));
  holder.line();
  process of_a_longer_name(hold("job2"));
  of_a_longer_name.line();
  const auto page = output_of({"holders", "job"}, 0);
  EXPECT_EQ(page.find("job: held\n  by       pid " + std::to_string(holder.pid())), 0u) << page;
  EXPECT_NE(page.find("  note     of the night\n"), page.npos) << page;
  EXPECT_EQ(page.find("  by "), page.rfind("  by ")) << "of another lock: " << page;
}

TEST_F(looking, quiet_show_answers_by_its_exit_code_alone) {
  EXPECT_EQ(output_of({"holders", "-q", "job"}, 1), "");
  process holder(hold("job"));
  holder.line();
  EXPECT_EQ(output_of({"holders", "-q", "job"}, 0), "");
}

TEST_F(looking, a_dead_holder_is_called_dead) {
  process holder(hold("job"));
  holder.line();
  EXPECT_EQ(field(output_of({"holders", "--json", "job"}, 0), "dead"), "false");
  holder.signal(SIGKILL);
  holder.wait();
  EXPECT_EQ(field(output_of({"holders", "--json", "job"}, 0), "dead"), "true");
  EXPECT_NE(output_of({"holders", "job"}, 0)
                .find(", which is dead: a process that it started keeps the lock"),
            std::string::npos);
  EXPECT_NE(output_of({"list"}, 0).find(" (dead)"), std::string::npos);
}

TEST_F(looking, json_has_tokens_as_strings_and_null_for_what_is_not_known) {
  EXPECT_EQ(output_of({"holders", "--json", "job"}, 1),
            "{\"name\":\"job\",\"held\":false,\"holders\":[]}\n");
  words line = hold("job");
  line.back() = "echo $HOLDFAST_TOKEN; exec sleep 1000";
  process holder(line);
  const std::string token = holder.line();
  const auto json = output_of({"holders", "--json", "job"}, 0);
  EXPECT_EQ(json.find("{\"name\":\"job\",\"held\":true,\"holders\":[{\"name\":\"job\","), 0u)
      << json;
  EXPECT_EQ(field(json, "token"), '"' + token + '"');
  EXPECT_EQ(field(json, "pid"), std::to_string(holder.pid()));
  EXPECT_EQ(field(json, "mode"), "\"exclusive\"");
  for (const char* unknown : {"permits", "total_permits", "expires_in_ms", "waiting"})
    EXPECT_EQ(field(json, unknown), "null") << unknown;
}

TEST_F(looking, json_and_text_of_strange_names_and_notes_are_sound) {
  const std::string name = "a\"b\\c \xc3\xa9\xf0\x9f\x94\x92", note = "x\xe2\x80\xae\"y\"\xc2\xa0";
  process holder(hold(name, note));
  holder.line();
  const auto json = output_of({"list", "--json"}, 0);
  EXPECT_NE(json.find("\"name\":\"a\\\"b\\\\c \xc3\xa9\xf0\x9f\x94\x92\","), json.npos) << json;
  EXPECT_NE(json.find("\"note\":\"x\\u202e\\\"y\\\"\xc2\xa0\","), json.npos) << json;
  const auto text = output_of({"list"}, 0);
  EXPECT_EQ(text.find("\xe2\x80\xae"), text.npos) << "a direction mark reaches the terminal";
}

TEST_F(looking, wait_ends_when_nobody_holds_it_and_takes_nothing) {
  EXPECT_EQ(output_of({"wait", "job"}, 0), "");
  process holder(hold("job"));
  const pid_t job = number_in(holder.line());
  process wait(at_folder({"wait", "job"}));
  ASSERT_TRUE(eventually([&] { return !wait.err().empty(); }));
  EXPECT_EQ(wait.err().find("holdfast: waiting at " + file_url() + " (--url): job is held by"), 0u)
      << wait.err();
  EXPECT_FALSE(has_ended(wait.pid()));
  ::kill(job, SIGKILL);
  EXPECT_EQ(wait.wait(), (ending{0, 0}));
}

TEST_F(looking, wait_that_runs_out_exits_as_run_does) {
  process holder(hold("job"));
  holder.line();
  output_of({"wait", "-w", "50ms", "job"}, 1);
  output_of({"wait", "-w", "0", "-E", "7", "job"}, 7);
  process wait(at_folder({"wait", "job"}));
  ASSERT_TRUE(eventually([&] { return !wait.err().empty(); }));
  wait.signal(SIGTERM);
  EXPECT_EQ(wait.wait(), (ending{128 + SIGTERM, 0}));
}

TEST_F(looking, break_in_a_folder_names_the_process_to_end) {
  output_of({"break", "job", "--owner", "nobody"}, 1);
  process holder(hold("job"));
  holder.line();
  output_of({"break", "job", "--owner", "nobody"}, 1);
  std::string id = field(output_of({"holders", "--json", "job"}, 0), "owner");
  id = id.substr(1, id.size() - 2);
  const auto pid = std::to_string(holder.pid());
  process refused(at_folder({"break", "job", "--owner", id}));
  EXPECT_EQ(refused.wait(), (ending{64, 0}));
  EXPECT_NE(refused.err().find("end process " + pid), std::string::npos) << refused.err();
  const auto json = output_of({"break", "--json", "job", "--owner", id}, 64);
  EXPECT_EQ(field(json, "broken"), "false");
  EXPECT_EQ(field(json, "pid"), pid);
}

TEST_F(looking, diagnose_prints_a_line_for_each_finding_and_its_remedy) {
  const auto shared = path("open");
  std::filesystem::create_directory(shared);
  std::filesystem::permissions(shared, std::filesystem::perms::all);
  process bad(holdfast({"diagnose", "--url", "file://" + (shared / "locks").string()}));
  EXPECT_EQ(bad.wait(), (ending{1, 0})) << bad.err();
  EXPECT_EQ(bad.out().find("good  directory     "), 0u) << bad.out();
  EXPECT_NE(bad.out().find("\nbad   path          " + shared.string()), std::string::npos);
  EXPECT_NE(bad.out().find("\n                    -> "), std::string::npos) << bad.out();
  for (std::size_t at = 0, end; (end = bad.out().find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, 100 + shared.string().size()) << "a line is folded";
}

TEST_F(looking, diagnose_json_is_one_array_of_objects) {
  process run(holdfast({"diagnose", "--json", "--url", "memory:"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(run.out().find("[{\"what\":\"store\",\"grade\":\"good\",\"why\":\""), 0u) << run.out();
  EXPECT_NE(run.out().find("\"remedy\":\"\"}]\n"), std::string::npos) << run.out();
}

TEST_F(looking, of_a_missing_place_fails_and_prints_nothing_on_standard_output) {
  for (const words& line : {words{"list"}, words{"holders", "x"}, words{"wait", "x"},
                            words{"break", "x", "--owner", "y"}}) {
    words all = line;
    all.insert(all.end(), {"--json", "--url=file:///proc/nowhere"});
    if (line[0] == "wait") all.erase(all.end() - 2);
    process run(holdfast(all));
    EXPECT_EQ(run.wait(), (ending{69, 0})) << line[0];
    EXPECT_EQ(run.out(), "");
    EXPECT_EQ(run.err().find("holdfast: "), 0u);
  }
}

TEST_F(looking, a_directory_that_cannot_be_used_is_a_finding) {
  process run(holdfast({"diagnose", "--json", "--url=file:///proc/nowhere"}));
  EXPECT_EQ(run.wait(), (ending{1, 0}));
  EXPECT_NE(run.out().find("\"grade\":\"bad\",\"why\":\"cannot create the lock directory"),
            std::string::npos)
      << run.out();
}

TEST_F(looking, a_full_disk_is_an_error) {
  process list(
      {"/bin/sh", "-c", "\"$HOLDFAST_BIN\" list --json --url " + file_url() + " >/dev/full"});
  EXPECT_EQ(list.wait(), (ending{69, 0}));
  EXPECT_NE(list.err().find("No space left"), std::string::npos) << list.err();
}

}  // namespace
}  // namespace holdfast::cli_test
