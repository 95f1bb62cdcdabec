#include <holdfast/metrics.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "base/fail.hpp"

namespace holdfast::inline v0 {
namespace {

using labels = std::span<const metric_label>;

bool is_label_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name.front()) && !name.starts_with("__") &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

void check(labels given) {
  for (const std::string_view taken : {"backend", "mode", "outcome", "le"})
    for (const auto& [name, value] : given)
      if (name == taken || !is_label_name(name))
        base::fail(errc::bad_option, "to_prometheus",
                   '"' + std::string(name) + "\" cannot be the name of a label here");
  for (auto a = given.begin(); a != given.end(); ++a)
    if (std::any_of(given.begin(), a, [&](const auto& b) { return a->first == b.first; }))
      base::fail(errc::bad_option, "to_prometheus",
                 "the label \"" + std::string(a->first) + "\" is given twice");
}

std::string label_text(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + '"';
}

std::string in_seconds(std::chrono::nanoseconds d) {
  char text[40];
  const auto ns = static_cast<long long>(d.count());
  int n = std::snprintf(text, sizeof text, "%lld.%09lld", ns / 1'000'000'000, ns % 1'000'000'000);
  while (text[n - 1] == '0') --n;
  if (text[n - 1] == '.') --n;
  return {text, static_cast<std::size_t>(n)};
}

class exposition {
 public:
  explicit exposition(labels given) {
    for (const auto& [name, value] : given)
      shared_ += ',' + std::string(name) + '=' + label_text(value);
  }

  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = "holdfast_" + std::string(name);
    text_ += "# HELP " + name_ + ' ' + std::string(help) + '\n';
    text_ += "# TYPE " + name_ + ' ' + std::string(type) + '\n';
  }
  void add(const metrics& of, std::string_view own_labels, std::uint64_t value) {
    sample("", of, own_labels, std::to_string(value));
  }
  void add(const metrics& of, std::string_view own_labels, const duration_histogram& h) {
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < h.buckets.size(); ++i) {
      so_far += h.buckets[i];
      const bool last = i == h.bounds.size();
      const std::string le = ",le=\"" + (last ? "+Inf" : in_seconds(h.bounds[i])) + '"';
      sample("_bucket", of, std::string(own_labels) + le, std::to_string(so_far));
    }
    sample("_sum", of, own_labels, in_seconds(h.sum));
    sample("_count", of, own_labels, std::to_string(so_far));
  }
  std::string take() { return std::move(text_); }

 private:
  void sample(std::string_view suffix, const metrics& of, std::string_view own_labels,
              const std::string& value) {
    text_ += name_ + std::string(suffix) + "{backend=" + label_text(of.backend) + shared_ +
             std::string(own_labels) + "} " + value + '\n';
  }
  std::string name_, shared_, text_;
};

struct counter_row {
  std::string_view name, help;
  std::uint64_t metrics::*value;
};
constexpr counter_row counters[] = {
    {"busy_total", "Acquires that were busy, timed out or stopped.", &metrics::busy},
    {"grants_total", "Grants of the store.", &metrics::grants},
    {"grants_handed_total", "Grants of the store that another client handed over.",
     &metrics::grants_handed},
    {"local_handoffs_total", "Locks passed to the next in line without the store.",
     &metrics::local_handoffs},
    {"shares_joined_total", "Readers admitted next to other readers, without a request.",
     &metrics::shares_joined},
    {"linger_reuses_total", "Locks acquired again under a kept grant.", &metrics::linger_reuses},
    {"renewals_sent_total", "Renewals sent to the store.", &metrics::renewals_sent},
    {"renewals_confirmed_total", "Renewals that the store confirmed.",
     &metrics::renewals_confirmed},
    {"doubts_total", "Leases that became doubtful.", &metrics::doubts},
    {"losses_total", "Leases that were lost while held.", &metrics::losses},
    {"reconnects_total", "Times the connection to the store was restored.", &metrics::reconnects},
};

struct histogram_row {
  std::string_view name, help;
  metrics::by_mode metrics::*value;
};
constexpr histogram_row histograms[] = {
    {"wait_seconds", "Time from the call to the grant.", &metrics::waits},
    {"hold_seconds", "Time from the grant to the release.", &metrics::holds},
};

struct mode_row {
  std::string_view label;
  duration_histogram metrics::by_mode::*value;
};
constexpr mode_row modes[] = {
    {",mode=\"exclusive\"", &metrics::by_mode::exclusive},
    {",mode=\"shared\"", &metrics::by_mode::shared},
    {",mode=\"permit\"", &metrics::by_mode::permit},
};

std::string expose(std::span<const metrics> all, labels given) {
  exposition out(given);
  out.begin("acquired_total", "counter", "Leases granted.");
  for (const metrics& m : all)
    for (const mode_row& mode : modes) out.add(m, mode.label, (m.waits.*mode.value).count());
  out.begin("errors_total", "counter", "Acquires, releases and extensions that failed.");
  for (const metrics& m : all) {
    out.add(m, ",outcome=\"unavailable\"", m.errors_unavailable);
    out.add(m, ",outcome=\"lost\"", m.errors_lost);
    out.add(m, ",outcome=\"usage\"", m.errors_usage);
  }
  for (const counter_row& row : counters) {
    out.begin(row.name, "counter", row.help);
    for (const metrics& m : all) out.add(m, "", m.*row.value);
  }
  for (const histogram_row& row : histograms) {
    out.begin(row.name, "histogram", row.help);
    for (const metrics& m : all)
      for (const mode_row& mode : modes) out.add(m, mode.label, m.*row.value.*mode.value);
  }
  out.begin("connected", "gauge", "1 while the store can be reached, else 0.");
  for (const metrics& m : all) out.add(m, "", m.connected ? 1 : 0);
  out.begin("renewal_lag_seconds", "histogram", "How late renewals were confirmed.");
  for (const metrics& m : all) out.add(m, "", m.renewal_lag);
  return out.take();
}

void add(duration_histogram& to, const duration_histogram& from) noexcept {
  for (std::size_t i = 0; i < to.buckets.size(); ++i) to.buckets[i] += from.buckets[i];
  to.sum += from.sum;
}

}  // namespace

std::uint64_t duration_histogram::count() const noexcept {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

metrics& metrics::operator+=(const metrics& other) noexcept {
  connected = other.connected && (connected || !counted);
  counted = counted || other.counted;
  for (const histogram_row& row : histograms)
    for (const mode_row& mode : modes)
      add(this->*row.value.*mode.value, other.*row.value.*mode.value);
  add(renewal_lag, other.renewal_lag);
  for (const counter_row& row : counters) this->*row.value += other.*row.value;
  errors_unavailable += other.errors_unavailable;
  errors_lost += other.errors_lost;
  errors_usage += other.errors_usage;
  return *this;
}

std::string to_prometheus(std::span<const metrics> of, labels given) {
  check(given);
  std::vector<metrics> sums;
  for (const metrics& m : of) {
    if (!m.counted) continue;
    const auto same = std::ranges::find(sums, m.backend, &metrics::backend);
    if (same == sums.end()) {
      sums.push_back(m);
    } else {
      *same += m;
    }
  }
  return sums.empty() ? std::string() : expose(sums, given);
}

std::string to_prometheus(const metrics& of, labels given) {
  return to_prometheus(std::span(&of, 1), given);
}

}  // namespace holdfast::inline v0
