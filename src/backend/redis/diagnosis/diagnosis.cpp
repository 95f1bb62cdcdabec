#include "backend/redis/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/diagnosis/findings.hpp"
#include "backend/redis/diagnosis/joint_findings.hpp"
#include "backend/redis/diagnosis/mixed_layouts.hpp"
#include "backend/redis/layouts/admin_query.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "backend/redis/transport/transport.hpp"
#include "base/words.hpp"

namespace holdfast::redis {

namespace {

using base::event_queue;

constexpr std::size_t pings_wanted = 5, samples_wanted = 3;
constexpr std::size_t scans_max = 20;  // of a thousand keys each: a large server is not read whole

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) out.push_back(base::next_word(text));
  return out;
}

class diagnosis final : public admin_query<std::vector<finding>> {
 public:
  diagnosis(transport& t, const endpoint& e, std::span<const layout_needs> of_layouts,
            bool is_in_cluster, seam::findings_handler& to, std::vector<finding> of_topology)
      : admin_query(t, to), of_topology_(std::move(of_topology)) {
    facts_.is_in_cluster = is_in_cluster;
    facts_.user = e.user.empty() ? "default" : e.user;
    facts_.op_timeout = e.op_timeout;
    require(commands_of_connections);
    for (const layout_needs& needs : of_layouts) {
      if (facts_.counter_key.empty()) facts_.counter_key = needs.counter;
      facts_.counts_by_lock = facts_.counts_by_lock || needs.counts_by_lock;
      facts_.counts_by_slot = facts_.counts_by_slot || needs.counts_by_slot;
      facts_.counts_by_server = facts_.counts_by_server || needs.counts_by_server;
      facts_.channels.append(facts_.channels.empty() ? "" : " &").append(needs.channels);
      facts_.has_transactions = facts_.has_transactions || needs.has_transactions;
      require(needs.commands);
    }
  }

 private:
  void require(std::span<const required_command> commands) {
    for (const required_command& c : commands)
      if ((c.what != needed_for::messages_in_cluster || facts_.is_in_cluster) &&
          std::ranges::find(facts_.required, c.call, &required_command::call) ==
              facts_.required.end())
        facts_.required.push_back(c);
  }

  bool needs_master() const noexcept override { return false; }
  enum class question : unsigned char { facts, transaction, rights, pings, keys, times };

  void send_next(time_point now, event_queue& events) override {
    read_ = 0;
    answers_to_.clear();
    sent_ = now;
    std::vector<request> all;
    switch (question_) {
      case question::facts: all = facts(); break;
      case question::transaction: all = discarded({}); break;
      case question::rights: all = discarded(facts_.required); break;
      case question::pings: all = {{&facts_.pings, "PING"}}; break;
      case question::keys: all = {{&facts_.keys, "SCAN " + cursor_ + " COUNT 1000"}}; break;
      case question::times: all = {{&facts_.times, "TIME"}}; break;
    }
    for (const request& r : all) answers_to_.push_back(r.answer);
    for (const request& r : all) {
      std::string bytes;
      const auto words = words_of(r.call);
      command c(bytes, words.size());
      for (const auto word : words) c << word;
      if (!send(std::move(bytes), now, events)) return;
    }
  }

  // An error is an answer like another.
  bool is_failure(const value&) const override { return false; }

  void read(const value& v) override {
    fact& to = *answers_to_[read_++];
    if (question_ == question::times) note_time(v);
    if (question_ == question::keys) note_keys(v);
    if (v.is(value::kind::error)) {
      to.refusal = explain(v.text());
    } else {
      to.text = v.is(value::kind::array) ? v[1].text() : v.text();
    }
  }

  void on_all_read(time_point now, event_queue& events) override {
    switch (question_) {
      case question::facts: after_facts(); break;
      case question::transaction: after_transaction(); break;
      case question::rights: question_ = question::pings; break;
      case question::pings:
        if (facts_.pings.is_known()) facts_.trips.push_back(now - sent_);
        if (!facts_.pings.is_known() || facts_.trips.size() == pings_wanted)
          question_ = question::keys;
        break;
      case question::keys:
        facts_.all_keys = cursor_ == "0";
        if (!facts_.keys.is_known() || facts_.all_keys || ++scans_ == scans_max)
          question_ = question::times;
        break;
      case question::times:
        if (!facts_.times.is_known() || ++samples_ == samples_wanted) return finish(events);
        break;
    }
    send_next(now, events);
  }

  void complete(std::vector<finding>& all) override {
    const auto several = names_.several();
    facts_.several_layouts.assign(several.begin(), several.end());
    all = std::move(of_topology_);
    std::ranges::move(grade_all(facts_), std::back_inserter(all));
  }

  struct request {
    fact* answer;
    std::string call;  // its words with a blank between two
  };

  std::vector<request> facts() {
    std::vector<request> out{{&facts_.info, "INFO"},
                             {&facts_.fsync, "CONFIG GET appendfsync"},
                             {&facts_.save, "CONFIG GET save"},
                             {&facts_.replicas_needed, "CONFIG GET min-replicas-to-write"},
                             {&facts_.transactions, "EXEC"}};
    if (!facts_.counter_key.empty())
      out.push_back({&facts_.counter, "GET " + std::string(facts_.counter_key)});
    return out;
  }

  // A transaction that the server discards: a fault stands in front. It goes out in one piece, so
  // no other request gets into it.
  std::vector<request> discarded(const std::vector<required_command>& queued) {
    std::vector<request> out{{&multi_, "MULTI"}, {&ignored_, "GET"}};
    facts_.rights.assign(queued.size(), {});
    for (std::size_t i = 0; i < queued.size(); ++i)
      out.push_back({&facts_.rights[i], std::string(queued[i].call)});
    out.push_back({&exec_, "EXEC"});
    return out;
  }

  // Where EXEC is denied, a transaction would never end.
  void after_facts() {
    const std::string& refusal = facts_.transactions.refusal;
    const bool may_end = refusal.find("EXEC without MULTI") != refusal.npos;
    question_ = may_end ? question::transaction : question::pings;
  }

  // Where MULTI is denied, what follows would be executed.
  void after_transaction() {
    const bool is_discarded =
        multi_.is_known() && exec_.refusal.find("EXECABORT") != std::string::npos;
    facts_.transactions.refusal = multi_.refusal;
    question_ = is_discarded ? question::rights : question::pings;
  }

  void note_keys(const value& v) {
    cursor_ = v[0].text().empty() ? "0" : std::string(v[0].text());
    value key = v[1][0];
    for (std::size_t n = v[1].size(); n > 0; --n, key = key.next()) names_.add(key.text());
  }

  // The quickest of several: its offset is the surest.
  void note_time(const value& v) {
    const server_time at = read_time(v);
    const time_point now = env().now();
    if (at == server_time::zero()) return;
    const duration trip = now - sent_;
    if (facts_.clock && facts_.clock->trip <= trip) return;
    facts_.clock = {duration(at - env().wall()) + trip / 2, trip};
    facts_.now = at;
  }

  std::vector<finding> of_topology_;
  server_facts facts_;
  question question_ = question::facts;
  std::vector<fact*> answers_to_;  // of this question, in the order of sending
  std::size_t read_ = 0;
  std::size_t samples_ = 0, scans_ = 0;
  std::string cursor_ = "0";  // of SCAN
  mixed_layouts names_;
  time_point sent_{};
  fact multi_, exec_, ignored_;
};

// Why the server cannot be used now, if that is so.
std::vector<finding> findings_of_status(transport& over, const std::string& name,
                                        bool is_in_cluster) {
  std::string why;
  {
    const std::lock_guard guard(over.reactor().mutex());
    why = over.read_status().trouble.text;
  }
  if (why.empty()) return {};
  if (is_in_cluster) return {{"server", finding_grade::bad, name + " cannot be used: " + why, {}}};
  return {{"vote", finding_grade::bad, name + " does not vote: " + why, {}}};
}

}  // namespace

void start_diagnosis(transport& over, const endpoint& e, std::span<const layout_needs> of_layouts,
                     bool is_in_cluster, seam::findings_handler& to,
                     std::vector<finding> of_topology) {
  (new diagnosis(over, e, of_layouts, is_in_cluster, to, std::move(of_topology)))->start();
}

void start_diagnosis(std::span<transport* const> nodes, const std::vector<std::string>& names,
                     const endpoint& e, std::span<const layout_needs> of_layouts,
                     bool are_in_cluster, seam::findings_handler& to) {
  const auto diagnose = [&](std::size_t i, seam::findings_handler& part) {
    start_diagnosis(*nodes[i], e, of_layouts, are_in_cluster, part);
  };
  const std::vector<transport*> all(nodes.begin(), nodes.end());
  start_joint_diagnosis(names, diagnose, to, [=](std::size_t i) {
    return findings_of_status(*all[i], names[i], are_in_cluster);
  });
}

}  // namespace holdfast::redis
