// RESP2, the protocol of Redis. Commands are always arrays of bulk strings with their lengths, so
// that no name, id or note can be mistaken for anything else; hiredis' parser reads the replies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace holdfast::redis {

// Appends one command to a buffer; the number of arguments must match the constructor's.
class command {
 public:
  command(std::string& out, std::size_t arguments);
  command& operator<<(std::string_view);
  // A text that is written in place: size() bytes.
  template <class Text>
  requires requires(const Text& t, char* to) {
    t.size();
    t.write_to(to);
  }
  command& operator<<(const Text& text) {
    text.write_to(argument(text.size()));
    return *this;
  }
  command& operator<<(std::int64_t);

 private:
  char* argument(std::size_t bytes);
  std::string& out_;
};

// Appends the command of these words.
template <class... Words>
void append_command(std::string& out, const Words&... words) {
  command c(out, sizeof...(words));
  ((c << words), ...);
}

// One reply, valid until the next is read. Nothing is allocated for one once the reader has read a
// few of its size.
class value {
 public:
  enum class kind : unsigned char { nil, integer, status, text, error, array };

  kind what() const noexcept { return kind_; }
  bool is(kind k) const noexcept { return kind_ == k; }
  std::int64_t integer() const noexcept;                // 0 unless it is one
  std::string_view text() const noexcept;               // of status, text and error; else empty
  std::size_t size() const noexcept;                    // of an array; else 0
  value operator[](std::size_t) const noexcept;         // nil if out of range
  value next() const noexcept;                          // of the same array; nil after the last
  bool is_error(std::string_view code) const noexcept;  // its first word
  bool has_errors() const noexcept;                     // the whole reply, or some part of it

 private:
  friend class reply_reader;
  friend struct reply_builder;
  struct tree;
  static const tree nothing;  // a nil
  value(const tree&, std::uint32_t node) noexcept;
  const tree* tree_;
  std::uint32_t node_;
  kind kind_;
};

class reply_reader {
 public:
  reply_reader();
  ~reply_reader();
  reply_reader(const reply_reader&) = delete;
  reply_reader& operator=(const reply_reader&) = delete;

  // False when it is not RESP, is nested deeper than 7, or has more than bytes_max or nodes_max;
  // then nothing more can be read and fault() tells why.
  bool feed(std::span<const std::byte>);
  // The next reply, until there is none or one is not taken, with which the next call begins. Tells
  // whether the reader still works.
  template <class Take>
  bool for_each(Take take) {
    while (is_kept_ || next()) {
      is_kept_ = !take(value(*current_, 0));
      if (is_kept_) return true;
    }
    return fault_.empty();
  }
  // Shows replies behind one that was not taken, until there is none or look(value) is false. Each
  // is shown once, and for_each() passes it on all the same.
  template <class Look>
  void look_ahead(Look look) {
    while (is_kept_ && read_ahead())
      if (!look(value(*ahead_.back(), 0))) return;
  }
  bool is_kept() const noexcept { return is_kept_; }  // a reply that was not taken
  // That were read, and that for_each() has passed on, with one that was not taken.
  std::uint64_t replies() const noexcept { return replies_; }
  std::uint64_t passed_on() const noexcept { return replies_ - ahead_.size(); }
  const std::string& fault() const noexcept { return fault_; }

  static constexpr std::size_t bytes_max = 1 << 20;  // in one reply
  static constexpr std::size_t nodes_max = 65536;
  static constexpr int depth_max = 7;

 private:
  using reply = std::unique_ptr<value::tree>;
  bool next();
  bool read();  // into unread_
  bool read_ahead();

  redisReader* reader_;
  reply current_, unread_;     // the latter perhaps in part
  std::deque<reply> ahead_;    // that follow the current one
  std::vector<reply> unused_;  // keep their room
  std::string fault_;
  std::uint64_t replies_ = 0;
  bool is_kept_ = false;
};

}  // namespace holdfast::redis
