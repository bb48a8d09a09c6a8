// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/sha256.hpp>
#include <atelier/index/text_encoder.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

/// An encoder that remembers the vectors of the texts that another one encoded
/// last, so that a search and the entry of the same request need one run. A
/// namespace never gets a vector that another one had encoded, so that no
/// answer is faster because of other tenants' prompts. If the memo is full, the
/// namespace with the most vectors loses the one that was unused for longest.
/// A memo that is divided loses vectors of a namespace only to that namespace.
/// Texts are remembered by their digests, so that long ones need no more memory
/// than short ones.
/// Threads: any. Texts are encoded without the lock.
class encoder_memo final : public text_encoder {
public:
  /// @param most the number of vectors of all namespaces
  /// @param parts the number of equal parts into which it is divided, of which
  ///        a namespace has one, and others after as many namespaces none; 0:
  ///        not divided
  encoder_memo(std::shared_ptr<const text_encoder> encoder, size_t most,
               size_t parts = 0);

  std::string_view name() const override;
  std::string identity() const override;
  size_t dimensions() const override;

  /// Returns the vector of a text without a namespace. It is not remembered.
  core::result<std::vector<float>> encode(std::string_view text) const override;

  core::result<std::vector<float>> encode_in(
    std::string_view space, std::string_view text) const override;

  /// Returns the vectors of texts without a namespace. They are not remembered.
  core::result<std::vector<std::vector<float>>> encode_all(
    std::span<const std::string_view> texts) const override;

  encoder_counts counts() const override;

private:
  struct remembered {
    core::sha256_digest text;
    std::vector<float> vector;
  };

  /// The vectors of a namespace.
  struct shelf {
    /// The most recently used one is first.
    std::list<remembered> recency;
    std::map<core::sha256_digest, std::list<remembered>::iterator> by_text;
  };

  // The caller must hold the lock.
  void put(std::string_view space, const core::sha256_digest& text,
           const std::vector<float>& vector) const;
  void drop_one(std::string_view space) const;

  const std::shared_ptr<const text_encoder> encoder_;
  const size_t most_;
  const size_t parts_;
  mutable std::mutex lock_;
  mutable std::map<std::string, shelf, std::less<>> shelves_;
  mutable size_t vectors_ = 0;
  mutable uint64_t recalled_ = 0;
};

} // namespace atelier::index
