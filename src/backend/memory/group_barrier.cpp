#include "backend/memory/group_barrier.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

class gatherings::one final : public errand {
 public:
  one(gatherings& home, const core::gathering& of) noexcept : home_(home), of_(of) {}

  void at_store(store& s, time_point now, core::environment& env, outbox& out) override {
    if (!broken) s.apply_together(parts, now, env, out);
  }

  void hear(const reply& r, time_point now, crier& cry) override {
    if (broken) return;
    const auto answered = std::move(parts);
    const auto members = std::move(who);
    home_.wire_.forget(*this);
    home_.all_.erase(home_.find(of_));
    for (std::size_t i = 0; i < members.size(); ++i) {
      reply each = answered[i].answer;
      each.sent = r.sent;
      members[i]->hear(each, now, cry);
    }
  }

  void wake(time_point, crier&) override {}

  bool is_of(const core::gathering& g) const noexcept { return of_ == g; }

  std::vector<part> parts;
  std::vector<correspondent*> who;  // of each part
  bool broken = false;              // one has left

 private:
  gatherings& home_;
  const core::gathering of_;
};

gatherings::gatherings(link& wire) noexcept : wire_(wire) {}
gatherings::~gatherings() = default;

gatherings::list::iterator gatherings::find(const core::gathering& g) noexcept {
  return std::find_if(all_.begin(), all_.end(), [&](const one& o) { return o.is_of(g); });
}

void gatherings::ask(const core::gathering& g, correspondent& from, entry& lock, const request& r,
                     time_point now, crier& cry) {
  auto place = find(g);
  if (place == all_.end()) place = all_.emplace(all_.end(), *this, g);
  one& o = *place;
  if (o.broken) return;
  if (std::find(o.who.begin(), o.who.end(), &from) == o.who.end()) {
    o.who.push_back(&from);
    o.parts.push_back({&lock, r, {}});
    if (o.who.size() == g.members) wire_.send(o, now, cry);
  } else if (o.who.front() == &from && o.who.size() == g.members) {
    wire_.send(o, now, cry);  // the others' repetitions are this one
  }
}

void gatherings::leave(const core::gathering& g, const correspondent& who) noexcept {
  const auto place = find(g);
  if (place == all_.end()) return;
  place->broken = true;
  std::erase(place->who, &who);
  if (!place->who.empty()) return;
  wire_.forget(*place);
  all_.erase(place);
}

}  // namespace holdfast::memory
