#include "claims.hpp"

namespace holdfast::redis_test {

bool listener::heard(char what) const {
  const std::lock_guard guard(mutex_);
  return reported_.find(what) != reported_.npos;
}

bool listener::hears(char what) { return hears_any(std::string(1, what).c_str()) == what; }

char listener::hears_any(const char* set, std::chrono::milliseconds most) {
  std::unique_lock guard(mutex_);
  const auto found = [&] { return reported_.find_first_of(set); };
  changed_.wait_for(guard, most, [&] { return found() != reported_.npos; });
  return found() == reported_.npos ? '-' : reported_[found()];
}

char listener::hears_of_renewal(std::uint32_t ticket, std::chrono::milliseconds most) {
  std::unique_lock guard(mutex_);
  const auto is_lost = [&] { return reported_.find('l') != reported_.npos; };
  changed_.wait_for(guard, most, [&] { return extended_ == ticket || is_lost(); });
  if (extended_ == ticket) return 'm';
  return is_lost() ? 'l' : '-';
}

void listener::forget() {
  const std::lock_guard guard(mutex_);
  reported_.clear();
}

seam::grant listener::grant() const {
  const std::lock_guard guard(mutex_);
  return grant_;
}

base::failure listener::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

test_claim::test_claim(peer& p, const std::string& name)
    : home_(p), claim_(p.store().open(name, heard)) {}

test_claim::~test_claim() {
  if (asked_ && !heard.heard('r')) cancel();
  if (held_) release();
}

void test_claim::flush() { home_.go_on(); }

void test_claim::ask(const seam::acquire_request& how) {
  heard.forget();
  asked_ = true;
  claim_->acquire(how);
  flush();
}

bool test_claim::is_granted() {
  if (asked_ && heard.heard('g')) {
    held_ = true;
    asked_ = false;
  }
  return held_;
}

bool test_claim::get(const seam::acquire_request& how) {
  ask(how);
  if (heard.hears_any("gr") == 'r') asked_ = false;
  return is_granted();
}

// Repeated as the core does, for one that is cut has no answer. The answer to an earlier renewal
// may still come, and counts for nothing.
bool test_claim::renew(std::chrono::milliseconds ttl) {
  ++ticket_;
  for (int times = 0; times < 1500; ++times) {
    send_renewal(ttl);
    if (const char what = heard.hears_of_renewal(ticket_, 20ms); what != '-') return what == 'm';
  }
  return false;
}

void test_claim::renew_soon(std::chrono::milliseconds ttl) {
  ++ticket_;
  send_renewal(ttl);
}

void test_claim::send_renewal(std::chrono::milliseconds ttl) {
  claim_->renew(ttl, ticket_);
  flush();
}

void test_claim::downgrade() {
  claim_->downgrade();
  flush();
}

bool test_claim::release() {
  release_soon();
  return heard.hears('e') && !heard.failure().code;
}

void test_claim::release_soon() {
  held_ = false;
  claim_->release(nullptr);
  flush();
}

void test_claim::release_to(test_claim& next, const seam::acquire_request& how) {
  heard.forget();
  next.heard.forget();
  held_ = false;
  next.asked_ = true;
  const seam::successor heir{next.claim_.get(), how};
  claim_->release(&heir);
  flush();
}

void test_claim::cancel() {
  claim_->cancel();
  flush();
  const char how = heard.hears_any("gre");
  held_ = how == 'g';
  asked_ = false;
}

peer::peer(const std::string& text, base::environment& env) {
  const auto where = url::parse(text);
  std::vector<url::option> own;
  const auto shared = seam::read_client_options(where, own);
  backend_ = redis::open({where, shared, own, {}, env});
}

peer::~peer() { backend_.connection->close(io::real_environment().now() + 2s); }

void peer::go_on() {
  backend_.connection->flush();
  if (auto* const d = backend_.connection->driver()) d->attend();
}

namespace {

struct answer_of final : seam::holders_handler, seam::decision_handler {
  void on_result(std::vector<holder> h) override {
    take([&] { list = std::move(h); });
  }
  void on_result(bool b) override {
    take([&] { yes = b; });
  }
  void on_failed(base::failure f) override {
    take([&] { why = std::move(f); });
  }
  template <class Change>
  void take(Change change) {
    const std::lock_guard guard(mutex);
    change();
    is_there = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock guard(mutex);
    changed.wait_for(guard, 30s, [&] { return is_there; });
    EXPECT_TRUE(is_there);
    EXPECT_FALSE(why.code) << why.text;
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<holder> list;
  base::failure why;
  bool yes = false, is_there = false;
};

}  // namespace

std::vector<holder> peer::inspect(const std::string& prefix) {
  answer_of a;
  backend_.stores.inspect(prefix, a);
  go_on();
  a.wait();
  return a.list;
}

bool peer::break_lock(const std::string& name, const std::string& seen) {
  answer_of a;
  backend_.stores.break_lock(name, seen, a);
  go_on();
  a.wait();
  return a.yes;
}

seam::acquire_request alone(std::chrono::milliseconds ttl) { return {.ttl = ttl}; }
seam::acquire_request reading(std::chrono::milliseconds ttl) {
  return {.ttl = ttl, .mode = lock_mode::shared};
}
seam::acquire_request permits(std::uint32_t n, std::uint32_t of, std::chrono::milliseconds ttl) {
  return {.ttl = ttl, .mode = lock_mode::permit, .permits = n, .total_permits = of};
}
seam::acquire_request once(seam::acquire_request how) {
  how.one_attempt = true;
  return how;
}

}  // namespace holdfast::redis_test
