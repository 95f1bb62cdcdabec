#include "lab/timeline_svg.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace holdfast::lab {

namespace {

constexpr double sheet_width = 900, margin = 16, label_width = 110, lane_height = 30,
                 line_height = 18;
constexpr double plot_left = margin + label_width,
                 plot_width = sheet_width - plot_left - 2 * margin;
constexpr double mark_radius = 8;
constexpr std::size_t columns = 84;  // of an event's text

constexpr std::array<const char*, activities> classes{"holds", "believes", "left",
                                                      "other", "stopped",  "waits"};
constexpr std::array<const char*, activities> meanings{"holds the lock",
                                                       "believes that it holds the lock",
                                                       "dead, its lock remains",
                                                       "has a lock of its own",
                                                       "process stopped",
                                                       "waits"};

// The card has a background of its own, because a page may have another scheme than the system.
constexpr const char* style = R"(<style>
:root { --card: #ffffff; --ink: #1f2328; --faint: #6e7781; --grid: #d8dee4; --green: #1a7f37;
  --red: #cf222e; --amber: #bf8700; --violet: #8250df; --blue: #0969da; }
@media (prefers-color-scheme: dark) { :root { --card: #161b22; --ink: #e6edf3; --faint: #8d96a0;
  --grid: #30363d; --green: #3fb950; --red: #f85149; --amber: #d29922;
  --violet: #a371f7; --blue: #58a6ff; } }
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: var(--ink); white-space: pre; }
.card { fill: var(--card); stroke: var(--grid); }
.head { font: bold 15px sans-serif; } .faint { fill: var(--faint); }
.good { fill: var(--green); } .bad { fill: var(--red); }
.grid { stroke: var(--grid); } .holds { fill: var(--green); } .believes { fill: var(--red); }
.stopped { fill: var(--amber); } .left { fill: var(--violet); }
.other { fill: var(--blue); } .waits { fill: var(--grid); }
.both { fill: var(--red); opacity: 0.18; }
.mark { fill: var(--card); stroke: var(--ink); } .number { font-size: 11px; text-anchor: middle; }
</style>
)";

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '<')
      all += "&lt;";
    else if (c == '>')
      all += "&gt;";
    else if (c == '&')
      all += "&amp;";
    else
      all += c;
  }
  return all;
}

std::string number(double n) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", n);
  return text.data();
}

const char* class_of(tone t) { return t == tone::good ? "good" : t == tone::bad ? "bad" : "plain"; }

class sheet {
 public:
  double y = margin;

  void text(double x, const std::string& words, const std::string& classes_of_text = "plain") {
    body_ += "<text class=\"" + classes_of_text + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
             "\">" + escaped(words) + "</text>\n";
  }
  void rect(const char* class_of_rect, double x, double top, double w, double h) {
    body_ += "<rect class=\"" + std::string(class_of_rect) + "\" x=\"" + number(x) + "\" y=\"" +
             number(top) + "\" width=\"" + number(w) + "\" height=\"" + number(h) + "\"/>\n";
  }
  void vertical(double x, double top, double bottom) {
    body_ += "<path class=\"grid\" d=\"M" + number(x) + ' ' + number(top) + 'V' + number(bottom) +
             "\"/>\n";
  }
  void mark(double x, double center, std::size_t n) {
    body_ += "<circle class=\"mark\" cx=\"" + number(x) + "\" cy=\"" + number(center) + "\" r=\"" +
             number(mark_radius) + "\"/><text class=\"number\" x=\"" + number(x) + "\" y=\"" +
             number(center + 4) + "\">" + std::to_string(n) + "</text>\n";
  }
  std::string whole(const char* title) const {
    const std::string size = number(sheet_width) + "\" height=\"" + number(y);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(sheet_width) + ' ' +
           number(y) + "\" width=\"" + size + "\" role=\"img\">\n<title>" + escaped(title) +
           "</title>\n" + style + "<rect class=\"card\" x=\"0.5\" y=\"0.5\" rx=\"6\" width=\"" +
           number(sheet_width - 1) + "\" height=\"" + number(y - 1) + "\"/>\n" + body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

// One variant: its heading, its lanes, its events and how it ended.
class panel {
 public:
  panel(sheet& s, const play& p) : sheet_(s), play_(p), line_(p.line) {}

  void draw(const variant& v, std::size_t n) {
    sheet_.y += line_height;
    sheet_.text(margin, std::to_string(n) + ". " + v.lock, "head");
    sheet_.y += line_height;
    lanes();
    legend();
    events();
    ending(v);
    sheet_.y += margin;
  }

 private:
  double at(double time) const { return plot_left + time / line_.length() * plot_width; }

  void lanes() {
    constexpr double room_of_label = 60;
    const double top = sheet_.y + 4;
    const double bottom = top + lane_height * static_cast<double>(line_.lanes().size());
    const double tick = tick_of(line_.length());
    for (double time = 0; time <= line_.length(); time += tick) {
      sheet_.vertical(at(time), top, bottom);
      if (at(time) + room_of_label < sheet_width) sheet_.text(at(time), in_ms(time), "faint");
    }
    for (const interval& o : line_.overlaps())
      sheet_.rect("both", at(o.begin), top, std::max(at(o.end) - at(o.begin), 2.0), bottom - top);
    for (std::size_t i = 0; i < line_.lanes().size(); ++i) lane(i, top + lane_height * double(i));
    sheet_.y = bottom + line_height;
    if (line_.overlaps().empty()) return;
    sheet_.text(margin, "Shaded: two clients act as holders at the same time.", "bad");
    sheet_.y += line_height;
  }

  void lane(std::size_t lane, double top) {
    constexpr double gap = 8;
    for (const span& s : line_.spans()) {
      if (s.lane != lane) continue;
      sheet_.rect(classes[static_cast<std::size_t>(s.what)], at(s.begin), top + gap,
                  std::max(at(s.end) - at(s.begin), 2.0), lane_height - 2 * gap);
    }
    const double before = sheet_.y;
    sheet_.y = top + lane_height / 2 + 4;
    sheet_.text(margin, line_.lanes()[lane]);
    sheet_.y = before;
    double last = 0;  // a mark that has no room moves to the right
    for (std::size_t i = 0; i < line_.events().size(); ++i) {
      const event& e = line_.events()[i];
      if (e.lane != lane) continue;
      last = std::max(at(e.at), last + 2 * mark_radius + 1);
      sheet_.mark(last, top + lane_height / 2, i + 1);
    }
  }

  void legend() {
    double x = plot_left;
    for (std::size_t i = 0; i < activities; ++i) {
      const auto is_used = [i](const span& s) { return static_cast<std::size_t>(s.what) == i; };
      if (std::none_of(line_.spans().begin(), line_.spans().end(), is_used)) continue;
      constexpr double box = 10, advance = 8.2;
      sheet_.rect(classes[i], x, sheet_.y - box, box, box);
      sheet_.text(x + box + 6, meanings[i], "faint");
      x += 3 * box + advance * static_cast<double>(std::string(meanings[i]).size());
    }
    if (x > plot_left) sheet_.y += line_height;
  }

  void events() {
    sheet_.y += 4;
    for (std::size_t i = 0; i < line_.events().size(); ++i) {
      const event& e = line_.events()[i];
      std::string start = std::to_string(i + 1);
      start.insert(0, start.size() < 2 ? 2 - start.size() : 0, ' ');
      std::string time = in_ms(e.at);
      time.insert(0, time.size() < 8 ? 8 - time.size() : 0, ' ');
      sheet_.text(margin, start + time + "  " + line_.lanes()[e.lane], "faint");
      for (const std::string& piece : wrapped(e.text, columns)) {
        sheet_.text(plot_left + 84, piece, class_of(e.how));
        sheet_.y += line_height;
      }
    }
  }

  void ending(const variant& v) {
    const bool is_bad = v.expected == verdict::breaks;
    std::string words = to_text(v.expected);
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
    sheet_.y += 6;
    for (const std::string& piece : wrapped(words + ": " + play_.outcome, columns + 24)) {
      sheet_.text(margin, piece, is_bad ? "bad" : "good");
      sheet_.y += line_height;
    }
  }

  sheet& sheet_;
  const play& play_;
  const timeline& line_;
};

}  // namespace

std::string to_svg(const story& s, const std::vector<const play*>& plays) {
  sheet all;
  for (std::size_t i = 0; i < plays.size(); ++i) panel(all, *plays[i]).draw(s.variants[i], i + 1);
  return all.whole(s.title);
}

}  // namespace holdfast::lab
