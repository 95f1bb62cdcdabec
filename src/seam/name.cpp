#include "seam/name.hpp"

namespace holdfast::seam {
namespace {

enum class text_fault { none, not_utf8, control };

struct lead_byte {
  unsigned char first, last;
  // Narrower where overlong forms and surrogates would lie.
  unsigned char second_least, second_most;
  unsigned char followers;
};

// The well-formed byte sequences of UTF-8: Unicode standard, table 3-7.
constexpr lead_byte leads[] = {
    {0x00, 0x7f, 0x00, 0x00, 0}, {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
    {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
    {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
};

const lead_byte* find_lead(unsigned char byte) noexcept {
  for (const lead_byte& lead : leads)
    if (byte >= lead.first && byte <= lead.last) return &lead;
  return nullptr;
}

text_fault check(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte_at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const unsigned char first = byte_at(i);
    const lead_byte* const lead = find_lead(first);
    if (!lead || i + lead->followers >= text.size()) return text_fault::not_utf8;
    if (first < 0x20 || first == 0x7f) return text_fault::control;
    for (std::size_t k = 1; k <= lead->followers; ++k) {
      const unsigned char least = k == 1 ? lead->second_least : 0x80;
      const unsigned char most = k == 1 ? lead->second_most : 0xbf;
      if (byte_at(i + k) < least || byte_at(i + k) > most) return text_fault::not_utf8;
    }
    if (first == 0xc2 && byte_at(i + 1) < 0xa0) return text_fault::control;  // C1: U+0080..U+009F
    i += 1u + lead->followers;
  }
  return text_fault::none;
}

}  // namespace

std::string_view name_fault(std::string_view name) noexcept {
  if (name.empty()) return "the name is empty; give it 1 to 512 bytes of UTF-8";
  if (name.size() > name_bytes_max) return "the name is longer than 512 bytes; shorten or hash it";
  switch (check(name)) {
    case text_fault::not_utf8: return "the name is not UTF-8; encode it";
    case text_fault::control: return "the name contains a control character; remove it";
    case text_fault::none: return {};
  }
  return {};
}

std::string_view note_fault(std::string_view note) noexcept {
  if (note.size() > note_bytes_max) return "the note is longer than 256 bytes; shorten it";
  switch (check(note)) {
    case text_fault::not_utf8: return "the note is not UTF-8; encode it";
    case text_fault::control: return "the note contains a control character; remove it";
    case text_fault::none: return {};
  }
  return {};
}

std::string kind_fault(std::int64_t held, std::int64_t requested) {
  const auto name_of = [](std::int64_t of) {
    return of == 0 ? std::string("a lock") : "a semaphore of " + std::to_string(of) + " permits";
  };
  return "its current holders use it as " + name_of(held) + ", and it was requested as " +
         name_of(requested) + ": use another name for one of them";
}

}  // namespace holdfast::seam
