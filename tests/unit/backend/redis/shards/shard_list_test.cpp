// The shards of a URL, or of the file that it names.
#include "backend/redis/shards/shard_list.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/shards/list_check.hpp"
#include "base/secret.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/backend/settings_fixture.hpp"

namespace holdfast::redis {
namespace {

std::vector<shard_place> shards_of(const std::string& text) {
  return settings_unit::settings_of(read_shards, text);
}

std::string refusal_of_shards(const std::string& text) {
  return settings_unit::refusal_by(read_shards, text).text;
}

std::string so_many(int count) {
  std::string out = "redis+shards://s0";
  for (int i = 1; i < count; ++i) out += ",s" + std::to_string(i);
  return out;
}

TEST(redis_shards_of_a_url, are_its_servers_with_weights_and_names) {
  const auto all = shards_of("redis+shards://me:secret@a,b:7000?names=x,y&weights=2,0.5&prefix=p:");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "x");
  EXPECT_EQ(all[1].name, "y");
  EXPECT_EQ(all[0].weight, 2);
  EXPECT_EQ(all[1].weight, 0.5);
  EXPECT_EQ(all[0].former_weight, 2) << "the list does not change";
  EXPECT_EQ(all[1].former_weight, 0.5);
  for (const shard_place& s : all) {
    EXPECT_EQ(s.where.scheme(), "redis");
    EXPECT_EQ(secret_access::password(s.where), "secret");
    EXPECT_EQ(s.own, (std::vector<url::option>{{"prefix", "p:"}}));
  }
  ASSERT_EQ(all[1].where.endpoints().size(), 1u);
  EXPECT_EQ(all[1].where.endpoints()[0].host, "b");
  EXPECT_EQ(all[1].where.endpoints()[0].port, 7000);
}

TEST(redis_shards_of_a_url, have_their_addresses_for_names_and_weigh_the_same) {
  const auto all = shards_of("rediss+shards://a,b:7000");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a:6379");
  EXPECT_EQ(all[1].name, "b:7000");
  EXPECT_EQ(all[0].where.scheme(), "rediss");
  EXPECT_EQ(all[0].where.endpoints()[0].port, 6379);
  for (const shard_place& s : all) EXPECT_EQ(s.weight + s.former_weight, 2);
}

TEST(redis_shards_of_a_url, have_other_weights_in_the_former_list) {
  const auto all = shards_of("redis+shards://a,b,c?weights=1,1,0&was=1,0,1000");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].former_weight, 1);
  EXPECT_EQ(all[1].former_weight, 0);
  EXPECT_EQ(all[2].weight, 0);
  EXPECT_EQ(all[2].former_weight, 1000);
  for (const shard_place& s : all) EXPECT_TRUE(s.own.empty()) << "both lists are no shard's own";
}

TEST(redis_shards_of_a_url, are_64_at_most_with_names_of_64_characters) {
  EXPECT_EQ(shards_of(so_many(64)).size(), 64u);
  EXPECT_NE(refusal_of_shards(so_many(65)).find("at most 64 shards"), std::string::npos);
  const std::string name = "-_.:azAZ09" + std::string(54, 'x');
  EXPECT_EQ(shards_of("redis+shards://a?names=" + name)[0].name, name);
  EXPECT_NE(refusal_of_shards("redis+shards://a?names=" + name + "x").find("1 to 64 letters"),
            std::string::npos);
}

TEST(redis_shards_of_a_url, weigh_between_a_thousandth_and_a_thousand) {
  EXPECT_EQ(shards_of("redis+shards://a?weights=0.001")[0].weight, 0.001);
  EXPECT_EQ(shards_of("redis+shards://a?weights=1000")[0].weight, 1000);
  for (const char* weight : {"0.0009", "1000.1", "-1", "x", ""})
    EXPECT_NE(refusal_of_shards("redis+shards://a?weights=" + std::string(weight)), "") << weight;
}

struct refused_shards {
  std::string url, says;
};

TEST(redis_shards_of_a_url, that_cannot_be_meant_are_refused) {
  const refused_shards rows[] = {
      {"redis+shards://", "name the servers"},
      {"redis+shards:///", "name the servers"},
      {"redis+shards://a,a", "it names a:6379 twice"},
      {"redis+shards://a,b,a:6379", "it names a:6379 twice"},
      {"redis+shards://a,b?names=x", "names: give one for each of the 2 shards"},
      {"redis+shards://a,b?names=x,y,z", "names: give one for each of the 2 shards"},
      {"redis+shards://a,b?names=x,x", "two shards have the name x"},
      {"redis+shards://a,b?names=x,", "the name of a shard has"},
      {"redis+shards://a,b?names=x,y!", "the name of a shard has"},
      {"redis+shards://a,b?weights=1", "weights: give one for each of the 2 shards"},
      {"redis+shards://a,b?was=1,1,1", "was: give one for each of the 2 shards"},
      {"redis+shards://a,b?weights=1,0", "the shard b:6379 has the weight 0 in both lists"},
      {"redis+shards://a,b?weights=0,0&was=1,1", "all shards of a list have the weight 0"},
      {"redis+shards://a,b?was=0,0", "all shards of a list have the weight 0"},
  };
  for (const refused_shards& r : rows)
    EXPECT_NE(refusal_of_shards(r.url).find(r.says), std::string::npos)
        << r.url << ": " << refusal_of_shards(r.url);
}

class redis_shards_of_a_file : public testing::Test {
 protected:
  std::string url_of(const std::string& text) {
    std::ofstream(folder.file("shards")) << text;
    return "redis+shards://" + folder.file("shards");
  }
  testkit::scratch_folder folder;
};

TEST_F(redis_shards_of_a_file, are_its_lines) {
  const auto all = shards_of(url_of("# the first has most\n\na redis://h1 weight=2 # of the locks\n"
                                    "  b rediss://h2?db=3 was=0\nc redis://h3 was=4 weight=0\n") +
                             "?prefix=p:");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].weight, 2);
  EXPECT_EQ(all[0].former_weight, 2);
  EXPECT_EQ(all[0].own, (std::vector<url::option>{{"prefix", "p:"}}));
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[1].weight, 1);
  EXPECT_EQ(all[1].former_weight, 0);
  EXPECT_EQ(all[1].where.scheme(), "rediss");
  EXPECT_EQ(all[1].own, (std::vector<url::option>{{"db", "3"}, {"prefix", "p:"}}));
  EXPECT_EQ(all[2].weight, 0);
  EXPECT_EQ(all[2].former_weight, 4);
}

TEST_F(redis_shards_of_a_file, a_mistake_is_reported_with_its_line) {
  const std::string good = "a redis://h1\n# comment\n";
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"b", "line 3 of the file: give a name and a URL"},
           {"b! redis://h2", "line 3 of the file: the name of a shard has"},
           {"b redis://h2 2", "line 3 of the file: a URL may be followed by weight= and by was="},
           {"b redis://h2 weight=2000", "line 3 of the file: "},
           {"b redis+cluster://h2", "line 3 of the file: a shard is a redis:"},
           {"b redis://h2?prefix=q:", "the option prefix is the same for all shards"},
           {"b redis://h2?ttl=5s", "the option ttl is the same for all shards"},
           {"a redis://h2", "two shards have the name a"}})
    EXPECT_NE(refusal_of_shards(url_of(good + line + '\n')).find(says), std::string::npos)
        << line << ": " << refusal_of_shards(url_of(good + line + '\n'));
  EXPECT_NE(refusal_of_shards(url_of("# nothing\n")).find("the file names no shard"),
            std::string::npos);
}

TEST_F(redis_shards_of_a_file, each_has_a_password_of_its_own) {
  const std::string url = url_of("a redis://h1\n");
  std::string said;
  try {
    settings_unit::settings_of(read_shards, url, "secret");
  } catch (const lock_error& e) {
    said = e.what();
  }
  EXPECT_NE(said.find("each shard has its own"), said.npos) << said;
  ::setenv("HOLDFAST_TEST_SHARD", "of h1", 1);
  const auto all = shards_of(url_of("a redis://h1?password-env=HOLDFAST_TEST_SHARD\n"));
  ::unsetenv("HOLDFAST_TEST_SHARD");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(secret_access::password(all[0].where), "of h1");
}

TEST(redis_shard_list_text, names_both_lists_and_the_key) {
  const std::string text = text_of_other_list("a=1,b=1", "", {"a=1,c=1", ""});
  EXPECT_NE(text.find("another list of shards, a=1,b=1; this client has a=1,c=1."), text.npos)
      << text;
  EXPECT_NE(text.find("delete the key holdfast:shards at each shard"), text.npos) << text;
  const std::string changing = text_of_other_list("a=1", "shop", {"a=1,c=1", "a=1,b=1"});
  EXPECT_NE(changing.find("this client has a=1,c=1 was a=1,b=1."), changing.npos) << changing;
  EXPECT_NE(changing.find("the key holdfast:shards:shop at each"), changing.npos) << changing;
}

}  // namespace
}  // namespace holdfast::redis
