#include "backend/memory/group_barrier.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

class group_barrier::one final : public store_query {
 public:
  one(group_barrier& home, const core::lock_group& of) noexcept : home_(home), of_(of) {}

  void run_at(store& s, time_point now, core::environment& env, push_list& out) override {
    if (!broken) s.apply_together(parts, now, env, out);
  }

  void on_reply(const reply& r, time_point now, event_queue& events) override {
    if (broken) return;
    const auto answered = std::move(parts);
    const auto members = std::move(who);
    home_.wire_.forget(*this);
    home_.all_.erase(home_.find(of_));
    for (std::size_t i = 0; i < members.size(); ++i) {
      reply each = answered[i].answer;
      each.sent = r.sent;
      members[i]->on_reply(each, now, events);
    }
  }

  void on_wake(time_point, event_queue&) override {}

  bool is_of(const core::lock_group& g) const noexcept { return of_ == g; }

  std::vector<part> parts;
  std::vector<reply_handler*> who;  // the sender of each part
  bool broken = false;              // a member has left

 private:
  group_barrier& home_;
  const core::lock_group of_;
};

group_barrier::group_barrier(transport& wire) noexcept : wire_(wire) {}
group_barrier::~group_barrier() = default;

group_barrier::list::iterator group_barrier::find(const core::lock_group& g) noexcept {
  return std::find_if(all_.begin(), all_.end(), [&](const one& o) { return o.is_of(g); });
}

void group_barrier::ask(const core::lock_group& g, reply_handler& from, entry& lock,
                        const request& r, time_point now, event_queue& events) {
  auto place = find(g);
  if (place == all_.end()) place = all_.emplace(all_.end(), *this, g);
  one& o = *place;
  if (o.broken) return;
  if (std::find(o.who.begin(), o.who.end(), &from) == o.who.end()) {
    o.who.push_back(&from);
    o.parts.push_back({&lock, r, {}});
    if (o.who.size() == g.members) wire_.send(o, now, events);
  } else if (o.who.front() == &from && o.who.size() == g.members) {
    wire_.send(o, now, events);  // the other members' repetitions are part of this one
  }
}

void group_barrier::leave(const core::lock_group& g, const reply_handler& who) noexcept {
  const auto place = find(g);
  if (place == all_.end()) return;
  place->broken = true;
  std::erase(place->who, &who);
  if (!place->who.empty()) return;
  wire_.forget(*place);
  all_.erase(place);
}

}  // namespace holdfast::memory
