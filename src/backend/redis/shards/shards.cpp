#include "backend/redis/shards/shards.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/diagnosis/joint_findings.hpp"
#include "backend/redis/shards/shard_list.hpp"
#include "base/fail.hpp"
#include "base/follower.hpp"
#include "base/log.hpp"
#include "base/parker.hpp"

namespace holdfast::redis {

using base::failure;

namespace {

std::string of_shard(const std::string& name, const std::string& text) {
  return "shard " + name + ": " + text;
}

}  // namespace

seam::backend open_shards(const seam::open_args& o) {
  std::vector<shards::part> parts;
  for (const shard_place& p : read_shards(o))
    parts.push_back(
        {p.name, p.weight, read_settings({p.where, o.shared, p.own, o.password, o.env, o.stop})});
  auto made = std::make_unique<shards>(o.env, std::move(parts));
  made->open(o.stop, o.where.text());
  const seam::store_family stores = made->stores();
  return {std::move(made), stores};
}

shards::shards(base::environment& env, std::vector<part> parts)
    : stores_(names_of(parts.front().where)), log_(parts.front().where.log) {
  for (part& p : parts) {
    names_.push_back({std::move(p.name), p.weight});
    all_.push_back(std::make_unique<backend>(env, std::move(p.where)));
  }
  for (std::size_t i = 0; i < all_.front()->stores().all().size(); ++i) {
    std::vector<seam::lock_store*> of_one_layout;
    for (const auto& b : all_) of_one_layout.push_back(b->stores().all()[i]);
    sharded_.push_back(std::make_unique<sharded_store>(names_, std::move(of_one_layout)));
    stores_.add(*sharded_.back());
  }
}

void shards::open(std::stop_token stop, const std::string& url_text) {
  for (const auto& b : all_) b->begin_open();
  std::vector<std::string> out;
  failure first;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    failure why = all_[i]->await_open(stop);
    if (!why.code) continue;
    all_[i]->note_unreached(why);
    why.text = of_shard(names_[i].name, why.text);
    const bool may_pass = why.code == errc::unavailable;
    if (!may_pass) throw lock_error(why.code, {"open", {}, url_text, why.text});
    out.push_back(why.text);
    if (!first.code) first = std::move(why);
  }
  if (out.size() == all_.size()) throw lock_error(first.code, {"open", {}, url_text, first.text});
  for (const std::string& text : out)
    base::log(log_, log_level::warning,
              url_text + ": opened without a shard, whose locks have to wait for it: " + text);
}

bool shards::is_unavailable() const noexcept {
  return std::ranges::any_of(all_, [](const auto& b) { return b->is_unavailable(); });
}

seam::connection_status shards::status() {
  seam::connection_status out;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const seam::connection_status one = all_[i]->status();
    const std::string& name = names_[i].name;
    out.connected = out.connected && one.connected;
    out.reconnects += one.reconnects;
    if (!one.last_failure.empty()) out.last_failure = of_shard(name, one.last_failure);
    if (one.trouble.code && !out.trouble.code)
      out.trouble = {one.trouble.code, of_shard(name, one.trouble.text)};
  }
  return out;
}

void shards::retry_now() noexcept {
  for (const auto& b : all_) b->retry_now();
}

void shards::flush() {
  for (const auto& b : all_) b->flush();
}

void shards::diagnose(seam::findings_handler& to) {
  std::vector<std::string> names;
  for (const weighted_name& n : names_) names.push_back("shard " + n.name);
  auto& parts = *new joint_findings(std::move(names), to);
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i]->diagnose(parts.part(i));
}

// Those that answer first: one that does not takes all the time that is left.
bool shards::close(time_point until) {
  std::vector<backend*> in_order;
  for (const auto& b : all_) in_order.push_back(b.get());
  std::stable_partition(in_order.begin(), in_order.end(),
                        [](const backend* b) { return !b->is_unavailable(); });
  bool is_clean = true;
  for (backend* const b : in_order) is_clean = b->close(until) && is_clean;
  return is_clean;
}

void shards::forked() noexcept {
  for (const auto& b : all_) b->forked();
}

void shards::driver_of_all::attend() noexcept {
  for (const auto& b : home_.all_)
    if (base::caller_driver* const d = b->driver()) d->attend();
}

void shards::driver_of_all::run_until_signalled(base::parker& p) {
  attend();
  p.park();
}

void shards::driver_of_all::sleep_until_signalled(base::follower& f) {
  attend();
  f.parker.park();
}

}  // namespace holdfast::redis
