// OpenSSL, loaded when the first TLS connection is made. A program that opens no TLS URL, as most
// runs of the command do, does not pay for libcrypto: relocating it takes as long as everything
// else that the command does for an uncontended file lock.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace holdfast::io {

// The functions in use, under their own names. Where the headers have a macro, the function it
// calls.
#define HOLDFAST_OPENSSL_FUNCTIONS(each)                                                           \
  each(BIO_free) each(BIO_new) each(BIO_read) each(BIO_s_mem) each(BIO_write)                      \
      each(ERR_clear_error) each(ERR_get_error) each(ERR_peek_error) each(ERR_reason_error_string) \
          each(SSL_CTX_ctrl) each(SSL_CTX_free) each(SSL_CTX_load_verify_locations)                \
              each(SSL_CTX_new) each(SSL_CTX_set_default_verify_paths) each(SSL_CTX_set_options)   \
                  each(SSL_CTX_set_verify) each(SSL_CTX_use_PrivateKey_file)                       \
                      each(SSL_CTX_use_certificate_chain_file) each(SSL_ctrl)                      \
                          each(SSL_do_handshake) each(SSL_free) each(SSL_get0_param)               \
                              each(SSL_get_error) each(SSL_get_rbio) each(SSL_get_verify_result)   \
                                  each(SSL_get_wbio) each(SSL_new) each(SSL_read)                  \
                                      each(SSL_set1_host) each(SSL_set_bio)                        \
                                          each(SSL_set_connect_state) each(SSL_shutdown)           \
                                              each(SSL_write) each(TLS_client_method)              \
                                                  each(X509_VERIFY_PARAM_set1_ip_asc)              \
                                                      each(X509_VERIFY_PARAM_set_hostflags)        \
                                                          each(X509_verify_cert_error_string)

struct openssl_functions {
#define HOLDFAST_OPENSSL_MEMBER(name) decltype(&::name) name = nullptr;
  HOLDFAST_OPENSSL_FUNCTIONS(HOLDFAST_OPENSSL_MEMBER)
#undef HOLDFAST_OPENSSL_MEMBER
};

// Null when the library cannot be loaded; then `why`, if given, gets the reason and the remedy.
// Loads at the first call; safe from any thread.
const openssl_functions* openssl(const char** why = nullptr) noexcept;

}  // namespace holdfast::io
