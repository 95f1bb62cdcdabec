#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class usage : public cli {
 protected:
  void refused(words arguments, const std::string& says) {
    process run(holdfast(arguments));
    EXPECT_EQ(run.wait(), (ending{64, 0})) << ::testing::PrintToString(arguments);
    const std::string text = run.err();
    EXPECT_EQ(text.find("holdfast: "), 0u) << text;
    EXPECT_NE(text.find(says), std::string::npos) << text << "lacks " << says;
    EXPECT_NE(text.find("see holdfast help"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    EXPECT_EQ(run.out(), "");
  }
};

TEST_F(usage, of_a_missing_part_names_it) {
  refused({"run"}, "NAME");
  refused({"run", "--", "true"}, "NAME");
  refused({"run", "", "--", "true"}, "NAME is empty");
  refused({"run", "x"}, "-- is missing");
  refused({"run", "x", "true"}, "-- is missing");
  refused({"run", "x", "ls", "-l"}, "-- is missing");
  refused({"run", "x", "--"}, "command after -- is missing");
}

TEST_F(usage, of_unknown_words_names_them) {
  refused({"run", "--frob", "x", "--", "true"}, "--frob");
  refused({"run", "-z", "x", "--", "true"}, "-z");
  refused({"run", "-n", "-w"}, "-w");
  refused({"run", "--close=yes", "x", "--", "true"}, "--close");
  refused({"walk"}, "walk");
}

TEST_F(usage, of_bad_durations_quotes_them) {
  for (const std::string bad : {"-1", "nan", "inf", "1e3", "", ".", "5 s", "5x", "0x10", "1.2.3",
                                "99999999999999999999", "s"})
    refused({"run", "-w", bad, "x", "--", "true"}, "'" + bad + "'");
  refused({"run", "--wait", "soon", "x", "--", "true"}, "holdfast: --wait 'soon'");
  refused({"run", "--url", "memory:", "--ttl", "-5", "x", "--", "true"}, "'-5'");
  refused({"run", "--url", "memory:", "--ttl", "99ms", "x", "--", "true"}, "--ttl");
  refused({"run", "--url", "memory:", "--ttl", "9999h", "x", "--", "true"}, "--ttl");
  refused({"run", "--url", "memory:", "--grace", "11s", "x", "--", "true"}, "third");
}

TEST_F(usage, of_shares_permits_and_several_names_that_contradict) {
  for (const std::string bad : {"0", "-1", "1000001", "x", "1.5", ""})
    refused({"run", "-c", bad, "x", "--", "true"}, "-c '" + bad + "' is no number from 1 to");
  refused({"run", "-s", "-c", "2", "x", "--", "true"}, "-s is for a lock and -c");
  refused({"run", "--take", "2", "x", "--", "true"}, "-c how many permits there are");
  refused({"run", "-c", "2", "--take", "3", "x", "--", "true"}, "more than the -c permits");
  refused({"run", "-s", "x", "y", "--", "true"}, "one NAME");
  refused({"run", "-c", "2", "x", "y", "--", "true"}, "one NAME");
  refused({"run", "x", "", "--", "true"}, "NAME is empty");
  refused({"run", "--url", file_url(), "x", "y", "x", "--", "true"}, "\"x\"");
}

TEST_F(usage, of_bad_exit_codes_names_the_range) {
  for (const std::string bad : {"-1", "256", "x", "", "1.0", "99999999999"})
    refused({"run", "-E", bad, "x", "--", "true"}, "0 to 255");
}

TEST_F(usage, twice_with_different_values_is_refused) {
  refused({"run", "-w", "1", "-w", "2", "x", "--", "true"}, "twice");
  refused({"run", "--url", "memory:a", "--url", "memory:b", "x", "--", "true"}, "twice");
  refused({"run", "-n", "-w", "2", "x", "--", "true"}, "-n");
  process same(holdfast({"run", "-E", "3", "--url", file_url(), "-E", "3", "x", "--", "true"}));
  EXPECT_EQ(same.wait(), (ending{0, 0}));
}

TEST_F(usage, of_ttl_options_without_a_ttl_has_no_effect) {
  process run(holdfast({"run", "--url", file_url(), "--ttl", "5", "--grace", "1", "x", "--", "sh",
                        "-c", "exit ${HOLDFAST_TTL:-7}"}));
  EXPECT_EQ(run.wait(), (ending{7, 0}));
  refused({"run", "--url", file_url(), "--ttl", "1ms", "x", "--", "true"}, "--ttl");
  refused({"run", "--url", file_url(), "--grace", "20s", "x", "--", "true"}, "--grace");
}

TEST_F(usage, of_gc_needs_a_directory_whose_files_go) {
  refused({"gc", "--url", file_url()}, "unlink=1");
  refused({"gc", "--url", "memory:"}, "nothing to be removed");
  refused({"gc", "x"}, "gc takes no NAME");
  refused({"doctor", "x"}, "doctor takes no NAME");
  process used(holdfast({"run", "--url", file_url(), "x", "--", "true"}));
  EXPECT_EQ(used.wait(), (ending{0, 0}));
  process removed(holdfast({"gc", "--json", "--url", file_url() + "?unlink=1"}));
  EXPECT_EQ(removed.wait(), (ending{0, 0}));
  EXPECT_EQ(removed.out(), "{\"removed\":1}\n");
}

TEST_F(usage, of_no_renew_without_a_ttl_is_refused) {
  refused({"run", "--url", file_url(), "--no-renew", "x", "--", "true"}, "--no-renew");
}

TEST_F(usage, of_ttl_options_without_a_ttl_is_refused_when_strict) {
  const std::string strict = file_url() + "?strict=1";
  refused({"run", "--url", strict, "--ttl", "5", "x", "--", "true"}, "--ttl");
  refused({"run", "--url", strict, "--grace", "1", "x", "--", "true"}, "--grace");
  process plain(holdfast({"run", "--url", strict, "x", "--", "true"}));
  EXPECT_EQ(plain.wait(), (ending{0, 0}));
}

TEST_F(usage, of_bad_names_and_urls_names_what_is_wrong) {
  refused({"run", "--url", file_url(), std::string(513, 'a'), "--", "true"}, "512");
  refused({"run", "--url", file_url(), "a\nb", "--", "true"}, "control");
  refused({"run", "--url", file_url(), "a\xff", "--", "true"}, "UTF-8");
  refused({"run", "--url", "gopher://x", "x", "--", "true"}, "gopher");
  refused({"run", "--url", file_url() + "?frob=1", "x", "--", "true"}, "frob");
}

TEST_F(usage, of_a_place_shows_its_url_and_one_sentence) {
  refused({"run", "--url", "memory:?frob=1", "x", "--", "true"},
          "open at memory:?frob=***: there is");
  refused({"run", "--url", "memory:", "a\nb", "--", "true"}, "at memory: ");
  refused({"show", "--url", "mysql://h", "x"},
          "open at mysql://h: \"mysql:\" is not in this version; see");
}

TEST_F(usage, of_the_commands_that_list_names_the_command) {
  for (const std::string command : {"show", "wait", "break"})
    refused({command}, "NAME of the lock is missing: holdfast " + command);
  refused({"show", "x", "y"}, "more than one NAME");
  refused({"show", "x", "--", "y"}, "more than one NAME");
  refused({"show", ""}, "NAME is empty");
  refused({"ls", "x", "y"}, "more than one");
  refused({"ls", "--holder", "x"}, "see holdfast help ls");
  refused({"break", "x"}, "--holder is missing");
  refused({"wait", "-w", "soon", "x"}, "'soon'");
  refused({"wait", "-E", "256", "x"}, "0 to 255");
  refused({"help", "walk"}, "walk");
}

TEST_F(usage, options_stand_before_or_after_the_name) {
  process after(holdfast({"run", "x", "--url", file_url(), "-w", "1.5", "--", "sh", "-c",
                          "echo $HOLDFAST_NAME $1", "-n", "-w"}));
  EXPECT_EQ(after.wait(), (ending{0, 0}));
  EXPECT_EQ(after.out(), "x -w\n");
  process a_dash_name(holdfast({"run", "--url=" + file_url(), "-", "--", "true"}));
  EXPECT_EQ(a_dash_name.wait(), (ending{0, 0}));
}

TEST_F(usage, of_a_bare_call_is_shown) {
  process bare(holdfast({}));
  EXPECT_EQ(bare.wait(), (ending{64, 0}));
  EXPECT_EQ(bare.err().find("Usage: holdfast COMMAND"), 0u) << bare.err();
  EXPECT_EQ(bare.out(), "");
}

TEST_F(usage, names_that_start_with_a_dash_stand_behind_the_separator) {
  words line{"run", "--url", file_url(), "--", "-x", "--wait", "--"};
  for (const auto& word : shell("echo \"$HOLDFAST_NAME\" \"$1\"")) line.push_back(word);
  line.insert(line.end(), {"sh", "--"});
  process run(holdfast(line));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(run.out(), "-x\n--wait --\n");
  process show(holdfast({"show", "--url", file_url(), "--", "-x"}));
  EXPECT_EQ(show.wait(), (ending{1, 0})) << show.err();
  refused({"run", "-x", "--", "true"}, "starts with '-' stands behind --");
  refused({"run", "--", "-x", "--"}, "command after -- is missing");
}

TEST_F(usage, options_may_be_cut_short_as_long_as_one_fits) {
  process run(holdfast({"run", "--nonb", "--u=" + file_url(), "--conf", "3", "x", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  refused({"run", "--no", "x", "--", "true"}, "no option --no, or it is cut too short");
}

TEST_F(usage, values_are_taken_as_they_are) {
  const words see = shell("echo \"$HOLDFAST_NAME\"");
  words line{"run", "--note=", "--url", file_url(), "--note", "", "[a,b]", "--"};
  line.insert(line.end(), see.begin(), see.end());
  process run(holdfast(line));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(run.out(), "[a,b]\n");
  process dashes(holdfast({"run", "--note", "-n", "--url", file_url(), "x", "--", "true"}));
  EXPECT_EQ(dashes.wait(), (ending{0, 0})) << dashes.err();
}

TEST_F(usage, help_and_version_go_to_standard_output) {
  for (const words& asked : {words{"help", "run"}, words{"run", "--help"}, words{"run", "-h"}}) {
    process run(holdfast(asked));
    EXPECT_EQ(run.wait(), (ending{0, 0}));
    EXPECT_NE(run.out().find("holdfast run [OPTION...] NAME... -- COMMAND"), std::string::npos);
    EXPECT_EQ(run.err(), "");
  }
  for (const std::string command : {"ls", "show", "wait", "break", "gc", "doctor"})
    for (const words& asked : {words{"help", command}, words{command, "--help"}}) {
      process run(holdfast(asked));
      EXPECT_EQ(run.wait(), (ending{0, 0}));
      EXPECT_EQ(run.out().find("Usage: holdfast " + command), 0u);
    }
  process version(holdfast({"version"}));
  EXPECT_EQ(version.wait(), (ending{0, 0}));
  EXPECT_EQ(version.out().find("holdfast "), 0u);
}

}  // namespace
}  // namespace holdfast::cli_test
