// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace atelier::index {

/// Returns the size by which a leftover counts under its key, in bytes: its
/// payloads, its key, and its vector of `dimensions` elements with its part of
/// the graphs that find it.
uint64_t bytes_of(std::string_view key, const leftover& what,
                  size_t dimensions);

/// A cache in this process's memory.
/// Threads: any.
class memory final : public cache {
public:
  /// @param images if it is set, an entry is found by the vector of its image
  ///        instead of that of its text
  /// @param date seconds since 1970
  /// @pre vectors of both encoders have the same number of elements
  explicit memory(cache_bounds most,
                  std::shared_ptr<const text_encoder> encoder = words_encoder(),
                  std::shared_ptr<const image_encoder> images = nullptr,
                  vector_options how = {},
                  std::function<int64_t()> date = seconds_since_1970);
};

} // namespace atelier::index
