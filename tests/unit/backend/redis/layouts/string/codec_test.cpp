#include "backend/redis/layouts/string/codec.hpp"

#include <array>
#include <string>
#include <string_view>

#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using verdict = reply::verdict;

// The only reply in these bytes, read by `read`.
template <class Read>
auto read_as(std::string_view bytes, Read read) {
  decltype(read(std::declval<const value&>())) out{};
  with_replies(bytes, [&](const value& v) { out = read(v); });
  return out;
}

class redis_codec : public testing::Test {
 protected:
  redis_codec() {
    args.lock = "job";
    args.owner = "hf1:me";
    args.stamp = "01234567";
    args.ttl = 30s;
    args.window = 250ms;
  }
  // What append(command_writer&) writes, with the names of scripts in place of their hashes.
  template <class Append>
  static std::string written(Append append) {
    std::string out;
    script_cache cache(every_script());
    command_writer to(out, cache);
    append(to);
    return with_names(commands_in(out));
  }
  std::string request(operation what) {
    return written([&](command_writer& to) { append_request(to, what, args); });
  }
  static std::string with_names(std::string text) {
    constexpr std::string_view layout = "string/";
    for (const script& s : every_script())
      for (const std::string_view form : {s.sha1, s.text})
        if (const auto at = text.find(form); s.name.starts_with(layout) && at != text.npos)
          text.replace(at, form.size(), s.name.substr(layout.size()));
    return text;
  }

  lock_arguments args;
  const std::string keys = " 6 job holdfast:{job}:job:q holdfast:{job}:job:m holdfast:n "
                           "holdfast:{job}:job:r holdfast:{job}:job:p ";
};

TEST_F(redis_codec, try_locks_are_one_transaction) {
  lock_arguments other = args;
  other.lock = "other";
  other.ttl = 1500us;
  std::string out;
  append_try_locks(out, std::array{args, other});
  EXPECT_EQ(commands_in(out),
            "MULTI | SET job hf1:me NX PX 30000 | INCR holdfast:n | SET other hf1:me NX PX 2 | "
            "INCR holdfast:n | EXEC");
}

TEST_F(redis_codec, an_exclusive_claim_is_enqueued_with_its_window_and_its_place) {
  EXPECT_EQ(request(operation::lock_or_queue),
            "EVALSHA lock_or_queue" + keys + "hf1:me 30000 250   01234567");
  args.arrival = 17;
  args.looks = true;
  EXPECT_EQ(request(operation::lock_or_queue),
            "EVALSHA lock_or_queue" + keys + "hf1:me 30000 250 17 1 01234567");
}

TEST_F(redis_codec, a_member_is_enqueued_with_the_total_and_its_note) {
  args.mode = lock_mode::permit;
  args.owner = "hfp:me";
  args.total_permits = 5;
  args.info = "host|1|2|note";
  args.waits = false;
  EXPECT_EQ(request(operation::lock_or_queue), "EVALSHA member_lock_or_queue" + keys +
                                                   "hfp:me 30000 250   1 5 host|1|2|note 01234567");
}

TEST_F(redis_codec, a_release_is_that_of_its_kind_and_may_enqueue_the_next_claim) {
  EXPECT_EQ(request(operation::release), "EVALSHA release" + keys + "hf1:me 01234567");
  args.next_owner = "hf1:next";
  args.next_window = 400ms;
  const std::string next = "EVALSHA release_with_successor 4 job holdfast:{job}:job:q "
                           "holdfast:{job}:job:m holdfast:n hf1:me hf1:next 400 ";
  EXPECT_EQ(request(operation::release), next + "0 01234567");
  args.info_may_be_stored = true;
  EXPECT_EQ(request(operation::release), next + "1 01234567");
  args.mode = lock_mode::shared;
  EXPECT_EQ(request(operation::release), "EVALSHA member_release" + keys + "hf1:me 01234567");
}

TEST_F(redis_codec, the_other_requests_name_what_they_need) {
  EXPECT_EQ(request(operation::peek_kind), "GET job");
  EXPECT_EQ(request(operation::check_waiters), "EXISTS holdfast:{job}:job:q");
  EXPECT_EQ(request(operation::resolve), "EVALSHA resolve" + keys + "hf1:me 30000 01234567");
  EXPECT_EQ(request(operation::withdraw), "EVALSHA withdraw" + keys + "hf1:me 01234567");
  args.number = 9;
  args.owner = "hfs:me";
  EXPECT_EQ(request(operation::downgrade), "EVALSHA downgrade" + keys + "hf1:me 9 01234567");
}

TEST_F(redis_codec, many_are_released_or_granted_in_one_script) {
  std::array<lock_arguments, 2> two{args, args};
  two[1].lock = "other";
  two[1].owner = "hf1:you";
  two[1].ttl = 40s;
  EXPECT_EQ(written([&](command_writer& to) { append_release_uncontended(to, two); }),
            "EVALSHA release_uncontended 4 job other holdfast:{job}:job:q "
            "holdfast:{other}:other:q hf1:me hf1:you");
  EXPECT_EQ(written([&](command_writer& to) { append_lock_all(to, two); }),
            "EVALSHA lock_all 5 holdfast:n job holdfast:{job}:job:q other "
            "holdfast:{other}:other:q 40000 hf1:me hf1:you");
}

TEST_F(redis_codec, renewals_of_members_have_their_own_script) {
  const std::array<renewal_arguments, 1> one{renewal_arguments{"job", "hf1:me", 30s, "note"}};
  EXPECT_EQ(written([&](command_writer& to) { append_renewals(to, one, false); }),
            "EVALSHA renew 2 job holdfast:{job}:job:m hf1:me 30000 note");
  EXPECT_EQ(written([&](command_writer& to) { append_renewals(to, one, true); }),
            "EVALSHA renew_members 3 job holdfast:{job}:job:r holdfast:{job}:job:m hf1:me 30000 "
            "note");
}

TEST_F(redis_codec, what_is_rare_goes_by_its_text) {
  const auto text = [](auto append) {
    std::string out;
    append(out);
    return with_names(commands_in(out));
  };
  static constexpr owned_lock job{"job", counter_key, "hf1:me", "01234567"};
  EXPECT_EQ(text([](std::string& out) { append_withdraw(out, job); }),
            "EVAL withdraw" + keys + "hf1:me 01234567");
  EXPECT_EQ(text([](std::string& out) { append_break_lock(out, job); }),
            "EVAL break_lock" + keys + "hf1:me 01234567");
  EXPECT_EQ(text([](std::string& out) { append_raise_counter(out, counter_key, 42); }),
            "EVAL raise_counter 1 holdfast:n 42");
}

TEST_F(redis_codec, a_try_lock_is_granted_with_its_number) {
  struct row {
    const char* replies;
    verdict what;
    std::int64_t number;
    bool left;
  };
  for (const row& r : {row{"*2\r\n+OK\r\n:7\r\n", verdict::granted, 7, false},
                       row{"*2\r\n$-1\r\n:7\r\n", verdict::busy, 0, false},
                       row{"*2\r\n-OOM no memory\r\n:7\r\n", verdict::failed, 0, false},
                       row{"*2\r\n+OK\r\n-ERR no integer\r\n", verdict::failed, 0, true}}) {
    const reply got =
        read_as(r.replies, [](const value& v) { return read_try_lock(v[0], v[1], {}); });
    EXPECT_EQ(got.what, r.what) << r.replies;
    EXPECT_EQ(got.number, r.number) << r.replies;
    EXPECT_EQ(got.left, r.left) << r.replies;
  }
}

answer heard_of_queueing(std::string_view bytes) {
  return read_as(bytes, [](const value& v) { return read_lock_or_queue(v, {}); });
}

TEST_F(redis_codec, lock_or_queue_reports_the_place_and_what_is_waited_for) {
  const answer queued =
      heard_of_queueing("*7\r\n:2\r\n:1700\r\n:1800\r\n:3\r\n:250\r\n:1\r\n:0\r\n");
  EXPECT_EQ(queued.to_claim.what, verdict::queued);
  EXPECT_EQ(queued.to_claim.number, 1700);
  EXPECT_EQ(queued.at, server_time(1800));
  EXPECT_EQ(queued.to_claim.ahead, 3);
  EXPECT_EQ(queued.to_claim.rest, 250ms);
  EXPECT_TRUE(queued.to_claim.others);
  EXPECT_FALSE(queued.to_claim.foreign);
  const answer foreign =
      heard_of_queueing("*7\r\n:2\r\n:1700\r\n:1800\r\n:0\r\n:-1\r\n:1\r\n:0\r\n");
  EXPECT_TRUE(foreign.to_claim.foreign) << "a lock without an end is nobody's of ours";
  EXPECT_EQ(foreign.to_claim.rest, duration::max());
  const answer joined =
      heard_of_queueing("*8\r\n:1\r\n:5\r\n:1800\r\n:0\r\n:250\r\n:0\r\n:0\r\n:1\r\n");
  EXPECT_EQ(joined.to_claim.what, verdict::granted);
  EXPECT_TRUE(joined.to_claim.stands);
  EXPECT_EQ(heard_of_queueing("*7\r\n:3\r\n:0\r\n:1\r\n:0\r\n:0\r\n:1\r\n:0\r\n").to_claim.what,
            verdict::again);
  EXPECT_EQ(heard_of_queueing("*7\r\n:0\r\n:0\r\n:1\r\n:0\r\n:0\r\n:1\r\n:0\r\n").to_claim.what,
            verdict::busy);
}

TEST_F(redis_codec, a_script_that_was_stopped_half_way_may_have_left_something) {
  for (const std::string_view error :
       {"-ERR The user executing the script can't run this command or subcommand script: "
        "bca0a03f5e0db91b558a86329fbe98793c2add62, on @user_script:52.\r\n",
        "-ERR Error running script (call to f_bca0a03f5e0db91b558a86329fbe98793c2add62): "
        "@user_script:52: @user_script: 52: -NOPERM\r\n"}) {
    const reply r = heard_of_queueing(error).to_claim;
    EXPECT_EQ(r.what, verdict::failed);
    EXPECT_TRUE(r.left) << error;
  }
  EXPECT_TRUE(heard_of_queueing("*2\r\n:1\r\n:2\r\n").to_claim.left) << "an answer that is cut";
}

TEST_F(redis_codec, what_the_server_did_not_begin_has_left_nothing) {
  for (const std::string_view error :
       {"-NOPERM this user has no permissions to run the 'evalsha' command\r\n",
        "-OTHERKIND a mutex has this name\r\n"}) {
    const reply r = heard_of_queueing(error).to_claim;
    EXPECT_EQ(r.what, verdict::failed);
    EXPECT_FALSE(r.left) << error;
  }
}

TEST_F(redis_codec, several_locks_have_consecutive_numbers_or_a_reason_each) {
  for (std::size_t i = 0; i < 3; ++i) {
    const reply r = read_as(":30\r\n", [&](const value& v) { return read_lock_all(v, i, 3, {}); });
    EXPECT_EQ(r.what, verdict::granted);
    EXPECT_EQ(r.number, 28 + static_cast<std::int64_t>(i));
  }
  const std::string mixed = "*3\r\n:0\r\n:1\r\n" + bulk("OTHERKIND a semaphore");
  const auto of = [&](std::size_t i) {
    return read_as(mixed, [&](const value& v) { return read_lock_all(v, i, 3, {}); });
  };
  EXPECT_EQ(of(0).what, verdict::busy);
  EXPECT_EQ(of(1).what, verdict::busy);
  EXPECT_EQ(of(2).what, verdict::failed);
  EXPECT_EQ(of(2).why, errc::mismatch);
  EXPECT_EQ(read_as("-LOADING\r\n", [](const value& v) { return read_lock_all(v, 0, 3, {}); }).what,
            verdict::not_now);
}

TEST_F(redis_codec, a_busy_key_shows_its_kind) {
  const auto kind = [](std::string_view bytes) {
    return read_as(bytes, [](const value& v) { return read_kind(v, {}); });
  };
  EXPECT_EQ(kind(bulk("hf1:me")).what, verdict::busy);
  EXPECT_EQ(kind("$-1\r\n").what, verdict::busy);
  EXPECT_EQ(kind(bulk("hfp:3")).why, errc::mismatch);
  EXPECT_EQ(kind("-WRONGTYPE Operation\r\n").why, errc::mismatch);
  EXPECT_EQ(kind("-NOPERM this user\r\n").why, errc::refused);
}

TEST_F(redis_codec, a_release_is_done_or_not_the_owners_or_to_be_sent_again) {
  const auto released = [](std::string_view bytes) {
    return read_as(bytes, [](const value& v) { return read_released(v, {}).to_claim.what; });
  };
  EXPECT_EQ(released("*2\r\n:1\r\n:0\r\n"), verdict::done);
  EXPECT_EQ(released("*2\r\n:0\r\n:0\r\n"), verdict::not_owner);
  EXPECT_EQ(released("*2\r\n:3\r\n:0\r\n"), verdict::again);
  EXPECT_EQ(released("-BUSY a script\r\n"), verdict::not_now);
  const auto freed = [](std::string_view bytes) {
    return read_as(bytes, [](const value& v) { return read_release_uncontended(v, {}).what; });
  };
  EXPECT_EQ(freed(":1\r\n"), verdict::done);
  EXPECT_EQ(freed(":0\r\n"), verdict::not_owner);
  EXPECT_EQ(freed(":3\r\n"), verdict::again);
}

TEST_F(redis_codec, the_next_claim_of_a_release_is_queued_behind_the_new_owner) {
  const auto next = [](std::string_view bytes) {
    return read_as(bytes, [](const value& v) { return read_successor(v, {}); });
  };
  const answer queued = next("*3\r\n:1\r\n:1700\r\n:250\r\n");
  EXPECT_EQ(queued.to_claim.what, verdict::queued);
  EXPECT_EQ(queued.to_claim.number, 1700);
  EXPECT_EQ(queued.to_claim.rest, 250ms);
  EXPECT_EQ(next("*1\r\n:3\r\n").to_claim.what, verdict::again);
  EXPECT_EQ(next("-OOM\r\n").to_claim.what, verdict::not_now);
}

TEST_F(redis_codec, a_resolved_try_lock_is_granted_anew_or_was_not_executed) {
  const auto resolved = [](std::string_view bytes) {
    return read_as(bytes, [](const value& v) { return read_resolve(v, {}); });
  };
  const answer has_it = resolved("*4\r\n:1\r\n:9\r\n:1800\r\n:1\r\n");
  EXPECT_EQ(has_it.to_claim.what, verdict::granted);
  EXPECT_EQ(has_it.to_claim.number, 9);
  EXPECT_TRUE(has_it.to_claim.others);
  EXPECT_EQ(has_it.at, server_time(1800));
  EXPECT_EQ(resolved("*4\r\n:0\r\n:0\r\n:1800\r\n:0\r\n").to_claim.what, verdict::busy);
}

TEST_F(redis_codec, a_queue_that_exists_has_others_who_wait) {
  const auto check = [](std::string_view bytes) {
    return read_as(bytes, [](const value& v) { return read_waiters(v, {}); });
  };
  EXPECT_TRUE(check(":1\r\n").others);
  EXPECT_FALSE(check(":0\r\n").others);
  EXPECT_EQ(check(":0\r\n").what, verdict::done);
  EXPECT_EQ(check("-LOADING\r\n").what, verdict::not_now);
}

}  // namespace
}  // namespace holdfast::redis
