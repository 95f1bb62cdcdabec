// Releases by a script: one whose text contains the owner, and one that gets it as an argument.
#include <holdfast/holdfast.hpp>

#include <thread>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::redis_server;

constexpr long scripted_releases = 200;  // fewer than the scripts that any server keeps
constexpr long scripts_of_layout = 16;   // more than a layout has

// The script of a naive release. The owner is a part of its text.
std::string release_text(const std::string& owner) {
  return "if redis.call('GET','lock')=='" + owner +
         "' then return redis.call('DEL','lock') end return 0";
}

testkit::redis_reply release_by_text(naive_redis& by, const std::string& owner) {
  return by.command({"EVAL", release_text(owner), "0"});
}

long cached_scripts(redis_server& server) {
  const std::string count = server.info("number_of_cached_scripts");
  require(!count.empty(), "the server reports its cached scripts");
  return std::stol(count);
}

std::string text_of_count(long scripts) {
  return "number_of_cached_scripts: " + std::to_string(scripts);
}

void new_script_each_time(play& p) {
  redis_server server;
  naive_redis connection(server);
  actor a(p.line, "client A"), cache(p.line, "server");
  const long before = cached_scripts(server);
  cache.note(text_of_count(before));
  a.note("acquires and releases the lock " + std::to_string(scripted_releases) + " times");
  for (long i = 1; i <= scripted_releases; ++i) {
    const std::string owner = "A-" + std::to_string(i);
    require(connection.set_nx_px(owner, 60s), "A gets the lock");
    a.begin_turn();
    require(release_by_text(connection, owner).number == 1, "A releases the lock");
    a.end_turn();
  }
  a.bad("each release is EVAL \"if redis.call('GET','lock')=='A-1' then ...\", with an owner of "
        "its own in the text");
  const long grown = cached_scripts(server) - before;
  cache.bad(text_of_count(before + grown));
  p.ends(grown >= scripted_releases,
         "each release leaves one more script in the memory of the server: " +
             std::to_string(grown) + " after " + std::to_string(scripted_releases) +
             " releases. The server compiles each of them for one call.");
}

void quote_in_the_owner(play& p) {
  redis_server server;
  naive_redis first(server), second(server), third(server);
  const std::string with_quote = "O'Brien", with_condition = "C' or 'x'=='x";
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  require(first.set_nx_px(with_quote, 400ms), "A gets the lock");
  a.holds("SET lock O'Brien NX PX 400: OK. The owner is the name of the user");
  std::this_thread::sleep_for(50ms);
  require(release_by_text(first, with_quote).is_error(), "the script of A does not compile");
  a.ends("EVAL \"if ... =='O'Brien' then ...\": the script does not compile. The lock stays locked",
         tone::bad);
  wait_until("A's lease ends", [&] { return second.is_free(); });
  require(second.set_nx_px("B", 60s), "B gets the lock");
  b.holds("SET lock B NX PX 60000: OK, after the lease of A has ended");
  std::this_thread::sleep_for(100ms);
  require(!third.set_nx_px(with_condition, 60s), "the lock is busy");
  c.note("is the user C' or 'x'=='x. SET NX: nil, busy. Its release compares the owner, so C calls "
         "it in any case");
  const bool is_deleted = release_by_text(third, with_condition).number == 1;
  c.bad("EVAL \"if ... =='C' or 'x'=='x' then ...\": 1. The condition is true for every owner");
  b.believes("its lock is deleted; B still works");
  std::this_thread::sleep_for(50ms);
  const bool is_granted = first.set_nx_px(with_quote, 60s);
  a.also_holds("SET lock O'Brien NX PX 60000: OK, while B works");
  std::this_thread::sleep_for(150ms);
  p.ends(is_deleted && is_granted,
         "a quote in a value made the release fail, and another one made it delete the lock of "
         "another client. The same text could have called FLUSHALL.");
}

// The name of the lock and the notes contain quotes, as the owners of the naive locks do.
void values_as_arguments(play& p) {
  redis_server server;
  const client first = client::open(server.url()), second = client::open(server.url()),
               third = client::open(server.url());
  const std::string name = "lock' or 'x'=='x')..redis.call('FLUSHALL')..('";
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C"),
      cache(p.line, "server");
  first.mutex(name).acquire({.note = "O'Brien"}).release();
  const long before = cached_scripts(server);
  cache.note("after the first release, " + text_of_count(before));
  a.note("acquires and releases the lock " + std::to_string(scripted_releases) +
         " times, with the note O'Brien and a lock name with quotes");
  for (long i = 1; i <= scripted_releases; ++i) {
    lease own = first.mutex(name).acquire({.note = "O'Brien"});
    a.begin_turn();
    require(own.held(), "A holds the lock");
    a.end_turn();
    own.release();
  }
  const long grown = cached_scripts(server) - before;
  cache.good("after " + std::to_string(scripted_releases) + " more releases, " +
             text_of_count(before + grown));
  std::this_thread::sleep_for(50ms);
  lease own = second.mutex(name).acquire({.note = "B"});
  b.holds("acquire(): granted. Each release of A was executed");
  std::this_thread::sleep_for(100ms);
  lease none = third.mutex(name).try_acquire({.note = "C' or 'x'=='x"});
  std::error_code why;
  none.release(why);
  c.good("try_acquire(): busy. release(): " + why.message());
  const lease late = first.mutex(name).try_acquire();
  a.good("try_acquire(): busy");
  std::this_thread::sleep_for(150ms);
  p.ends(grown >= scripts_of_layout || late || !own.held() || why != errc::not_held,
         "the texts of the scripts are constant. Names, owners and notes are arguments (KEYS and "
         "ARGV), which the server does not execute.");
}

}  // namespace

std::vector<story> redis_script_stories() {
  return {
      {"script-by-concatenation",
       "A script that is built by concatenation",
       "The release is a script that compares the owner and deletes the key in one step. The "
       "program inserts the owner into the text of the script.",
       "Each text is a new script, which the server compiles and keeps (since Redis 7.4: the last "
       "500 that were sent with EVAL), and a value inside the text is executed with it. The text "
       "of a script has to be constant and its values have to be KEYS and ARGV, as in all scripts "
       "of holdfast.",
       server::redis,
       {{"EVAL with the owner in the text", verdict::breaks, new_script_each_time},
        {"the same, and an owner with a quote", verdict::breaks, quote_in_the_owner},
        {"holdfast", verdict::stands, values_as_arguments}}},
  };
}

}  // namespace holdfast::lab
