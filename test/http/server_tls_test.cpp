// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/client.hpp>

#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

/// A key and its self-signed certificate, as PEM files.
struct own_certificate {
  own_certificate()
    : folder(std::filesystem::temp_directory_path()
             / ("atelier-tls-" + std::to_string(getpid()))),
      certificate(folder / "certificate.pem"),
      key(folder / "key.pem") {
    std::filesystem::create_directories(folder);
    write(1);
  }

  /// Replaces the pair.
  /// @param from, to seconds from now in which it is valid
  /// @param foreign signed by an unknown authority
  void write(int64_t serial, int64_t from = 0, int64_t to = 3600,
             bool foreign = false) const {
    auto* const pair = EVP_EC_gen("P-256");
    auto* const signer = foreign ? EVP_EC_gen("P-256") : pair;
    auto* const x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set_int64(X509_get_serialNumber(x), serial);
    X509_gmtime_adj(X509_getm_notBefore(x), from);
    X509_gmtime_adj(X509_getm_notAfter(x), to);
    X509_set_pubkey(x, pair);
    auto* const name = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(
      name, "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(x, name);
    if (foreign)
      X509_NAME_add_entry_by_txt(
        X509_get_issuer_name(x), "O", MBSTRING_ASC,
        reinterpret_cast<const unsigned char*>("authority"), -1, -1, 0);
    BOOST_TEST_REQUIRE(X509_sign(x, signer, EVP_sha256()) > 0);
    if (foreign)
      EVP_PKEY_free(signer);
    auto* out = std::fopen(certificate.c_str(), "w");
    PEM_write_X509(out, x);
    std::fclose(out);
    out = std::fopen(key.c_str(), "w");
    PEM_write_PrivateKey(out, pair, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
    X509_free(x);
    EVP_PKEY_free(pair);
  }

  ~own_certificate() {
    std::filesystem::remove_all(folder);
  }

  std::filesystem::path folder;
  std::filesystem::path certificate;
  std::filesystem::path key;
};

struct tls_rig : server_rig {
  tls_rig() {
    with.settings.certificate = own.certificate;
    with.settings.private_key = own.key;
  }

  plain_client secret() const {
    return plain_client{port, true};
  }

  /// Sends a request to that host with `authorities` as trusted ones; returns
  /// the reason if it was not answered.
  std::string doubt(const std::string& host,
                    const std::string& authorities = {}) const {
    runtime::http::client_request x;
    x.url = "https://" + host + ":" + std::to_string(port) + "/hello";
    x.authorities = authorities;
    const auto reply = ask_server(x);
    return reply ? "none: " + reply->body : reply.why().text;
  }

  own_certificate own;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_tls_test, tls_rig)

BOOST_AUTO_TEST_CASE(requests_are_served_over_tls) {
  start();
  BOOST_TEST(server->url().starts_with("https://127.0.0.1:"));
  auto c = secret();
  BOOST_TEST_REQUIRE(c.had_handshake());
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
  BOOST_TEST(c.ask(request("GET", "/hello", "Connection: close\r\n")).body
             == "hello");
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(large_bodies_go_both_ways_over_tls) {
  start();
  const std::string body(3'000'000, 'x');
  auto c = secret();
  // The whole body is sent before the reply begins.
  BOOST_TEST((c.ask(request("POST", "/echo", {}, body)).body == body));
}

BOOST_AUTO_TEST_CASE(events_come_over_tls) {
  start();
  auto c = secret();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  x->begin_events();
  x->event("", "a");
  BOOST_TEST(c.read_until("data: a\n\n").ends_with("data: a\n\n"));
  c.reset();
  BOOST_TEST((gone.get_future().wait_for(30s) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(a_refusal_reaches_a_client_that_still_sends) {
  with.settings.body_bytes = 100'000;
  start();
  auto c = secret();
  BOOST_TEST(c.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Length: 300000\r\n\r\n"
                   + std::string(300'000, 'x'))
               .status
             == 413u);
}

BOOST_AUTO_TEST_CASE(who_does_not_speak_tls_is_ended) {
  start();
  auto c = client();
  BOOST_TEST(c.ask(request("GET", "/hello")).status == 0u);
  BOOST_TEST(secret().ask(request("GET", "/hello")).status == 200u);
}

BOOST_AUTO_TEST_CASE(a_slow_handshake_is_ended) {
  with.settings.read = 50ms;
  start();
  auto c = client();
  c.send("\x16\x03\x01");
  BOOST_TEST(c.at_end());
  BOOST_TEST(server->counts().timed_out == 1u);
}

BOOST_AUTO_TEST_CASE(stopping_waits_for_tls_too) {
  start();
  auto idle = secret();
  auto c = secret();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  auto stopped =
    std::async(std::launch::async, [&] { return server->stop(30s); });
  BOOST_TEST(idle.at_end());
  x->reply({200, "text/plain", {}, "in time"});
  BOOST_TEST(c.hear().body == "in time");
  BOOST_TEST(stopped.get());
}

BOOST_AUTO_TEST_CASE(the_programs_client_believes_no_stranger) {
  start();
  runtime::http::client_request x;
  x.url = server->url() + "/hello";
  const auto doubted = ask_server(x);
  BOOST_TEST_REQUIRE(!doubted);
  BOOST_TEST((doubted.why().code == core::ec::unavailable));
  x.any_certificate = true;
  const auto reply = ask_server(x);
  BOOST_TEST_REQUIRE(reply.operator bool());
  BOOST_TEST(reply->body == "hello");
}

BOOST_AUTO_TEST_CASE(the_client_tells_why_it_does_not_trust_and_what_helps) {
  start();
  const auto unknown = doubt("localhost");
  BOOST_TEST(has(unknown, "self-signed"), unknown);
  BOOST_TEST(has(unknown, "--cacert FILE"), unknown);
  BOOST_TEST(doubt("localhost", own.certificate) == "none: hello");
  const auto other = doubt("127.0.0.1", own.certificate);
  BOOST_TEST(has(other, "is for 'localhost', not for '127.0.0.1'"), other);
  const auto missing = doubt("localhost", "/nonexistent");
  BOOST_TEST(has(missing, "--cacert: cannot read certificates from "
                          "'/nonexistent'"),
             missing);
  BOOST_TEST(has(doubt("localhost", own.key), "--cacert: cannot read"));
}

BOOST_AUTO_TEST_CASE(a_certificate_out_of_its_time_is_told_with_the_time) {
  own.write(2, -7200, -3600);
  start();
  const auto past = doubt("localhost", own.certificate);
  BOOST_TEST(has(past, "its certificate expired at 20"), past);
  own.write(3, 7200, 10'800);
  BOOST_TEST(static_cast<bool>(server->renew(with.settings)));
  BOOST_TEST(eventually([&] {
    return has(doubt("localhost", own.certificate), "is valid from 20");
  }));
}

BOOST_AUTO_TEST_CASE(an_unknown_authority_is_told) {
  own.write(2, 0, 3600, true);
  start();
  const auto why = doubt("localhost");
  BOOST_TEST(has(why, "the authority that signed its certificate"), why);
  BOOST_TEST(has(why, "--cacert FILE"), why);
  // The server's own certificate is trusted without its authority.
  BOOST_TEST(doubt("localhost", own.certificate) == "none: hello");
}

BOOST_AUTO_TEST_CASE(the_client_tells_the_scheme_that_fits) {
  start();
  runtime::http::client_request x;
  x.url = "http://localhost:" + std::to_string(port) + "/hello";
  const auto plain = ask_server(x);
  BOOST_TEST_REQUIRE(!plain);
  BOOST_TEST(has(plain.why().text, "use https://"), plain.why().text);
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_told_as_such) {
  with.settings.certificate.clear();
  with.settings.private_key.clear();
  start();
  const auto why = doubt("localhost");
  BOOST_TEST(has(why, "http://"), why);
}

BOOST_AUTO_TEST_CASE(files_that_are_no_certificates_are_told) {
  const auto why = [&] {
    const auto x = runtime::http::server::start(with);
    BOOST_TEST_REQUIRE(!x);
    BOOST_TEST((x.why().code == core::ec::bad_config));
    return x.why().text;
  };
  with.settings.certificate = own.key;
  BOOST_TEST((why().find("http.certificate") != std::string::npos));
  with.settings.certificate = own.certificate;
  with.settings.private_key = "/nonexistent";
  BOOST_TEST((why().find("http.private_key") != std::string::npos));
  with.settings.private_key.clear();
  BOOST_TEST((why().find("without the other") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(new_connections_see_the_new_certificate) {
  start();
  auto before = secret();
  BOOST_TEST(before.serial() == 1);
  own.write(2);
  BOOST_TEST(secret().serial() == 1);
  BOOST_TEST(static_cast<bool>(server->renew(with.settings)));
  BOOST_TEST(eventually([&] { return secret().serial() == 2; }));
  // Open connections continue.
  BOOST_TEST(before.ask(request("GET", "/hello")).body == "hello");
}

BOOST_AUTO_TEST_CASE(a_certificate_that_cannot_be_changes_nothing) {
  start();
  auto next = with.settings;
  next.body_bytes = 2;
  next.certificate = own.key;
  const auto done = server->renew(next);
  BOOST_TEST_REQUIRE(!done);
  BOOST_TEST((done.why().code == core::ec::bad_config));
  BOOST_TEST(secret().ask(request("POST", "/echo", {}, "abc")).body == "abc");
  next.certificate = own.certificate;
  BOOST_TEST(static_cast<bool>(server->renew(next)));
  BOOST_TEST(secret().ask(request("POST", "/echo", {}, "abc")).status == 413u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
