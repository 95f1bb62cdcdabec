#include "backend/memory/memory_layout.hpp"

namespace holdfast::memory {

// Keeps the lock's entry while it exists.
orphan::orphan(memory_layout& home, entry& lock, const owner_id& who, time_point end) noexcept
    : claims::orphan(end), home_(home), lock_(lock), who_(who) {
  ++lock_.references;
}

orphan::~orphan() {
  if (home_.is_forked()) return;  // the parent's threads may have left the store in any state
  home_.over().forget(*this);
  home_.over().at().data.detach(lock_, home_.env().now());
}

claims::withdrawal orphan::withdraw(time_point now) {
  request r;
  r.what = operation::leave;
  r.who = who_;
  r.sent = now;
  return home_.over().submit(*this, lock_, r, now) ? claims::withdrawal::done
                                                   : claims::withdrawal::may_be_lost;
}

void orphan::on_reply(const reply&, time_point now, event_queue&) {
  home_.orphans().on_answer(*this, claims::withdrawal::done, now);  // this ends here
}

}  // namespace holdfast::memory
