// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp.

#include <cstdint>
#include <new>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

/// Uninitialised numbers of one thread, 64-byte aligned. Not a class of the
/// standard library, whose code the linker could use on processors without this
/// target's instructions.
template <class T>
class scratch_array {
public:
  explicit scratch_array(int64_t count)
    : at_(static_cast<T*>(::operator new (
      static_cast<size_t>(count) * sizeof(T), std::align_val_t{64}))) {}

  ~scratch_array() {
    ::operator delete (at_, std::align_val_t{64});
  }

  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;

  T* get() const {
    return at_;
  }

private:
  T* at_;
};

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
