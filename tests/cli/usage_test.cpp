#include <holdfast/version.hpp>

#include <cstdlib>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class usage : public cli {
 protected:
  // By the command itself, which points to its help.
  void refused(const words& arguments, const std::string& says) {
    const std::string text = text_of_refusal(arguments, says);
    EXPECT_NE(text.find("see holdfast help"), std::string::npos) << text;
  }
  // By the library, whose texts have their remedy.
  void refused_by_library(const words& arguments, const std::string& says) {
    const std::string text = text_of_refusal(arguments, says);
    EXPECT_EQ(text.find("see holdfast help"), std::string::npos) << text;
  }

 private:
  std::string text_of_refusal(const words& arguments, const std::string& says) {
    process run(holdfast(arguments));
    EXPECT_EQ(run.wait(), (ending{64, 0})) << ::testing::PrintToString(arguments);
    const std::string text = run.err();
    EXPECT_EQ(text.find("holdfast: "), 0u) << text;
    EXPECT_NE(text.find(says), std::string::npos) << text << "lacks " << says;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    EXPECT_EQ(run.out(), "");
    return text;
  }
};

TEST_F(usage, of_a_missing_part_names_it) {
  refused({"run"}, "NAME");
  refused({"run", "--", "true"}, "NAME");
  refused({"run", "", "--", "true"}, "NAME is empty");
  refused({"run", "x"}, "-- is missing");
  refused({"run", "x", "true"}, "-- is missing");
  refused({"run", "x", "list", "-l"}, "-- is missing");
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
  refused({"run", "--url", "redis://127.0.0.1:1", "--ttl", "-5", "x", "--", "true"}, "'-5'");
  refused({"run", "--url", "redis://127.0.0.1:1", "--ttl", "99ms", "x", "--", "true"}, "--ttl");
  refused({"run", "--url", "redis://127.0.0.1:1", "--ttl", "9999h", "x", "--", "true"}, "--ttl");
  refused({"run", "--url", "redis://127.0.0.1:1", "--grace", "11s", "x", "--", "true"}, "third");
}

TEST_F(usage, of_shares_permits_and_several_names_that_contradict) {
  for (const std::string bad : {"0", "-1", "1000001", "x", "1.5", ""})
    for (const std::string option : {"-p", "-c"})
      refused({"run", option, bad, "x", "--", "true"},
              option + " '" + bad + "' is not a number from 1 to");
  refused({"run", "-s", "-p", "2", "x", "--", "true"}, "-s is for a lock and -p");
  refused({"run", "--take", "2", "x", "--", "true"}, "number of permits with -p");
  refused({"run", "-p", "2", "--take", "3", "x", "--", "true"}, "more than the -p permits");
  refused({"run", "-s", "x", "y", "--", "true"}, "one NAME");
  refused({"run", "-p", "2", "x", "y", "--", "true"}, "one NAME");
  refused({"run", "x", "", "--", "true"}, "NAME is empty");
  refused_by_library({"run", "--url", file_url(), "x", "y", "x", "--", "true"}, "\"x\"");
}

TEST_F(usage, of_bad_exit_codes_names_the_range) {
  for (const std::string bad : {"-1", "256", "x", "", "1.0", "99999999999"})
    refused({"run", "-E", bad, "x", "--", "true"}, "0 to 255");
}

TEST_F(usage, twice_with_different_values_is_refused) {
  refused({"run", "-w", "1", "-w", "2", "x", "--", "true"}, "twice");
  refused({"run", "--url", "file:///a", "--url", "file:///b", "x", "--", "true"}, "twice");
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
  refused_by_library({"prune", "--url", file_url()}, "unlink=1");
  refused_by_library({"prune", "--url", "memory:"}, "needs no pruning");
  refused({"prune", "x"}, "prune takes no NAME");
  refused({"diagnose", "x"}, "diagnose takes no NAME");
  process used(holdfast({"run", "--url", file_url(), "x", "--", "true"}));
  EXPECT_EQ(used.wait(), (ending{0, 0}));
  process removed(holdfast({"prune", "--json", "--url", file_url() + "?unlink=1"}));
  EXPECT_EQ(removed.wait(), (ending{0, 0}));
  EXPECT_EQ(removed.out(), "{\"removed\":1}\n");
}

TEST_F(usage, of_schema_needs_a_store_with_tables) {
  refused({"schema", "--url", file_url()}, "need no tables; give --url the mysql: URL");
  refused({"schema", "x"}, "schema takes no NAME");
  process made(holdfast({"schema", "--url", "mysql://u:secret@nowhere/db?table=t"}));
#ifdef HOLDFAST_WITH_MYSQL
  EXPECT_EQ(made.wait(), (ending{0, 0}));
  EXPECT_TRUE(made.out().starts_with("CREATE TABLE IF NOT EXISTS `t` (")) << made.out();
  EXPECT_TRUE(made.out().ends_with(";\n")) << made.out();
  EXPECT_EQ(made.out().find("secret"), std::string::npos);
#else
  EXPECT_EQ(made.wait(), (ending{64, 0}));
#endif
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
  refused_by_library({"run", "--url", file_url(), std::string(513, 'a'), "--", "true"}, "512");
  refused_by_library({"run", "--url", file_url(), "a\nb", "--", "true"}, "control");
  refused_by_library({"run", "--url", file_url(), "a\xff", "--", "true"}, "UTF-8");
  refused_by_library({"run", "--url", "gopher://x", "x", "--", "true"}, "gopher");
  refused_by_library({"run", "--url", file_url() + "?frob=1", "x", "--", "true"}, "frob");
}

TEST_F(usage, of_a_place_shows_its_url_and_one_sentence) {
  refused_by_library({"run", "--url", "file:?frob=1", "x", "--", "true"},
                     "open at file:?frob=***: there is");
  refused_by_library({"holders", "--url", "redsi://h", "x"},
                     "open at redsi://h: there is no backend for \"redsi:\"; known are \"file:\"");
  refused_by_library({"run", "--url", file_url(), "a\nb", "--", "true"},
                     "holdfast: lock at " + file_url() + ": ");
}

TEST_F(usage, of_the_commands_that_list_names_the_command) {
  for (const std::string command : {"holders", "wait", "break"})
    refused({command}, "NAME of the lock is missing: holdfast " + command);
  refused({"holders", "x", "y"}, "more than one NAME");
  refused({"holders", "x", "--", "y"}, "more than one NAME");
  refused({"holders", ""}, "NAME is empty");
  refused({"list", "x", "y"}, "more than one");
  refused({"list", "--owner", "x"}, "see holdfast help list");
  refused({"break", "x"}, "--owner is missing");
  refused({"wait", "-w", "soon", "x"}, "'soon'");
  refused({"wait", "-E", "256", "x"}, "0 to 255");
  refused({"help", "walk"}, "walk");
}

TEST_F(usage, of_memory_is_refused_where_it_would_exclude_nobody) {
  for (const words& line :
       {words{"run", "--url", "memory:", "x", "--", "true"}, words{"list", "--url", "memory:m"},
        words{"holders", "--url", "memory:m", "x"}, words{"wait", "--url", "memory:m", "x"}}) {
    process run(holdfast(line));
    EXPECT_EQ(run.wait(), (ending{64, 0})) << ::testing::PrintToString(line);
    EXPECT_NE(run.err().find("its locks exclude no other process"), std::string::npos) << run.err();
  }
}

TEST_F(usage, of_an_empty_url_is_refused) {
  refused({"run", "--url", "", "x", "--", "true"}, "--url is empty; give file:");
  for (const std::string command : {"list", "diagnose"})
    refused({command, "--url", ""}, "--url is empty; give file:");
  process run({"/usr/bin/env", "HOLDFAST_URL=", std::getenv("HOLDFAST_BIN"), "holders", "x"});
  EXPECT_EQ(run.wait(), (ending{64, 0}));
  EXPECT_NE(run.err().find("HOLDFAST_URL is empty"), std::string::npos) << run.err();
}

TEST_F(usage, of_what_is_no_url_names_its_source_and_the_likely_url) {
  refused({"holders", "--url", "/srv/locks", "x"},
          "--url '/srv/locks' is not a URL; did you mean file:///srv/locks?");
  refused({"holders", "--url", "localhost:6379", "x"}, "did you mean redis://localhost:6379?");
  process run(holdfast({"holders", "x"}), {.environment = {{"HOLDFAST_URL", "bogus"}}});
  EXPECT_EQ(run.wait(), (ending{64, 0}));
  EXPECT_NE(run.err().find("HOLDFAST_URL 'bogus' is not a URL; a URL starts with a scheme"),
            std::string::npos)
      << run.err();
}

TEST_F(usage, of_a_mistyped_word_names_the_likely_one) {
  refused({"holdrs"}, "did you mean 'holders'?");
  refused({"shwo"}, "did you mean 'holders'?");
  refused({"docter"}, "did you mean 'diagnose'?");
  refused({"run", "--shraed", "x", "--", "true"}, "did you mean '--shared'?");
}

TEST_F(usage, older_names_of_commands_are_understood) {
  for (const auto& [older, name] :
       {std::pair{"ls", "list"}, {"show", "holders"}, {"gc", "prune"}, {"doctor", "diagnose"}}) {
    process old_one(holdfast({older, "--help"})), new_one(holdfast({name, "--help"}));
    EXPECT_EQ(old_one.wait(), (ending{0, 0})) << old_one.err();
    EXPECT_EQ(new_one.wait(), (ending{0, 0}));
    EXPECT_EQ(old_one.out(), new_one.out());
  }
}

TEST_F(usage, spellings_of_flock_are_understood) {
  process run(holdfast({"run", "-x", "-e", "--nb", "-o", "--url", file_url(), "x", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  process timed(holdfast({"run", "--timeout", "5", "--url", file_url(), "x", "--", "true"}));
  EXPECT_EQ(timed.wait(), (ending{0, 0})) << timed.err();
  refused({"run", "-x", "-s", "x", "--", "true"}, "-x is exclusive");
  refused({"run", "x", "-c", "./job --now"}, "for flock's -c COMMAND write: -- sh -c COMMAND");
  refused({"run", "x", "-c", "true"}, "1000000; for flock's -c COMMAND write");
  process version(holdfast({"-V"}));
  EXPECT_EQ(version.wait(), (ending{0, 0}));
}

TEST_F(usage, the_older_letter_of_permits_is_understood) {
  process run(holdfast({"run", "-c", "2", "-p", "2", "--url", file_url(), "x", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  refused({"run", "-c", "2", "-p", "3", "x", "--", "true"}, "given twice with different values");
}

TEST_F(usage, a_ttl_may_be_given_in_days) {
  process run(on_memory("", {"--ttl", "1d"}, shell("echo $HOLDFAST_TTL")));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(run.out(), "86400\n");
}

TEST_F(usage, a_ttl_of_the_url_may_be_given_in_microseconds) {
  process run(on_memory("?ttl=90000000us", {}, shell("echo $HOLDFAST_TTL")));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(run.out(), "90\n");
}

TEST_F(usage, quiet_leaves_out_that_a_directory_was_created) {
  const std::string made = "file://" + path("made").string();
  process quiet(holdfast({"run", "-q", "--url", made, "x", "--", "true"}));
  EXPECT_EQ(quiet.wait(), (ending{0, 0}));
  EXPECT_EQ(quiet.err(), "");
  process spoken(holdfast({"run", "--url", made + "2", "x", "--", "true"}));
  EXPECT_EQ(spoken.wait(), (ending{0, 0}));
  EXPECT_NE(spoken.err().find("did not exist and has been created"), std::string::npos);
}

TEST_F(usage, verbose_names_the_store_the_wait_and_the_token) {
  process run(on_file({"--verbose"}, shell("echo $HOLDFAST_TOKEN")));
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  EXPECT_NE(run.err().find(" is acquired at " + file_url() + " (--url) after "), std::string::npos)
      << run.err();
  EXPECT_TRUE(run.err().ends_with(" s, token " + run.out())) << run.err();
}

TEST_F(usage, of_a_run_that_would_wait_for_the_run_around_it_is_refused) {
  words line = holdfast({"run", "--url", file_url(), "a", "--"});
  const words once = line;
  line.insert(line.end(), once.begin(), once.end());
  line.push_back("true");
  process nested(line);
  EXPECT_EQ(nested.wait(), (ending{64, 0}));
  EXPECT_NE(nested.err().find("this command already runs under a, which pid"), std::string::npos)
      << nested.err();
  line = once;
  for (const char* word : {"env", "HOLDFAST_PID=1"}) line.emplace_back(word);
  line.insert(line.end(), once.begin(), once.end());
  line.insert(line.end() - 2, {"-w", "0.1"});
  line.push_back("true");
  process of_another(line);  // the variables of a run that has ended
  EXPECT_EQ(of_another.wait(), (ending{1, 0})) << of_another.err();
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
  process show(holdfast({"holders", "--url", file_url(), "--", "-x"}));
  EXPECT_EQ(show.wait(), (ending{1, 0})) << show.err();
  refused({"run", "-y", "--", "true"}, "starts with '-' comes after --");
  refused({"run", "--", "-x", "--"}, "command after -- is missing");
}

TEST_F(usage, options_may_be_cut_short_as_long_as_one_fits) {
  process run(holdfast({"run", "--nonb", "--u=" + file_url(), "--conf", "3", "x", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  refused({"run", "--no", "x", "--", "true"}, "no option --no, or its abbreviation is ambiguous");
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
  for (const std::string command :
       {"list", "holders", "wait", "break", "prune", "diagnose", "schema"})
    for (const words& asked : {words{"help", command}, words{command, "--help"}}) {
      process run(holdfast(asked));
      EXPECT_EQ(run.wait(), (ending{0, 0}));
      EXPECT_EQ(run.out().find("Usage: holdfast " + command), 0u);
    }
  process version(holdfast({"version"}));
  EXPECT_EQ(version.wait(), (ending{0, 0}));
  EXPECT_EQ(version.out().find("holdfast " HOLDFAST_VERSION), 0u) << version.out();
}

}  // namespace
}  // namespace holdfast::cli_test
