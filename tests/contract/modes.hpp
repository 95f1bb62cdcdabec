// As what a behaviour is played: the kind of its locks, and of those that they keep out. A share is
// kept apart from writers, a writer from readers, a recursive lock from plain ones.
#pragma once
#include <array>
#include <initializer_list>

namespace contract {

enum class mode : unsigned char { exclusive, writer, shared, permit, recursive };

inline constexpr std::array all_modes = {mode::exclusive, mode::writer, mode::shared, mode::permit,
                                         mode::recursive};

// In which modes a behaviour is played, and which a subject has. The store knows three; a writer is
// to it what a mutex is, and a recursive lock too: what depends on the store alone is not repeated
// with those.
class in_modes {
 public:
  constexpr in_modes(std::initializer_list<mode> all) {
    for (const mode one : all) bits_ |= bit(one);
  }
  constexpr bool has(mode one) const { return (bits_ & bit(one)) != 0; }
  constexpr bool has_any_of(in_modes others) const { return (bits_ & others.bits_) != 0; }

 private:
  static constexpr unsigned bit(mode one) { return 1u << static_cast<unsigned>(one); }
  unsigned bits_ = 0;
};

inline constexpr in_modes exclusively{mode::exclusive};
inline constexpr in_modes recursively{mode::recursive};
inline constexpr in_modes shared{mode::shared};
inline constexpr in_modes with_permits{mode::permit};
inline constexpr in_modes exclusively_or_shared{mode::exclusive, mode::shared};
inline constexpr in_modes one_at_a_time{mode::exclusive, mode::permit};
inline constexpr in_modes as_a_lockable{mode::exclusive, mode::writer, mode::recursive};
inline constexpr in_modes at_the_store{mode::exclusive, mode::shared, mode::permit};
inline constexpr in_modes on_both_sides{mode::exclusive, mode::writer, mode::shared, mode::permit};
inline constexpr in_modes in_every_mode{mode::exclusive, mode::writer, mode::shared, mode::permit,
                                        mode::recursive};
inline constexpr in_modes of_a_mutex{mode::exclusive,
                                     mode::recursive};  // neither shares nor permits
inline constexpr in_modes but_permits{mode::exclusive, mode::writer, mode::shared, mode::recursive};

}  // namespace contract
