#include <holdfast/holdfast.hpp>

#include <string>
#include <string_view>

// A service that accepts writes from the holders of a lock.
class document {
 public:
  bool write(std::string_view text, std::int64_t token, std::string_view owner) {
    if (!guard_.admit(token, owner)) return false;  // from an earlier holder
    text_ = text;
    return true;
  }

 private:
  holdfast::fencing_guard guard_;
  std::string text_;
};

bool save(document& to, const holdfast::lease& lease) {
  return to.write("draft", lease.token(), lease.owner());
}
