#include "lab/timeline_text.hpp"

#include <algorithm>
#include <array>

namespace holdfast::lab {

namespace {

constexpr std::size_t label_columns = 12;
constexpr std::size_t cells = 80;  // of a bar; marks may stand a few columns further right
constexpr const char* green = "32";
constexpr const char* red = "1;31";
constexpr const char* yellow = "33";
constexpr const char* magenta = "35";
constexpr const char* cyan = "36";
constexpr const char* faint = "2";

struct look {
  const char* cell;
  const char* ansi;
  const char* meaning;
};
// In the order of `activity`.
constexpr std::array<look, activities> looks{{
    {"█", green, "holds the lock"},
    {"▒", red, "believes that it holds the lock"},
    {"▚", magenta, "dead, its lock remains"},
    {"▆", cyan, "has a lock of its own"},
    {"░", yellow, "process stopped"},
    {"·", faint, "waits"},
}};

std::string painted(const std::string& text, const char* ansi, colour c) {
  if (c == colour::off || text.empty()) return text;
  return std::string("\x1b[") + ansi + 'm' + text + "\x1b[0m";
}

const char* ansi_of(tone t) { return t == tone::good ? green : t == tone::bad ? red : "39"; }

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}
std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string joined(const std::vector<std::string>& lines, const std::string& indent) {
  std::string all;
  for (const std::string& line : lines) all += indent + line + '\n';
  return all;
}

class drawing {
 public:
  drawing(const timeline& t, colour c) : line_(t), colour_(c) {}

  std::string text() const {
    std::string all = axis();
    for (std::size_t lane = 0; lane < line_.lanes().size(); ++lane) all += bar(lane) + marks(lane);
    return all + overlaps() + legend() + '\n' + events();
  }

 private:
  std::size_t column(double time) const {
    const double at = time / line_.length() * static_cast<double>(cells);
    return std::min(static_cast<std::size_t>(at), cells - 1);
  }

  std::string axis() const {
    std::string row(cells + label_columns, ' ');
    const double tick = tick_of(line_.length());
    for (double at = 0; at <= line_.length(); at += tick) {
      const std::string mark = '|' + (at > 0 ? std::to_string(static_cast<long>(at)) : "0 ms");
      row.replace(column(at), mark.size(), mark);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    return padded("", label_columns) + painted(row, faint, colour_) + '\n';
  }

  std::string bar(std::size_t lane) const {
    std::vector<const look*> row(cells, nullptr);
    for (const span& s : line_.spans()) {
      if (s.lane != lane) continue;
      for (std::size_t i = column(s.begin); i <= column(s.end); ++i)
        row[i] = &looks[static_cast<std::size_t>(s.what)];
    }
    std::string all = padded(line_.lanes()[lane], label_columns);
    while (!row.empty() && !row.back()) row.pop_back();
    if (row.empty()) return line_.lanes()[lane] + '\n';
    for (const look* cell : row) all += cell ? painted(cell->cell, cell->ansi, colour_) : " ";
    return all + '\n';
  }

  // The numbers of the lane's events, below its bar; a number that has no room moves to the right.
  std::string marks(std::size_t lane) const {
    std::string row;
    for (std::size_t i = 0; i < line_.events().size(); ++i) {
      const event& e = line_.events()[i];
      if (e.lane != lane) continue;
      const std::size_t at = std::max(column(e.at), row.empty() ? 0 : row.size() + 1);
      row = padded(row, at) + std::to_string(i + 1);
    }
    return padded("", label_columns) + row + '\n';
  }

  std::string overlaps() const {
    std::vector<bool> row(cells, false);
    for (const interval& o : line_.overlaps())
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(column(o.begin)),
                row.begin() + static_cast<std::ptrdiff_t>(column(o.end)) + 1, true);
    if (std::find(row.begin(), row.end(), true) == row.end()) return {};
    std::string all = padded("TWO HOLDERS", label_columns);
    while (!row.back()) row.pop_back();
    for (const bool is_double : row) all += is_double ? "!" : " ";
    return painted(all, red, colour_) + '\n';
  }

  std::string legend() const {
    std::string all;
    for (std::size_t i = 0; i < activities; ++i) {
      const auto is_used = [i](const span& s) { return static_cast<std::size_t>(s.what) == i; };
      if (std::none_of(line_.spans().begin(), line_.spans().end(), is_used)) continue;
      all += (all.empty() ? "" : "   ") + painted(looks[i].cell, looks[i].ansi, colour_) + ' ' +
             looks[i].meaning;
    }
    return all.empty() ? "" : padded("", label_columns) + all + '\n';
  }

  std::string events() const {
    constexpr std::size_t time_width = 9;
    constexpr std::size_t before = 4 + time_width + 2 + label_columns;
    std::string all;
    for (std::size_t i = 0; i < line_.events().size(); ++i) {
      const event& e = line_.events()[i];
      std::string start = right(std::to_string(i + 1), 4) + right(in_ms(e.at), time_width) + "  " +
                          padded(line_.lanes()[e.lane], label_columns);
      for (const std::string& piece : wrapped(e.text, text_width - before)) {
        all += start + painted(piece, ansi_of(e.how), colour_) + '\n';
        start = padded("", before);
      }
    }
    return all;
  }

  const timeline& line_;
  const colour colour_;
};

}  // namespace

std::string to_text(const timeline& t, colour c) { return drawing(t, c).text(); }

std::string heading_of(const story& s, colour c) {
  return painted(std::string(s.name) + ": " + s.title, "1", c) + "\n\n" +
         joined(wrapped(s.question, text_width - 2), "  ") + '\n';
}

std::string heading_of(const variant& v, std::size_t number, colour c) {
  return painted(std::to_string(number) + ". " + v.lock, "1;4", c) + "\n\n";
}

std::string ending_of(const variant& v, const play& p, const std::string& problem, colour c) {
  const char* ansi = v.expected == verdict::breaks ? red : green;
  const std::string result = std::string("=> ") + to_text(v.expected) + ": ";
  if (!problem.empty())
    return '\n' +
           painted("=> FAILED, expected \"" + std::string(to_text(v.expected)) + "\": " + problem,
                   red, c) +
           "\n\n";
  const auto lines = wrapped(result + p.outcome, text_width - 2);
  std::string all = "\n";
  for (const std::string& line : lines) all += painted(line, ansi, c) + '\n';
  return all + '\n';
}

}  // namespace holdfast::lab
