// One TLS client session, without its socket.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "base/network.hpp"
#include "io/network/openssl.hpp"

namespace holdfast::io {

// Ciphertext goes in by feed() and comes out by take(). The server's certificate and name are
// verified; TLS 1.2 or newer. Not safe from two threads at a time.
class tls_session {
 public:
  // `where` is named in errors. Check trouble() before use.
  tls_session(const base::tls_terms&, std::string where);

  enum class state { under_way, done, failed };
  state shake_hands() noexcept;
  void feed(std::span<const std::byte>) noexcept;
  // Returns the number of bytes of plain text. 0: none now; then the state is done when the server
  // has announced that it writes no more.
  std::size_t read(std::span<std::byte>, state&) noexcept;
  void write(std::span<const std::byte>) noexcept;
  void send_close_notify() noexcept;
  // The bytes to send. Empty: none left.
  std::span<const std::byte> take(std::span<std::byte>) noexcept;

  const base::failure& trouble() const noexcept { return trouble_; }

 private:
  bool load(const base::tls_terms&);
  bool name_the_host(const std::string&);
  bool refuse(const std::string&, errc = errc::refused);
  void set_trouble();

  struct freed {
    void operator()(SSL* s) const noexcept;
    void operator()(SSL_CTX* c) const noexcept;
  };
  const std::string where_, host_;
  base::failure trouble_;
  std::unique_ptr<SSL_CTX, freed> context_;
  std::unique_ptr<SSL, freed> ssl_;
};

}  // namespace holdfast::io
