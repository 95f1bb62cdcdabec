#include "survey/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "data_folder.hpp"
#include "survey/claims.hpp"
#include "survey/columns.hpp"
#include "survey/costs.hpp"
#include "survey/documents.hpp"
#include "survey/model.hpp"
#include "survey/result_file.hpp"
#include "survey/sizes.hpp"

namespace survey {
namespace {

// The first row has the titles. A cell without figures has its reason in the last column.
table table_of(const results& r, const load& l, bool is_narrow) {
  table rows(1);
  for (const column& c : columns())
    if (c.is_narrow || !is_narrow) rows[0].emplace_back(c.title);
  for (const cell& one : r.cells) {
    if (one.load != l.name) continue;
    rows.emplace_back();
    for (const column& c : columns()) {
      if (!c.is_narrow && is_narrow) continue;
      const bool has_text = !one.runs.empty() || rows.back().size() < 2 || c.title == "result";
      rows.back().push_back(has_text ? c.text(one) : "-");
    }
  }
  return rows;
}

std::string aligned(const table& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t missing = widths[i] > row[i].size() ? widths[i] - row[i].size() : 0;
      const bool is_name = i < 2 || i + 1 == row.size();
      if (!is_name) text.append(missing, ' ');
      text += row[i];
      if (is_name && i + 1 < row.size()) text.append(missing, ' ');
      if (i + 1 < row.size()) text += "  ";
    }
    text += '\n';
  }
  return text;
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != std::string::npos; at += 2)
    text.replace(at, 1, text[at] == '|' ? "\\|" : "  ");
  return text;
}

void replace(std::string& text, const std::string& mark, const std::string& by) {
  const auto at = text.find(mark);
  if (at == std::string::npos) throw std::runtime_error("the page of the survey lacks " + mark);
  text.replace(at, mark.size(), by);
}

// "</script>" in a text would end the script around it.
std::string for_script(std::string json) {
  for (std::size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3)
    json.replace(at, 2, "<\\/");
  return json;
}

// A table in Markdown. The names, in the first columns, are aligned to the left.
std::string markdown_table(const table& rows, std::size_t names) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) text += "| " + escaped(cell) + " ";
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t k = 0; k < rows[0].size(); ++k) text += k < names ? "|---" : "|---:";
    text += "|\n";
  }
  return text;
}

std::string claims_table(const results& r) {
  table rows{{"what they say", "their figure", "measured", "how", "result"}};
  for (const checked_claim& c : check_claims(r))
    rows.push_back({std::string(c.text), std::string(c.theirs), c.measured, c.how, c.result});
  return "\n## What the documents say\n\nThe documents are the descriptions of locks from which "
         "this list of locks comes. A difference of 10 % counts.\n\n" +
         markdown_table(rows, rows[0].size());
}

// Empty if the run has no such figures.
std::string documents_section(const results& r) {
  const table rows = documents_table(r);
  if (rows.size() < 2) return {};
  return "\n## Success of attempts\n\nArticles about distributed locks compare these systems "
         "without figures; this run measures them. An attempt succeeds when the lock is acquired "
         "within the wait: " +
         std::string(find_load("documents")->what) + ".\n\n" + markdown_table(rows, 2);
}

table model_table(const std::vector<model_check>& checks) {
  table rows{{"store", "lock", "load", "utilisation", "figure", "model", "measured"}};
  for (const model_check& c : checks)
    rows.push_back({c.where->topology, c.where->lock, c.where->load, figure(c.utilisation),
                    std::string(c.what), figure(c.model), figure(c.measured)});
  return rows;
}

bool is_near_model(const model_check& c) { return std::abs(c.measured - c.model) <= c.model / 4; }

// "row 2 of 9, named 9 of 9"
std::string near_model_by_lock(const std::vector<model_check>& checks) {
  std::vector<std::string_view> locks;
  for (const model_check& c : checks) {
    const std::string_view lock = c.where->lock;
    if (std::ranges::find(locks, lock) == locks.end()) locks.push_back(lock);
  }
  std::string text;
  for (const std::string_view lock : locks) {
    const auto is_of_lock = [lock](const model_check& c) { return c.where->lock == lock; };
    const auto is_near = [&](const model_check& c) { return is_of_lock(c) && is_near_model(c); };
    text += (text.empty() ? "" : ", ") + std::string(lock) + " " +
            std::to_string(std::ranges::count_if(checks, is_near)) + " of " +
            std::to_string(std::ranges::count_if(checks, is_of_lock));
  }
  return text;
}

std::string model_summary(const std::vector<model_check>& checks) {
  return std::to_string(std::ranges::count_if(checks, is_near_model)) + " of " +
         std::to_string(checks.size()) +
         " figures are within a quarter of the model: " + near_model_by_lock(checks) + ".";
}

std::string model_section(const results& r) {
  const auto checks = check_model(r);
  if (checks.empty()) return {};
  return "\n## The queueing model\n\n[Scaling](scaling.md) treats a lock as a queue with one "
         "server. The model's figures use the measured times of holding and of the hand-off, and "
         "for *acquire* the planned arrivals. " +
         model_summary(checks) + "\n\n" + markdown_table(model_table(checks), 3);
}

// Empty if the run has no such figures.
std::string costs_of(const results& r) {
  const table rows = cost_table(r);
  if (rows.size() < 2) return {};
  return "Per acquisition of a free lock, its release included, by one worker; in parentheses by "
         "64 "
         "workers with a lock each. *Bytes held* are the memory of a lock while it is held. The "
         "servers' figures are sums over all servers of the store.\n\n" +
         markdown_table(rows, 2);
}

std::string sizes_of(const results& r) {
  const table rows = size_table(r);
  if (rows.size() < 2) return {};
  return "\n## How many servers\n\n"
         "How many servers or groups of servers carry this many acquisitions per second, of many "
         "locks: the servers' processor time per acquisition by 64 workers, divided by the servers "
         "that share the work, so that each of them uses half of one processor. The disk is not "
         "part of it. *10⁸ renewed* is the same for the renewals of 10⁸ leases with a ttl of 30 "
         "min. Each renewal counts as an acquisition, which costs more. *10⁸ held* is the memory "
         "of as many held locks in all servers together.\n\n" +
         markdown_table(rows, 3);
}

constexpr const char* chart_library = "/usr/share/javascript/chart.js/chart.min.js";

}  // namespace

std::string as_text(const results& r) {
  std::string text = summary_of(r);
  if (const table documents = documents_table(r); documents.size() > 1)
    text += "\nsuccess of attempts:\n" + aligned(documents);
  for (const load* l : loads_in(r))
    text += "\n" + std::string(l->name) + ": " + std::string(l->what) + "\n" +
            aligned(table_of(r, *l, true));
  if (const table costs = cost_table(r); costs.size() > 1)
    text += "\ncosts, by 64 workers in parentheses:\n" + aligned(costs);
  if (const auto checks = check_model(r); !checks.empty())
    text += "\nthe queueing model: " + model_summary(checks) + "\n" + aligned(model_table(checks));
  return text;
}

std::string as_markdown(const results& r) {
  std::string text =
      "# Locks, measured\n\nAn explanation for readers who compare locks. All of this page is the "
      "output of one run of `./dev bench survey`, which repeats it on your machine; "
      "[The survey](../internals/survey.md) says how each figure is measured. Locks with other "
      "names than holdfast's own are holdfast's implementations of them, not the "
      "libraries.\n\n```\n" +
      summary_of(r) + "```\n" + documents_section(r) + claims_table(r);
  for (const load* l : loads_in(r)) {
    text += "\n## " + std::string(l->name) + "\n\n" + std::string(l->what) + "\n\n";
    text += markdown_table(table_of(r, *l, false), 2);
  }
  const std::string costs = costs_of(r);
  if (!costs.empty()) text += "\n## Costs\n\n" + costs;
  return text + model_section(r);
}

std::string as_costs(const results& r) {
  const std::string costs = costs_of(r);
  if (costs.empty()) return {};
  return "# Costs of a lock\n\nA reference for designers. This page is the output of one run of "
         "`./dev bench survey`; [The survey](../internals/survey.md) describes how each figure is "
         "measured, and [Scaling](scaling.md) what follows from it.\n\n```\n" +
         summary_of(r) + "```\n\n" + costs + sizes_of(r);
}

std::string as_html(const results& r, const std::string& charts) {
  std::string page = read_file((bench::data_folder() / "survey" / "page.html").string());
  replace(page, "/* Chart.js */", charts);
  replace(page, "null /* the results */", for_script(to_json(r, detail::figures_only)));
  return page;
}

void write_reports(const results& r, const std::string& folder) {
  std::fputs(as_text(r).c_str(), stdout);
  write_file(folder + "/survey.md", as_markdown(r));
  std::string written = folder + "/survey.md";
  if (const std::string costs = as_costs(r); !costs.empty())
    write_file(folder + "/costs.md", costs);
  const std::string charts = read_file(chart_library);
  if (charts.empty()) {
    std::printf("\nno page with charts: %s is missing (Debian's libjs-chart.js)\n", chart_library);
  } else {
    write_file(folder + "/survey.html", as_html(r, charts));
    written += " and " + folder + "/survey.html";
  }
  std::printf("\nwritten: %s\n", written.c_str());
}

}  // namespace survey
