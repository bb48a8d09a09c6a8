// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <new>

namespace atelier::core {

namespace {

// A thread that a stuck disk holds may compute a hash while the process ends,
// and OpenSSL must not have freed its tables by then.
void keep_tables_to_the_end() {
  static const bool kept =
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;
  if (!kept)
    throw std::bad_alloc{};
}

} // namespace

// OpenSSL's calls fail only if memory runs out or the provider of SHA-256 is
// missing. Neither can be handled here.
struct sha256_stream::context {
  EVP_MD_CTX* evp = nullptr;

  context() {
    keep_tables_to_the_end();
    evp = EVP_MD_CTX_new();
    if (evp == nullptr)
      throw std::bad_alloc{};
    start();
  }

  ~context() {
    EVP_MD_CTX_free(evp);
  }

  context(const context&) = delete;
  context& operator=(const context&) = delete;

  void start() {
    if (EVP_DigestInit_ex(evp, EVP_sha256(), nullptr) != 1)
      throw std::bad_alloc{};
  }
};

sha256_stream::sha256_stream() : context_(std::make_unique<context>()) {}

sha256_stream::~sha256_stream() = default;
sha256_stream::sha256_stream(sha256_stream&&) noexcept = default;
sha256_stream& sha256_stream::operator=(sha256_stream&&) noexcept = default;

void sha256_stream::update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) != 1)
    throw std::bad_alloc{};
}

sha256_digest sha256_stream::finish() {
  sha256_digest digest{};
  if (EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr) != 1)
    throw std::bad_alloc{};
  context_->start();
  return digest;
}

sha256_digest sha256(std::span<const std::byte> bytes) {
  sha256_stream stream;
  stream.update(bytes);
  return stream.finish();
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  return to_hex(sha256(bytes));
}

std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span{text.data(), text.size()}));
}

std::string to_hex(std::span<const uint8_t> digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace atelier::core
