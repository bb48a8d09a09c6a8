// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/tls_doubt.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace atelier::runtime::http::detail {

namespace {

namespace asio = boost::asio;

constexpr auto own_remedy =
  "--cacert FILE trusts the server's own certificate, or that of its authority";

/// Returns `text` fit for a message, whoever wrote it.
std::string printable(std::string text) {
  constexpr size_t most = 100;
  text.resize(std::min(text.size(), most));
  for (char& c : text)
    if (c < 0x20 || c > 0x7e)
      c = '?';
  return text;
}

std::string text_of(const ASN1_STRING* x) {
  return printable({reinterpret_cast<const char*>(ASN1_STRING_get0_data(x)),
                    static_cast<size_t>(ASN1_STRING_length(x))});
}

std::string address_of(const ASN1_OCTET_STRING* x) {
  const auto* const bytes = ASN1_STRING_get0_data(x);
  if (ASN1_STRING_length(x) == 4) {
    asio::ip::address_v4::bytes_type v4{};
    std::memcpy(v4.data(), bytes, v4.size());
    return asio::ip::address_v4{v4}.to_string();
  }
  if (ASN1_STRING_length(x) == 16) {
    asio::ip::address_v6::bytes_type v6{};
    std::memcpy(v6.data(), bytes, v6.size());
    return asio::ip::address_v6{v6}.to_string();
  }
  return "?";
}

/// Returns the names that a certificate is for: those of its extension, or else
/// its common name.
std::vector<std::string> names_in(const X509* certificate) {
  constexpr size_t most = 8;
  std::vector<std::string> out;
  const auto free = [](GENERAL_NAMES* x) { GENERAL_NAMES_free(x); };
  const std::unique_ptr<GENERAL_NAMES, decltype(free)> names{
    static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
    free};
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto* const x = sk_GENERAL_NAME_value(names.get(), i);
    if (out.size() == most)
      break;
    if (x->type == GEN_DNS)
      out.push_back(text_of(x->d.dNSName));
    else if (x->type == GEN_IPADD)
      out.push_back(address_of(x->d.iPAddress));
  }
  if (!out.empty())
    return out;
  const auto* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0)
    out.push_back(
      text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  return out;
}

/// Returns the time as ISO 8601 writes it.
std::string show_time(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1)
    return "an unknown time";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min);
}

} // namespace

void trust_any_in_chain(SSL_CTX* context) {
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context),
                       X509_V_FLAG_PARTIAL_CHAIN);
}

std::optional<std::string> doubt_of(bool trusted, X509_STORE_CTX* at,
                                    const std::string& host, bool named) {
  const auto* const certificate = X509_STORE_CTX_get_current_cert(at);
  if (trusted && named)
    return std::nullopt;
  if (trusted) {
    const auto names =
      certificate ? names_in(certificate) : std::vector<std::string>{};
    return fmt::format("its certificate is for {}, not for '{}': use that name "
                       "in the address, or a certificate that has this one as "
                       "subjectAltName",
                       names.empty()
                         ? std::string{"no name"}
                         : fmt::format("'{}'", fmt::join(names, "', '")),
                       host);
  }
  const int error = X509_STORE_CTX_get_error(at);
  switch (error) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return fmt::format(
        "its certificate is self-signed, and not trusted here: "
        "{}",
        own_remedy);
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return fmt::format("the authority that signed its certificate is not "
                         "trusted here: {}",
                         own_remedy);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return fmt::format(
        "its certificate expired at {}: the server needs a new one, or this "
        "machine's clock is wrong",
        certificate ? show_time(X509_get0_notAfter(certificate))
                    : "an unknown time");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format(
        "its certificate is valid from {} only: this machine's clock is wrong, "
        "or the server's was",
        certificate ? show_time(X509_get0_notBefore(certificate))
                    : "an unknown time");
    default:
      return fmt::format("its certificate is not trusted ({}): {}",
                         X509_verify_cert_error_string(error), own_remedy);
  }
}

std::string handshake_fault(const boost::system::error_code& error) {
  const bool of_ssl = error.category() == asio::error::get_ssl_category();
  const auto reason =
    of_ssl ? ERR_GET_REASON(static_cast<unsigned long>(error.value())) : 0;
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST)
    return "it does not speak TLS: use http://";
  if (error == asio::error::eof || error == asio::error::connection_reset
      || error == asio::ssl::error::stream_truncated)
    return "it ended the handshake: it may not speak TLS: try http://";
  return error.message();
}

} // namespace atelier::runtime::http::detail
