#include <string>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::acquire_options;
using holdfast::errc;
using holdfast::outcome;
using std::chrono::milliseconds;

void bad_options_are_refused(fixture& on) {
  const auto client = on.client();
  const auto lock = on.lock(client);
  for (const auto ttl : {milliseconds(99), milliseconds(1), milliseconds(-1), milliseconds::min(),
                         milliseconds(std::chrono::hours(24 * 367)), milliseconds::max()}) {
    EXPECT_EQ(thrown_by([&] { (void)lock.acquire({.ttl = ttl}); }), errc::bad_option)
        << ttl.count();
    EXPECT_EQ(thrown_by([&] { (void)lock.try_acquire({.ttl = ttl}); }), errc::bad_option)
        << ttl.count();
  }
  const std::string long_note(257, 'x');
  for (const std::string_view note :
       {std::string_view(long_note), std::string_view("a\nb"), std::string_view("\xff")})
    EXPECT_EQ(thrown_by([&] { (void)lock.acquire({.note = note}); }), errc::bad_option) << note;
  EXPECT_TRUE(client.list().empty()) << "and nothing was taken";
  EXPECT_TRUE(lock.try_acquire({.note = std::string_view(long_note).substr(1)}));
}

void both_forms_report_the_same(fixture& on) {
  auto client = on.client();
  const auto lock = on.lock(client);
  std::stop_source stopped;
  stopped.request_stop();
  const auto stop = stopped.get_token();
  const acquire_options bad{.note = "\n"};
  const auto tells = [](const std::function<void()>& throwing,
                        const std::function<void(std::error_code&)>& quiet, std::error_code code) {
    std::error_code ec = make_error_code(errc::mismatch);
    quiet(ec);
    EXPECT_EQ(ec, code);
    EXPECT_EQ(thrown_by(throwing), code);
  };
  using ref = std::error_code&;
  tells([&] { (void)lock.acquire(bad); }, [&](ref ec) { (void)lock.acquire(bad, {}, ec); },
        errc::bad_option);
  tells([&] { (void)lock.try_acquire(bad); }, [&](ref ec) { (void)lock.try_acquire(bad, ec); },
        errc::bad_option);
  tells([&] { (void)lock.try_acquire(); }, [&](ref ec) { (void)lock.try_acquire({}, ec); }, {});
  const auto held = lock.acquire();
  const auto rival = on.rival(client);
  tells([&] { (void)rival.acquire({}, stop); }, [&](ref ec) { (void)rival.acquire({}, stop, ec); },
        errc::canceled);
  tells([&] { (void)rival.try_acquire_for(milliseconds(1), {}, stop); },
        [&](ref ec) { (void)rival.try_acquire_for(milliseconds(1), {}, stop, ec); }, {});
  holdfast::lease empty;
  tells([&] { empty.release(); }, [&](ref ec) { empty.release(ec); }, errc::not_held);
  tells([&] { empty.extend(milliseconds(500)); },
        [&](ref ec) { empty.extend(milliseconds(500), ec); }, errc::not_held);
  client.close();
  tells([&] { (void)lock.acquire(); }, [&](ref ec) { (void)lock.acquire({}, {}, ec); },
        errc::closed);
  tells([&] { (void)lock.try_acquire(); }, [&](ref ec) { (void)lock.try_acquire({}, ec); },
        errc::closed);
}

void an_error_names_the_lock_and_the_backend(fixture& on) {
  auto client = on.client();
  const auto lock = on.lock(client, "nightly job");
  client.close();
  try {
    (void)lock.acquire();
    FAIL() << "a closed client grants nothing";
  } catch (const holdfast::lock_error& error) {
    EXPECT_EQ(error.operation(), "acquire");
    EXPECT_EQ(error.lock(), "nightly job");
    EXPECT_EQ(error.backend(), client.url_text());
    const std::string text = error.what();
    EXPECT_NE(text.find("nightly job"), std::string::npos) << text;
    EXPECT_NE(text.find(client.url_text()), std::string::npos) << text;
  }
}

void granted_busy_and_broken_are_distinct(fixture& on) {
  auto client = on.client();
  const auto other = on.client();
  std::error_code ec;
  const auto granted = on.lock(client).try_acquire({}, ec);
  EXPECT_TRUE(granted);
  EXPECT_FALSE(ec);
  EXPECT_FALSE(on.rival(other).try_acquire({}, ec));
  EXPECT_FALSE(ec);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(on.rival(other).acquire({}, stopped.get_token(), ec));
  EXPECT_EQ(ec, outcome::busy) << "acquire promises the lock, so it says why there is none";
  EXPECT_FALSE(on.rival(other).try_acquire({.note = "\n"}, ec));
  EXPECT_EQ(ec, outcome::usage);
  EXPECT_NE(ec, outcome::busy);
  client.close();
  EXPECT_FALSE(on.lock(client).try_acquire({}, ec));
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_NE(ec, outcome::busy);
}

}  // namespace

behaviours errors() {
  return {
      CONTRACT_BEHAVIOUR(68, bad_options_are_refused, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(69, both_forms_report_the_same, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(70, an_error_names_the_lock_and_the_backend, in_threads, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(71, granted_busy_and_broken_are_distinct, in_threads, at_the_store,
                         nothing),
  };
}

}  // namespace contract
