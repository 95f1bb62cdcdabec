#include "backend/redis/transport/resp.hpp"

#include <hiredis/read.h>

#include <charconv>
#include <cstring>
#include <new>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::size_t head_max = 24;    // kind, digits, end of line
constexpr std::size_t unused_max = 64;  // replies

// "$12" and its end of line. Where it ends.
char* write_head(char* at, char kind, std::size_t n) noexcept {
  *at++ = kind;
  at = std::to_chars(at, at + 20, n).ptr;
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

}  // namespace

command::command(std::string& out, std::size_t arguments) : out_(out) {
  char head[head_max];
  out_.append(head, static_cast<std::size_t>(write_head(head, '*', arguments) - head));
}

// Room for one argument, complete but for its bytes.
char* command::argument(std::size_t bytes) {
  char head[head_max];
  const auto head_bytes = static_cast<std::size_t>(write_head(head, '$', bytes) - head);
  const std::size_t before = out_.size();
  out_.resize(before + head_bytes + bytes + 2, '\n');
  char* const at = out_.data() + before;
  std::memcpy(at, head, head_bytes);
  at[head_bytes + bytes] = '\r';
  return at + head_bytes;
}

command& command::operator<<(std::string_view text) {
  char head[head_max];
  out_.append(head, static_cast<std::size_t>(write_head(head, '$', text.size()) - head));
  out_.append(text).append("\r\n", 2);
  return *this;
}

command& command::operator<<(std::int64_t n) {
  char digits[24];
  return *this << std::string_view(digits, std::to_chars(digits, digits + 24, n).ptr - digits);
}

// The nodes of one reply, in the order in which they are read: a parent before its children, and
// siblings chained, since arrays may stand in arrays.
struct value::tree {
  struct node {
    kind what = kind::nil;
    std::uint32_t next = 0;      // sibling; 0: none
    std::uint32_t children = 0;  // how many, of an array
    std::uint32_t first = 0, last = 0;
    std::int64_t number = 0;  // the integer, or where the text begins
    std::uint32_t length = 0;
  };
  std::vector<node> nodes;
  std::string texts;
  bool has_errors = false;
};

// hiredis calls these for each object. What they return stands for a node: its place plus one.
struct reply_builder {
  using tree = value::tree;
  using kind = value::kind;

  static tree& of(const redisReadTask* t) { return *static_cast<tree*>(t->privdata); }

  static void* add(const redisReadTask* task, tree::node made) noexcept try {
    tree& t = of(task);
    if (t.nodes.size() >= reply_reader::nodes_max) return nullptr;
    const auto place = static_cast<std::uint32_t>(t.nodes.size());
    t.nodes.push_back(made);
    if (task->parent) {
      tree::node& parent = t.nodes[reinterpret_cast<std::uintptr_t>(task->parent->obj) - 1];
      (parent.first ? t.nodes[parent.last].next : parent.first) = place;
      parent.last = place;
    }
    // hiredis hands it back as a parent: a place, never followed.
    return reinterpret_cast<void*>(std::uintptr_t{place} + 1);  // NOLINT(performance-no-int-to-ptr)
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  static void* text(const redisReadTask* task, char* bytes, std::size_t length) {
    tree::node n;
    n.what = task->type == REDIS_REPLY_ERROR    ? kind::error
             : task->type == REDIS_REPLY_STATUS ? kind::status
                                                : kind::text;
    tree& t = of(task);
    t.has_errors = t.has_errors || n.what == kind::error;
    if (length > reply_reader::bytes_max - t.texts.size()) return nullptr;
    n.number = static_cast<std::int64_t>(t.texts.size());
    n.length = static_cast<std::uint32_t>(length);
    try {
      t.texts.append(bytes, length);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    return add(task, n);
  }

  // The count is an int before hiredis 1.0 and a size_t since. The types that RESP3 adds are
  // refused: no server sends them to a client that has not sent HELLO 3.
  template <typename Count>
  static void* array(const redisReadTask* task, Count elements) {
    if (task->type != REDIS_REPLY_ARRAY) return nullptr;
    if (static_cast<std::size_t>(elements) > reply_reader::nodes_max) return nullptr;
    int depth = 0;  // hiredis 1.0 has no limit of its own
    for (const redisReadTask* t = task->parent; t; t = t->parent) ++depth;
    if (depth >= reply_reader::depth_max) return nullptr;
    tree::node n;
    n.what = kind::array;
    n.children = static_cast<std::uint32_t>(elements);
    return add(task, n);
  }

  static void* integer(const redisReadTask* task, long long number) {
    tree::node n;
    n.what = kind::integer;
    n.number = number;
    return add(task, n);
  }

  static void* nil(const redisReadTask* task) { return add(task, {}); }
#ifdef REDIS_REPLY_DOUBLE
  static void* real(const redisReadTask*, double, char*, std::size_t) { return nullptr; }
  static void* boolean(const redisReadTask*, int) { return nullptr; }
#endif
  static void drop(void*) {}
};

value::value(const tree& t, std::uint32_t node) noexcept
    : tree_(&t), node_(node), kind_(t.nodes[node].what) {}

std::int64_t value::integer() const noexcept {
  return is(kind::integer) ? tree_->nodes[node_].number : 0;
}

std::string_view value::text() const noexcept {
  const tree::node& n = tree_->nodes[node_];
  if (kind_ != kind::status && kind_ != kind::text && kind_ != kind::error) return {};
  return std::string_view(tree_->texts).substr(static_cast<std::size_t>(n.number), n.length);
}

std::size_t value::size() const noexcept {
  return is(kind::array) ? tree_->nodes[node_].children : 0;
}

const value::tree value::nothing{{tree::node{}}, {}};

value value::next() const noexcept {
  const std::uint32_t at = tree_->nodes[node_].next;
  return at ? value{*tree_, at} : value{nothing, 0};
}

value value::operator[](std::size_t i) const noexcept {
  if (i >= size()) return {nothing, 0};
  std::uint32_t at = tree_->nodes[node_].first;
  while (i-- > 0) at = tree_->nodes[at].next;
  return {*tree_, at};
}

bool value::has_errors() const noexcept { return tree_->has_errors; }

bool value::is_error(std::string_view code) const noexcept {
  return is(kind::error) && text().substr(0, text().find(' ')) == code;
}

reply_reader::reply_reader()
    : current_(std::make_unique<value::tree>()), unread_(std::make_unique<value::tree>()) {
  static redisReplyObjectFunctions functions = [] {
    redisReplyObjectFunctions f{};
    f.createString = reply_builder::text;
    f.createArray = reply_builder::array;
    f.createInteger = reply_builder::integer;
    f.createNil = reply_builder::nil;
#ifdef REDIS_REPLY_DOUBLE  // hiredis 1.0 or later
    f.createDouble = reply_builder::real;
    f.createBool = reply_builder::boolean;
#endif
    f.freeObject = reply_builder::drop;
    return f;
  }();
  reader_ = redisReaderCreateWithFunctions(&functions);
  if (!reader_) throw std::bad_alloc();
}

reply_reader::~reply_reader() { redisReaderFree(reader_); }

bool reply_reader::feed(std::span<const std::byte> bytes) {
  if (!fault_.empty()) return false;
  // Behind a reply that is kept there may be many.
  if (!is_kept_ && reader_->len - reader_->pos + bytes.size() > 2 * bytes_max) {
    fault_ = "a reply exceeds the size limit";
  } else if (redisReaderFeed(reader_, reinterpret_cast<const char*>(bytes.data()), bytes.size()) !=
             REDIS_OK) {
    fault_ = reader_->errstr;
  }
  return fault_.empty();
}

bool reply_reader::read() {
  if (!fault_.empty()) return false;
  value::tree& to = *unread_;
  if (!reader_->reply && reader_->ridx == -1) {  // no reply is half read
    to.nodes.clear();
    to.texts.clear();
    to.has_errors = false;
  }
  reader_->privdata = &to;
  void* whole = nullptr;
  if (redisReaderGetReply(reader_, &whole) != REDIS_OK) {
    fault_ = reader_->err == REDIS_ERR_OOM ? "a reply exceeds the size limit" : reader_->errstr;
    return false;
  }
  replies_ += whole ? 1 : 0;
  return whole != nullptr;
}

bool reply_reader::next() {
  if (ahead_.empty()) {
    if (!read()) return false;
    std::swap(current_, unread_);
    return true;
  }
  std::swap(current_, ahead_.front());
  if (unused_.size() < unused_max) unused_.push_back(std::move(ahead_.front()));
  ahead_.pop_front();
  return true;
}

bool reply_reader::read_ahead() {
  if (!read()) return false;
  if (unused_.empty()) unused_.push_back(std::make_unique<value::tree>());
  ahead_.push_back(std::exchange(unread_, std::move(unused_.back())));
  unused_.pop_back();
  return true;
}

}  // namespace holdfast::redis
