// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atelier::index {

/// A vector that was found.
struct near_vector {
  uint64_t number = 0;
  /// 0..1, as `similarity` says.
  double similarity = 0;

  friend bool operator==(const near_vector&, const near_vector&) = default;
};

/// Unit vectors of one length, each under a key and a number; a search looks at
/// one key. A number is given once under a key, and a later entry has a higher
/// number.
/// Threads: any.
class nearest_by_key {
public:
  /// @pre dimensions > 0
  explicit nearest_by_key(size_t dimensions);
  ~nearest_by_key();
  nearest_by_key(const nearest_by_key&) = delete;
  nearest_by_key& operator=(const nearest_by_key&) = delete;

  /// Adds a vector. Returns false where it was not added, because too many were
  /// added while the key's index is being built.
  /// @pre `unit` has the dimensions, and the number is not under the key
  [[nodiscard]] bool add(std::string_view key, uint64_t number,
                         std::span<const float> unit);

  /// Adds a vector however many were added before: for what is read at a start.
  /// Until the key's index is built, its searches take longer.
  /// @pre as `add`
  void load(std::string_view key, uint64_t number, std::span<const float> unit);

  /// Removes a vector: searches that begin later do not find it. Returns false
  /// where it is not there.
  bool remove(std::string_view key, uint64_t number);

  /// Returns what is nearest under the key, best first, at most `most`; of
  /// equally near ones the highest number first. What has similarity 0 is not
  /// found.
  /// @pre `unit` has the dimensions
  std::vector<near_vector> near(std::string_view key,
                                std::span<const float> unit, size_t most) const;

  /// Returns the memory of the vectors and of what finds them, without keys.
  uint64_t bytes() const;

private:
  struct entry;
  using entries = std::vector<std::shared_ptr<const entry>>;

  void insert(std::string_view key, uint64_t number,
              std::span<const float> unit);

  const size_t dimensions_;
  mutable std::mutex lock_;
  std::unordered_map<std::string, entries> by_key_;
  uint64_t count_ = 0;
};

} // namespace atelier::index
