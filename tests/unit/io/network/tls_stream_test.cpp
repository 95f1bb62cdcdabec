#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <csignal>
#include <vector>

#include "io/real_environment.hpp"
#include "testkit/servers/certificates.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/io/network/loop_fixture.hpp"

namespace holdfast::network_tests {
namespace {

using testkit::certificates;

// A server that takes one connection, echoes in TLS, and ends when the client does.
class tls_echo {
 public:
  struct terms {
    std::string name = "server";
    bool wants_certificate = false;
    int newest = TLS1_3_VERSION;
    bool cuts = false;  // after the first bytes, without an end of TLS
  };
  tls_echo(const certificates& files, const terms& t)
      : context_(::SSL_CTX_new(TLS_server_method())), cuts_(t.cuts) {
    const auto certificate = files.certificate(t.name), key = files.key(t.name);
    ::SSL_CTX_set_security_level(context_, 0);
    ::SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    ::SSL_CTX_set_max_proto_version(context_, t.newest);
    EXPECT_EQ(::SSL_CTX_use_certificate_file(context_, certificate.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(::SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM), 1);
    if (t.wants_certificate) {
      ::SSL_CTX_load_verify_locations(context_, files.certificate("ca").c_str(), nullptr);
      ::SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    thread_ = std::thread([this] { run(); });
  }
  tls_echo(const tls_echo&) = delete;
  tls_echo& operator=(const tls_echo&) = delete;
  ~tls_echo() {
    thread_.join();
    ::SSL_CTX_free(context_);
  }
  const base::address& at() const { return listener_.at; }
  std::string asked_for;  // the name in the client's hello

 private:
  void run() {
    peer p(listener_.accept());
    const ::timeval limit{.tv_sec = 30, .tv_usec = 0};  // for a client that a failed test leaves
    ::setsockopt(p.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    SSL* const ssl = ::SSL_new(context_);
    ::SSL_set_fd(ssl, p.fd());
    if (::SSL_accept(ssl) == 1) {
      const char* const name = ::SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
      if (name) asked_for = name;
      std::vector<char> buffer(100'000);
      int n;
      while ((n = ::SSL_read(ssl, buffer.data(), int(buffer.size()))) > 0)
        if (cuts_ || ::SSL_write(ssl, buffer.data(), n) <= 0) break;
      if (n == 0) ::SSL_shutdown(ssl);
    }
    ::SSL_free(ssl);
    ::ERR_clear_error();
  }
  SSL_CTX* context_;
  const bool cuts_;
  listener listener_;
  std::thread thread_;
};

class tls_stream : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own sockets, of the server
    folder_ = new testkit::scratch_folder;
    files_ = new certificates(*folder_);
  }
  static void TearDownTestSuite() {
    delete files_;
    delete folder_;
  }
  base::tls_terms terms(const std::string& host = "127.0.0.1") {
    return {host, files_->certificate("ca"), {}, {}};
  }
  void connect(const base::address& to, const base::tls_terms& t) {
    user_.expecting = true;
    stream_ = loop_->connect(to, &t, ear_);
  }
  // Not opened, and told why.
  void expect_refused(const base::address& to, const base::tls_terms& t, const std::string& text) {
    connect(to, t);
    ASSERT_TRUE(ear_.closes());
    EXPECT_FALSE(ear_.is_open);
    EXPECT_EQ(ear_.why.code, errc::refused);
    EXPECT_NE(ear_.why.text.find(text), std::string::npos) << ear_.why.text;
  }

  inline static testkit::scratch_folder* folder_ = nullptr;
  inline static certificates* files_ = nullptr;
  user user_;
  ear ear_;
  std::array<ear, 5> ears_;
  std::unique_ptr<base::stream> stream_;
  std::unique_ptr<base::event_loop> loop_ =
      io::real_environment().make_loop(user_, base::driven_by::callers, "test");
};

TEST_F(tls_stream, opens_to_a_verified_address_writes_reads_and_ends) {
  tls_echo server(*files_, {});
  int openings = 0;
  ear_.when_open = [&] { ++openings; };
  connect(server.at(), terms());
  ASSERT_TRUE(ear_.opens()) << ear_.why.text;
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string piece(static_cast<std::size_t>(i * i * 20 + 1),
                            static_cast<char>('a' + i % 26));
    stream_->write(bytes(piece));
    all += piece;
  }
  EXPECT_TRUE(ear_.hears(all));
  stream_->finish();
  ASSERT_TRUE(ear_.closes());
  EXPECT_EQ(openings, 1);
}

// OpenSSL's errors are the thread's, and other code may leave some behind.
TEST_F(tls_stream, errors_that_others_left_in_the_thread_end_no_connection) {
  const auto leave_error = [] { ERR_raise(ERR_LIB_USER, 1); };
  tls_echo server(*files_, {}), next(*files_, {});
  ear_.when_open = leave_error;
  ear_.when_bytes = [&](const std::string&) { leave_error(); };
  ear_.when_closed = leave_error;
  connect(server.at(), terms());
  ASSERT_TRUE(ear_.opens()) << ear_.why.text;
  stream_->write(bytes("x"));
  EXPECT_TRUE(ear_.hears("x")) << ear_.why.text;
  stream_->finish();
  ASSERT_TRUE(ear_.closes());
  EXPECT_NE(ear_.why.code, errc::refused) << ear_.why.text;
  const auto t = terms();
  const auto other = loop_->connect(next.at(), &t, ears_[0]);
  EXPECT_TRUE(ears_[0].opens()) << ears_[0].why.text;
  other->finish();
  EXPECT_TRUE(ears_[0].closes());
}

TEST_F(tls_stream, many_threads_may_write_one_after_the_other) {
  tls_echo server(*files_, {});
  connect(server.at(), terms());
  ASSERT_TRUE(ear_.opens()) << ear_.why.text;
  std::mutex one_at_a_time;
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const std::lock_guard l(one_at_a_time);
        stream_->write(bytes("x"));
      }
    });
  for (auto& t : writers) t.join();
  EXPECT_TRUE(ear_.hears(std::string(400, 'x')));
  stream_->abort();
  EXPECT_TRUE(ear_.closes());
}

TEST_F(tls_stream, a_host_is_verified_by_name_and_sent_to_the_server) {
  tls_echo server(*files_, {});
  connect(server.at(), terms("localhost"));
  ASSERT_TRUE(ear_.opens()) << ear_.why.text;
  stream_->write(bytes("hello"));
  EXPECT_TRUE(ear_.hears("hello"));
  EXPECT_EQ(server.asked_for, "localhost");
  loop_.reset();
}

TEST_F(tls_stream, speaks_tls_1_2) {
  tls_echo server(*files_, {.newest = TLS1_2_VERSION});
  connect(server.at(), terms());
  ASSERT_TRUE(ear_.opens()) << ear_.why.text;
  stream_->write(bytes("hello"));
  EXPECT_TRUE(ear_.hears("hello"));
  loop_.reset();
}

TEST_F(tls_stream, no_handshake_is_blamed_where_nobody_listens) {
  listener nobody;
  const base::address at = nobody.at;
  nobody.close();
  connect(at, terms());
  ASSERT_TRUE(ear_.closes());
  EXPECT_EQ(ear_.why.text.find("handshake"), std::string::npos) << ear_.why.text;
}

TEST_F(tls_stream, no_handshake_is_blamed_for_a_connection_that_breaks_after_it) {
  tls_echo server(*files_, {.cuts = true});
  connect(server.at(), terms());
  ASSERT_TRUE(ear_.opens());
  stream_->write(bytes("hello"));
  ASSERT_TRUE(ear_.closes());
  EXPECT_EQ(ear_.why.text.find("handshake"), std::string::npos) << ear_.why.text;
}

TEST_F(tls_stream, speaks_nothing_older) {
  tls_echo server(*files_, {.newest = TLS1_1_VERSION});
  expect_refused(server.at(), terms(), "does not offer TLS 1.2 or later");
}

TEST_F(tls_stream, an_expired_certificate_is_refused) {
  tls_echo server(*files_, {.name = "expired"});
  expect_refused(server.at(), terms(), "has expired");
}

TEST_F(tls_stream, a_certificate_of_another_host_is_refused) {
  tls_echo server(*files_, {.name = "stranger"});
  expect_refused(server.at(), terms("localhost"), "not for localhost");
}

TEST_F(tls_stream, a_certificate_of_another_address_is_refused) {
  tls_echo server(*files_, {.name = "stranger"});
  expect_refused(server.at(), terms(), "not for 127.0.0.1");
}

TEST_F(tls_stream, a_certificate_that_nobody_known_has_signed_is_refused) {
  tls_echo server(*files_, {});
  auto t = terms();
  t.ca_file = files_->certificate("other-ca");
  expect_refused(server.at(), t, "tls-ca");
}

TEST_F(tls_stream, the_system_s_authorities_do_not_know_a_test_s) {
  tls_echo server(*files_, {});
  auto t = terms();
  t.ca_file.clear();
  expect_refused(server.at(), t, "tls-ca");
}

TEST_F(tls_stream, a_client_s_certificate_is_shown) {
  tls_echo server(*files_, {.wants_certificate = true});
  auto t = terms();
  t.certificate_file = files_->certificate("client");
  t.key_file = files_->key("client");
  connect(server.at(), t);
  ASSERT_TRUE(ear_.opens()) << ear_.why.text;
  stream_->write(bytes("hello"));
  EXPECT_TRUE(ear_.hears("hello"));
  loop_.reset();
}

TEST_F(tls_stream, a_missing_certificate_of_the_client_is_reported) {
  tls_echo server(*files_, {.wants_certificate = true});
  connect(server.at(), terms());
  ASSERT_TRUE(ear_.closes());  // in TLS 1.3 perhaps after it has opened
  EXPECT_NE(ear_.why.text.find("tls-cert"), std::string::npos) << ear_.why.text;
}

TEST_F(tls_stream, a_server_that_speaks_plain_text_is_named) {
  listener l;
  std::thread server([&] {
    peer p(l.accept());
    p.receive(1);
    p.send("-ERR unknown command\r\n");
    p.receive(100'000);
  });
  expect_refused(l.at, terms(), "does not speak TLS");
  server.join();
}

TEST_F(tls_stream, a_server_that_closes_in_the_handshake_is_named) {
  listener l;
  std::thread server([&] { peer p(l.accept()); });
  connect(l.at, terms());
  ASSERT_TRUE(ear_.closes());
  EXPECT_NE(ear_.why.text.find("does the server speak TLS"), std::string::npos) << ear_.why.text;
  server.join();
}

TEST_F(tls_stream, files_that_cannot_be_read_are_named) {
  listener l;
  folder_->write("no.pem", "this is no certificate");
  const auto no_pem = folder_->file("no.pem");
  const auto mine = files_->certificate("client");
  const base::tls_terms bad[] = {{"localhost", "/nowhere/ca.crt", {}, {}},
                                 {"localhost", no_pem, {}, {}},
                                 {"localhost", {}, "/nowhere/client.crt", {}},
                                 {"localhost", {}, mine, no_pem},
                                 {"localhost", {}, mine, files_->key("server")}};
  const std::string named[] = {"/nowhere/ca.crt", no_pem, "/nowhere/client.crt", no_pem,
                               files_->key("server")};
  std::vector<std::unique_ptr<base::stream>> refused;
  for (std::size_t i = 0; i < std::size(named); ++i) {
    ear& e = ears_[i];
    refused.push_back(loop_->connect(l.at, &bad[i], e));
    ASSERT_TRUE(e.closes());
    EXPECT_EQ(e.why.text.find("gives no reason"), std::string::npos) << e.why.text;
    EXPECT_EQ(e.why.code, errc::bad_option);
    EXPECT_NE(e.why.text.find(named[i]), std::string::npos) << e.why.text;
  }
  EXPECT_NE(ears_[0].why.text.find("No such file or directory"), std::string::npos);
  EXPECT_NE(ears_[3].why.text.find("cannot be read"), std::string::npos) << ears_[3].why.text;
  EXPECT_NE(ears_[4].why.text.find("is not that of the certificate"), std::string::npos)
      << ears_[4].why.text;
}

}  // namespace
}  // namespace holdfast::network_tests
