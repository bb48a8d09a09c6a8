// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/system/error_code.hpp>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <optional>
#include <string>

namespace atelier::runtime::http::detail {

/// Lets every certificate of a context's authorities end a chain, also one that
/// another has signed.
void trust_any_in_chain(SSL_CTX* context);

/// Returns why one certificate of a server's chain is not trusted, and what
/// helps; none where it is.
/// @param trusted OpenSSL's own verdict
/// @param named whether it is for `host`, where that is asked of it
std::optional<std::string> doubt_of(bool trusted, X509_STORE_CTX* at,
                                    const std::string& host, bool named);

/// Returns why a handshake failed that no certificate is to blame for.
std::string handshake_fault(const boost::system::error_code& error);

} // namespace atelier::runtime::http::detail
