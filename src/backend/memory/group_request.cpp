#include <utility>

#include "backend/memory/memory_layout.hpp"

namespace holdfast::memory {

group_request::~group_request() {
  if (!home_.is_forked()) home_.over().forget(*this);
}

std::optional<reply> group_request::submit(const claim& asker, time_point now) {
  if (is_broken || parts_.empty()) collect(now);
  if (!home_.over().submit(*this, now)) return {};
  std::optional<reply> own;
  auto& others = home_.over().at().answers;
  hand_out(now, [&](claim& c, const reply& r) {
    if (&c == &asker) {
      own = r;
    } else {
      others.emplace_back(&c, r);
    }
  });
  return own;
}

void group_request::collect(time_point now) {
  is_broken = false;
  parts_.clear();
  details_.clear();
  details_.reserve(members.size());  // the parts keep pointers
  for (const claim* c : members) {
    details_.push_back(c->details.with_note(c->note()));
    parts_.push_back({c->lock, memory_layout::request_of(*c, operation::acquire, now), {}});
    parts_.back().what.more = &details_.back();
  }
}

void group_request::run_at(store& s, time_point now, base::environment& env, push_list& out) {
  if (!is_broken) s.apply_together(parts_, now, env, out);
}

void group_request::on_reply(const reply& r, time_point now, event_queue& events) {
  if (is_broken) return;
  hand_out(r.sent,
           [&](claim& c, const reply& its) { memory_layout::on_reply(c, its, now, events); });
}

template <class Each>
void group_request::hand_out(time_point sent, Each each) {
  const auto answered = std::move(parts_);
  const auto to = std::move(members);
  home_.groups().dissolve(*this);  // this ends here
  for (std::size_t i = 0; i < to.size(); ++i) {
    reply its = answered[i].answer;
    its.sent = sent;
    each(*to[i], its);
  }
}

}  // namespace holdfast::memory
