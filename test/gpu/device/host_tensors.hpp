// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for tests that torch.cmake lists.

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace atelier::test {

/// Makes all tensors on the host, counts them, and refuses those above a size,
/// as LibTorch does where memory is short. It is never destroyed: a device's
/// thread may use it until its own end.
/// Threads: any.
class counting_allocator final : public c10::Allocator {
public:
  static counting_allocator& get() {
    static auto& made = *new counting_allocator;
    return made;
  }

  c10::DataPtr allocate(size_t wanted) override {
    ++count;
    raise(greatest, wanted);
    if (wanted > most) {
      ++refused;
      TORCH_CHECK(false,
                  "DefaultCPUAllocator: can't allocate memory: you "
                  "tried to allocate ",
                  wanted, " bytes. Error code 12 (Cannot allocate memory)");
    }
    auto made = below_->allocate(wanted);
    auto* const at = made.get();
    if (at != nullptr) {
      const std::lock_guard guard{lock_};
      live_ += wanted;
      raise(peak, live_);
      tensors_.emplace(at, tensor{std::move(made), wanted});
    }
    // LibTorch expects a context that is the memory.
    return {at, at, forget, c10::DeviceType::CPU};
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return forget;
  }

  void copy_data(void* to, const void* from, size_t wanted) const override {
    below_->copy_data(to, from, wanted);
  }

  /// Counts anew, without a limit.
  void begin() {
    const std::lock_guard guard{lock_};
    live_ = 0;
    for (auto& [at, x] : tensors_)
      x.bytes = 0;
    peak = count = greatest = refused = 0;
    most = SIZE_MAX;
  }

  std::atomic<size_t> peak = 0;
  std::atomic<size_t> count = 0;
  std::atomic<size_t> greatest = 0;
  std::atomic<size_t> most = SIZE_MAX;
  std::atomic<size_t> refused = 0;

private:
  struct tensor {
    c10::DataPtr memory;
    /// What it adds to the live bytes.
    size_t bytes;
  };

  counting_allocator() : below_(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(this, 1);
  }

  static void raise(std::atomic<size_t>& to, size_t at_least) {
    for (auto seen = to.load(); seen < at_least;)
      if (to.compare_exchange_weak(seen, at_least))
        break;
  }

  static void forget(void* at) {
    auto& x = get();
    const std::lock_guard guard{x.lock_};
    const auto i = x.tensors_.find(at);
    if (i == x.tensors_.end())
      return;
    x.live_ -= i->second.bytes;
    x.tensors_.erase(i);
  }

  c10::Allocator* below_;
  std::mutex lock_;
  std::unordered_map<void*, tensor> tensors_;
  size_t live_ = 0;
};

/// What counting_allocator counts and refuses during one's life.
/// Threads: one at a time; there is one of them.
class host_tensors {
public:
  host_tensors() {
    counted_.begin();
  }

  ~host_tensors() {
    counted_.begin();
  }

  host_tensors(const host_tensors&) = delete;
  host_tensors& operator=(const host_tensors&) = delete;

  size_t count() const {
    return counted_.count;
  }

  /// Returns the bytes of the greatest tensor that was asked for, and forgets
  /// it.
  size_t greatest() {
    return counted_.greatest.exchange(0);
  }

  /// Returns the most bytes that tensors had at once, without those that were
  /// there before.
  size_t peak() const {
    return counted_.peak;
  }

  /// Sets the bytes of the greatest tensor that is made.
  void limit(size_t most) {
    counted_.most = most;
  }

  /// Returns how many tensors were refused.
  size_t refused() const {
    return counted_.refused;
  }

private:
  counting_allocator& counted_ = counting_allocator::get();
};

} // namespace atelier::test
