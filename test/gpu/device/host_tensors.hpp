// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for tests that torch.cmake lists.

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace atelier::test {

/// Counts tensors that are made on the host during its life, and refuses
/// those above a size as LibTorch does where memory is short.
/// Threads: `allocate` any; others one at a time.
class host_tensors final : public c10::Allocator {
public:
  host_tensors() : below_(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(this, priority_++);
  }

  ~host_tensors() override {
    c10::SetCPUAllocator(below_, priority_++);
  }

  c10::DataPtr allocate(size_t bytes) override {
    ++count_;
    for (auto seen = greatest_.load(); seen < bytes;)
      if (greatest_.compare_exchange_weak(seen, bytes))
        break;
    if (bytes > most_) {
      ++refused_;
      TORCH_CHECK(false,
                  "DefaultCPUAllocator: can't allocate memory: you "
                  "tried to allocate ",
                  bytes, " bytes. Error code 12 (Cannot allocate memory)");
    }
    auto made = below_->allocate(bytes);
    auto* const at = made.get();
    const auto live = *live_ += bytes;
    for (auto seen = peak_.load(); seen < live;)
      if (peak_.compare_exchange_weak(seen, live))
        break;
    if (at != nullptr) {
      const std::lock_guard guard{all().lock};
      all().tensors.emplace(at, tensor{std::move(made), bytes, live_});
    }
    // LibTorch expects a context that is the memory.
    return {at, at, forget, c10::DeviceType::CPU};
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return forget;
  }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    below_->copy_data(to, from, bytes);
  }

  size_t count() const {
    return count_;
  }

  /// Returns the bytes of the greatest tensor that was asked for, and forgets
  /// it.
  size_t greatest() {
    return greatest_.exchange(0);
  }

  /// Returns the most bytes that tensors had at once.
  size_t peak() const {
    return peak_;
  }

  /// Sets the bytes of the greatest tensor that is made.
  void limit(size_t most) {
    most_ = most;
  }

  /// Returns how many tensors were refused.
  size_t refused() const {
    return refused_;
  }

private:
  /// A tensor's memory; it may outlive the counts.
  struct tensor {
    c10::DataPtr memory;
    size_t bytes;
    std::shared_ptr<std::atomic<size_t>> live;
  };

  struct registry {
    std::mutex lock;
    std::unordered_map<void*, tensor> tensors;
  };

  static registry& all() {
    static auto& made = *new registry;
    return made;
  }

  static void forget(void* at) {
    const std::lock_guard guard{all().lock};
    const auto i = all().tensors.find(at);
    if (i == all().tensors.end())
      return;
    *i->second.live -= i->second.bytes;
    all().tensors.erase(i);
  }

  // LibTorch takes the allocator of the greatest priority.
  static inline uint8_t priority_ = 1;
  c10::Allocator* below_;
  std::shared_ptr<std::atomic<size_t>> live_ =
    std::make_shared<std::atomic<size_t>>(0);
  std::atomic<size_t> peak_ = 0;
  std::atomic<size_t> count_ = 0;
  std::atomic<size_t> greatest_ = 0;
  std::atomic<size_t> most_ = SIZE_MAX;
  std::atomic<size_t> refused_ = 0;
};

} // namespace atelier::test
