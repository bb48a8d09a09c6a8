// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace atelier::test {

/// Numbers that end where inaccessible memory begins: reading or writing one
/// element beyond them ends the program. Sanitizers do not see the accesses of
/// vector instructions with masks.
template <class T>
class guarded_array {
public:
  explicit guarded_array(int64_t count)
    : bytes_(static_cast<size_t>(count) * sizeof(T)),
      room_((bytes_ + page - 1) / page * page) {
    auto* const at = ::mmap(nullptr, room_ + 2 * page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    BOOST_REQUIRE(at != MAP_FAILED);
    begin_ = static_cast<std::byte*>(at) + page;
    if (room_ > 0)
      BOOST_REQUIRE_EQUAL(::mprotect(begin_, room_, PROT_READ | PROT_WRITE), 0);
    std::memset(begin_, 0xa5, room_);
  }

  ~guarded_array() {
    ::munmap(begin_ - page, room_ + 2 * page);
  }

  guarded_array(const guarded_array&) = delete;
  guarded_array& operator=(const guarded_array&) = delete;

  T* get() const {
    return reinterpret_cast<T*>(begin_ + (room_ - bytes_));
  }

  T& operator[](int64_t i) const {
    return get()[i];
  }

  int64_t size() const {
    return static_cast<int64_t>(bytes_ / sizeof(T));
  }

  /// Returns whether nothing was written before the numbers.
  bool intact() const {
    return std::all_of(begin_, begin_ + (room_ - bytes_),
                       [](std::byte x) { return x == std::byte{0xa5}; });
  }

private:
  static constexpr size_t page = 4096;

  size_t bytes_;
  size_t room_;
  std::byte* begin_ = nullptr;
};

} // namespace atelier::test
