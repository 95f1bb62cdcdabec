#include "io/network/tls_session.hpp"

#include <limits>
#include <system_error>
#include <utility>

namespace holdfast::io {
namespace {

// Only for a session without trouble(): then the library is loaded.
const openssl_functions& tls() noexcept { return *openssl(); }

// Sends the host's name to the server (SNI).
long set_server_name(SSL* of, std::string name) {
  return tls().SSL_ctrl(of, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
}

std::string openssl_text(unsigned long error) {
  if (error == 0) return "the connection ended";
  if (ERR_SYSTEM_ERROR(error)) return std::generic_category().message(ERR_GET_REASON(error));
  const char* const reason = tls().ERR_reason_error_string(error);
  return reason ? reason : "OpenSSL gives no reason";
}

bool is_of_another_key(unsigned long error) {
  const int why = ERR_GET_REASON(error);
  return ERR_GET_LIB(error) == ERR_LIB_X509 &&
         (why == X509_R_KEY_VALUES_MISMATCH || why == X509_R_KEY_TYPE_MISMATCH);
}

int size_of(std::size_t n) noexcept {
  return static_cast<int>(std::min<std::size_t>(n, std::numeric_limits<int>::max()));
}

// The fault of the server's certificate, and the remedy.
std::string certificate_fault(long result, const std::string& host) {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate has expired; renew it, or set this machine's clock";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid yet; set the clocks";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not for " + host +
             "; connect with a name that is in it, or give that name as tls-host";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "no known authority has signed the server's certificate; give the certificate of its "
             "authority as tls-ca";
    default:
      return std::string("the server's certificate is not accepted (") +
             tls().X509_verify_cert_error_string(result) + ")";
  }
}

std::string handshake_fault(unsigned long error) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
      return "the server does not speak TLS there; give its TLS port, or connect without TLS";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "the server does not offer TLS 1.2 or later; enable it";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return "the server refuses the TLS handshake; does it want a certificate of the client? Give "
             "it as tls-cert and tls-key";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return "the server does not accept the client's certificate (" + openssl_text(error) +
             "); check tls-cert";
    default: return "TLS failed (" + openssl_text(error) + ')';
  }
}

}  // namespace

void tls_session::freed::operator()(SSL* s) const noexcept { tls().SSL_free(s); }
void tls_session::freed::operator()(SSL_CTX* c) const noexcept { tls().SSL_CTX_free(c); }

tls_session::tls_session(const base::tls_terms& t, std::string where)
    : where_(std::move(where)), host_(t.host) {
  const char* why_not = nullptr;
  if (!openssl(&why_not)) {
    refuse(why_not);
    return;
  }
  tls().ERR_clear_error();
  context_.reset(tls().SSL_CTX_new(tls().TLS_client_method()));
  if (!context_) {
    refuse("OpenSSL does not start");
    return;
  }
  if (!load(t)) return;
  ssl_.reset(tls().SSL_new(context_.get()));
  BIO* const in = tls().BIO_new(tls().BIO_s_mem());
  BIO* const out = tls().BIO_new(tls().BIO_s_mem());
  if (!ssl_ || !in || !out) {
    tls().BIO_free(in);
    tls().BIO_free(out);
    refuse("there is no memory for TLS");
    return;
  }
  tls().SSL_set_bio(ssl_.get(), in, out);
  tls().SSL_set_connect_state(ssl_.get());
  name_the_host(host_);
}

bool tls_session::refuse(const std::string& reason, errc code) {
  trouble_ = {code, where_ + ": " + reason};
  return false;
}

bool tls_session::load(const base::tls_terms& t) {
  SSL_CTX* const c = context_.get();
  const auto unreadable = [&](const std::string& file, const char* content) {
    return refuse(file + " cannot be read as " + content + " (" +
                      openssl_text(tls().ERR_get_error()) +
                      "); check the path, the rights and that it is PEM",
                  errc::bad_option);
  };
  tls().SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
  tls().SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  if (tls().SSL_CTX_ctrl(c, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr) != 1)
    return refuse("this OpenSSL has no TLS 1.2");
  if (t.ca_file.empty()) {
    tls().SSL_CTX_set_default_verify_paths(c);
  } else if (tls().SSL_CTX_load_verify_locations(c, t.ca_file.c_str(), nullptr) != 1) {
    return unreadable(t.ca_file, "certificates (tls-ca)");
  }
  if (t.certificate_file.empty()) return true;
  if (tls().SSL_CTX_use_certificate_chain_file(c, t.certificate_file.c_str()) != 1)
    return unreadable(t.certificate_file, "a certificate (tls-cert)");
  const std::string& key = t.key_file.empty() ? t.certificate_file : t.key_file;
  if (tls().SSL_CTX_use_PrivateKey_file(c, key.c_str(), SSL_FILETYPE_PEM) == 1) return true;
  if (is_of_another_key(tls().ERR_peek_error()))
    return refuse("the key in " + key + " is not that of the certificate in " + t.certificate_file +
                      "; give the two of one pair as tls-cert and tls-key",
                  errc::bad_option);
  return unreadable(key, "the certificate's private key (tls-key)");
}

bool tls_session::name_the_host(const std::string& host) {
  if (host.empty()) return refuse("there is no host name to verify; give it as tls-host");
  X509_VERIFY_PARAM* const terms = tls().SSL_get0_param(ssl_.get());
  if (tls().X509_VERIFY_PARAM_set1_ip_asc(terms, host.c_str()) == 1) return true;
  tls().X509_VERIFY_PARAM_set_hostflags(terms, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (tls().SSL_set1_host(ssl_.get(), host.c_str()) == 1 && set_server_name(ssl_.get(), host) == 1)
    return true;
  return refuse(host + " is not a host name; give another as tls-host");
}

void tls_session::set_trouble() {
  if (trouble_.code) return;
  const unsigned long error = tls().ERR_peek_error();
  const long verified = tls().SSL_get_verify_result(ssl_.get());
  const bool of_certificate =
      verified != X509_V_OK && ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED;
  refuse(of_certificate ? certificate_fault(verified, host_) : handshake_fault(error));
}

tls_session::state tls_session::shake_hands() noexcept {
  tls().ERR_clear_error();
  const int r = tls().SSL_do_handshake(ssl_.get());
  if (r == 1) return state::done;
  const int why = tls().SSL_get_error(ssl_.get(), r);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return state::under_way;
  set_trouble();
  return state::failed;
}

void tls_session::feed(std::span<const std::byte> bytes) noexcept {
  tls().BIO_write(tls().SSL_get_rbio(ssl_.get()), bytes.data(), size_of(bytes.size()));
}

std::size_t tls_session::read(std::span<std::byte> into, state& after) noexcept {
  tls().ERR_clear_error();
  after = state::under_way;
  const int n = tls().SSL_read(ssl_.get(), into.data(), size_of(into.size()));
  if (n > 0) return static_cast<std::size_t>(n);
  const int why = tls().SSL_get_error(ssl_.get(), n);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return 0;
  after = why == SSL_ERROR_ZERO_RETURN ? state::done : state::failed;
  if (after == state::failed) set_trouble();
  return 0;
}

void tls_session::write(std::span<const std::byte> bytes) noexcept {
  tls().ERR_clear_error();
  while (!bytes.empty()) {
    const int n = tls().SSL_write(ssl_.get(), bytes.data(), size_of(bytes.size()));
    if (n <= 0) return;  // the next read() reports the error
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void tls_session::send_close_notify() noexcept {
  tls().ERR_clear_error();
  tls().SSL_shutdown(ssl_.get());
}

std::span<const std::byte> tls_session::take(std::span<std::byte> into) noexcept {
  const int n = tls().BIO_read(tls().SSL_get_wbio(ssl_.get()), into.data(), size_of(into.size()));
  return into.first(n > 0 ? static_cast<std::size_t>(n) : 0);
}

}  // namespace holdfast::io
