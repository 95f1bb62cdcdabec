#include "backend/redis/shards/shards.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/redis/diagnosis/joint_findings.hpp"
#include "backend/redis/shards/list_check.hpp"
#include "backend/redis/shards/shard_list.hpp"
#include "base/caller_driver.hpp"
#include "base/event_queue.hpp"
#include "base/fail.hpp"
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
    parts.push_back({p.name, p.weight, p.former_weight,
                     read_settings({p.where, o.shared, p.own, o.password, o.env, o.stop})});
  auto made = std::make_unique<shards>(o.env, std::move(parts));
  made->open(o.stop, o.where.text());
  const seam::store_family stores = made->stores();
  return {std::move(made), stores};
}

shards::shards(base::environment& env, std::vector<part> parts)
    : prefix_(parts.front().where.prefix),
      stores_(names_of(parts.front().where)),
      log_(parts.front().where.log) {
  for (part& p : parts) {
    lists_.present.push_back({p.name, p.weight});
    lists_.former.push_back({p.name, p.former_weight});
    lists_.is_changing = lists_.is_changing || p.weight != p.former_weight;
    all_.push_back(std::make_unique<backend>(env, std::move(p.where)));
  }
  for (std::size_t i = 0; i < all_.front()->stores().all().size(); ++i) {
    std::vector<moving_claim::place> of_one_layout;
    for (const auto& b : all_) of_one_layout.push_back({b->stores().all()[i], b.get()});
    sharded_.push_back(std::make_unique<sharded_store>(lists_, std::move(of_one_layout), moving_));
    stores_.add(*sharded_.back());
  }
  if (!lists_.is_changing) return;
  for (std::size_t former = 0; former < all_.size(); ++former)
    for (std::size_t present = 0; present < all_.size(); ++present)
      if (former != present) pairs_.try_emplace({former, present}, *this, former, present);
}

void shards::open(std::stop_token stop, const std::string& url_text) {
  const auto can_move = [](const auto& s) { return s->can_move_locks(); };
  if (lists_.is_changing && !std::ranges::all_of(sharded_, can_move))
    base::fail(errc::bad_option, "open",
               "the list of shards cannot change while locks of this layout are in use, because "
               "their tokens would no longer increase; use layout=string, or stop all clients and "
               "change the list without was=",
               {}, url_text);
  for (const auto& b : all_) b->begin_open();
  std::vector<std::string> out;
  failure first;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    failure why = all_[i]->await_open(stop);
    if (!why.code) continue;
    all_[i]->note_unreached(why);
    why.text = of_shard(name_of(i), why.text);
    const bool may_pass = why.code == errc::unavailable;
    if (!may_pass) throw lock_error(why.code, {"open", {}, url_text, why.text});
    out.push_back(why.text);
    if (!first.code) first = std::move(why);
  }
  if (out.size() == all_.size()) throw lock_error(first.code, {"open", {}, url_text, first.text});
  for (const std::string& text : out) {
    std::string line = url_text + ": opened without a shard, whose locks have to wait for it: ";
    base::log(log_, log_level::warning, line += text);
  }
  check_servers(url_text);
  check_lists(url_text);
}

// A shard that does not answer is not compared.
void shards::check_servers(const std::string& url_text) {
  std::vector<server_of_shard> reached;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    backend::reached_server s = all_[i]->first_server();
    reached.push_back({name_of(i), std::move(s.address), std::move(s.run_id), s.database});
  }
  if (std::string text = text_of_same_server(reached); !text.empty())
    base::fail(errc::bad_url, "open", std::move(text), {}, url_text);
}

// Compares the lists of the shards that answer. If one cannot be read, for example for lack of a
// right, a warning is logged.
void shards::check_lists(const std::string& url_text) {
  const client_lists mine{text_of_list(lists_.present),
                          lists_.is_changing ? text_of_list(lists_.former) : std::string()};
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i]->is_unavailable()) continue;
    const list_answer found = ask_for_list(*all_[i], prefix_, mine);
    if (found.is_same) continue;
    if (!found.why.code)
      base::fail(errc::bad_option, "open",
                 of_shard(name_of(i), text_of_other_list(found.other, prefix_, mine)), {},
                 url_text);
    base::log(log_, log_level::warning,
              url_text + ": whether other clients have the same list of shards is unknown: " +
                  of_shard(name_of(i), found.why.text));
  }
}

bool shards::is_unavailable() const noexcept {
  return std::ranges::any_of(all_, [](const auto& b) { return b->is_unavailable(); });
}

seam::connection_status shards::status() {
  std::vector<std::size_t> all(all_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return status_of(all);
}

seam::connection_status shards::status_of(std::span<const std::size_t> some) {
  seam::connection_status out;
  for (const std::size_t i : some) {
    const seam::connection_status one = all_[i]->status();
    const std::string& name = name_of(i);
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
  for (const weighted_name& n : lists_.present) names.push_back("shard " + n.name);
  const auto diagnose = [this](std::size_t i, seam::findings_handler& one) {
    all_[i]->diagnose(one);
  };
  start_joint_diagnosis(std::move(names), diagnose, to);
}

// Shards that answer come first: one that does not answer takes all the time that is left. A
// release that a verb left to another thread has to reach its shards before they close.
bool shards::close(time_point until) {
  const auto await_moving = [this] {
    base::event_queue::await_dispatch([this] { return moving_.handling > 0; });
  };
  await_moving();
  std::vector<backend*> in_order;
  for (const auto& b : all_) in_order.push_back(b.get());
  std::stable_partition(in_order.begin(), in_order.end(),
                        [](const backend* b) { return !b->is_unavailable(); });
  bool is_clean = true;
  for (backend* const b : in_order) is_clean = b->close(until) && is_clean;
  await_moving();
  return is_clean;
}

void shards::forked() noexcept {
  moving_.is_forked = true;
  for (const auto& b : all_) b->forked();
}

bool shards::pair_of_shards::is_unavailable() const noexcept {
  return std::ranges::any_of(both_, [&](std::size_t i) { return home_.all_[i]->is_unavailable(); });
}

void shards::pair_of_shards::retry_now() noexcept {
  for (const std::size_t i : both_) home_.all_[i]->retry_now();
}

void shards::pair_of_shards::flush() {
  for (const std::size_t i : both_) home_.all_[i]->flush();
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
