// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>
#include <unordered_map>
#include <utility>

namespace atelier::gpu {

/// Results of layers that depend on a pass' conditions alone, such as the keys
/// and values of a text: the steps of the same rows share them. The owner of
/// the conditions clears them before it changes one. The results are those of
/// the whole batch, as without keeping, so that no bit depends on it.
/// Threads: one at a time.
class kept_results {
public:
  /// Returns what `compute` returned for `layer` since the last `clear`. A
  /// result that does not fit the limit is computed by each call.
  template <class F>
  torch::Tensor find(const void* layer, F&& compute) {
    if (const auto at = results_.find(layer); at != results_.end())
      return at->second;
    auto made = std::forward<F>(compute)();
    ++computed_;
    const uint64_t takes = made.nbytes();
    if (takes <= limit_ && bytes_ <= limit_ - takes) {
      results_.emplace(layer, made);
      bytes_ += takes;
    }
    return made;
  }

  void clear() {
    results_.clear();
    bytes_ = 0;
  }

  /// Sets how many bytes are kept. Of more than that, as many results are
  /// dropped as must be: the others still save their layers' work.
  void limit(uint64_t most_bytes) {
    limit_ = most_bytes;
    while (bytes_ > limit_) {
      const auto at = results_.begin();
      bytes_ -= at->second.nbytes();
      results_.erase(at);
    }
  }

  uint64_t bytes() const {
    return bytes_;
  }

  /// Returns how many results were computed.
  uint64_t computed() const {
    return computed_;
  }

private:
  std::unordered_map<const void*, torch::Tensor> results_;
  uint64_t bytes_ = 0;
  uint64_t limit_ = 0;
  uint64_t computed_ = 0;
};

/// Returns a result that is kept for `layer`; computes it where `kept` is null.
template <class F>
torch::Tensor kept_or_made(kept_results* kept, const void* layer, F&& compute) {
  return kept != nullptr ? kept->find(layer, std::forward<F>(compute))
                         : std::forward<F>(compute)();
}

} // namespace atelier::gpu
