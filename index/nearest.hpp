// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/space_extent.hpp>
#include <atelier/index/vectors/vector_index.hpp>

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

/// Unit vectors of one length, each under a key and a number. A search looks at
/// one key. If a key has few vectors, they are compared one by one. Otherwise
/// an index (`vector_index`), which a background thread builds, finds them. No
/// search waits for a build or for an addition.
/// Threads: any.
class nearest_by_key {
public:
  /// @pre dimensions > 0
  explicit nearest_by_key(size_t dimensions, vector_options how = {});
  ~nearest_by_key();
  nearest_by_key(const nearest_by_key&) = delete;
  nearest_by_key& operator=(const nearest_by_key&) = delete;

  /// Adds a vector. Returns false without adding it, and counts it as refused,
  /// if too many vectors have been added while the key's index is being built.
  /// @pre `unit` has the dimensions, and the key has no vector with that number
  [[nodiscard]] bool add(std::string_view key, uint64_t number,
                         std::span<const float> unit, held_parts holds = {});

  /// Adds all vectors that are read at a start under a key, however many.
  /// Searches under the key take longer until its index is built, and more
  /// vectors are added meanwhile.
  /// @pre each has the dimensions and a number of its own, and the key has no
  ///      vector
  void fill(std::string_view key, std::vector<loaded_vector> all);

  /// Removes a vector: searches that begin later do not find it. Returns false
  /// if the vector was not found.
  bool remove(std::string_view key, uint64_t number);

  /// Replaces what a vector's entry holds, for searches that begin later.
  /// Returns false if the vector was not found.
  bool note_held(std::string_view key, uint64_t number, held_parts holds);

  /// Returns the nearest vectors under the key whose entries serve `needs`, at
  /// most `most`, best first. Equally near vectors are ordered by descending
  /// number. A vector with similarity 0 is not found.
  /// @pre `unit` has the dimensions
  std::vector<near_vector> near(std::string_view key,
                                std::span<const float> unit, size_t most,
                                const planning::needed_work& needs = {}) const;

  /// Returns the memory of the vectors and of their indexes, without keys.
  /// Includes vectors that are removed but still linked, and an index that is
  /// being built.
  uint64_t bytes() const;

  /// Returns the extent of a namespace, which is that of the keys with this
  /// tenant_part.
  space_extent extent(std::string_view space) const;

  /// Returns the vectors of a namespace one after another, the last added
  /// first, at most `most`.
  std::vector<float> vectors(std::string_view space, size_t most) const;

  /// Returns the counts so far under all keys.
  vector_counts counts() const;

  /// Waits until no build or check runs in the background.
  void settle();

private:
  using index_ptr = std::shared_ptr<vector_index>;

  index_ptr of(std::string_view key) const;
  void enter(std::string_view key, index_ptr made);
  void count(std::string_view key, bool comes);

  const size_t dimensions_;
  const vector_options how_;
  vector_counters counters_;
  /// Held while a vector is added or removed.
  std::mutex writers_;
  /// Held only to find, insert or remove an index.
  mutable std::mutex lock_;
  std::unordered_map<std::string, index_ptr> by_key_;
  /// Namespaces that have entries. The changes of one that is new begin with
  /// those of all, so that they never repeat if it loses its entries.
  std::unordered_map<std::string, space_extent> by_space_;
  uint64_t changes_ = 0;
  /// The last member, so that its work ends first.
  std::unique_ptr<detail::build_thread> builder_;
};

} // namespace atelier::index
