// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace atelier::core {

/// Owns a file descriptor.
class descriptor {
public:
  descriptor() = default;

  explicit descriptor(int number) : number_(number) {}

  descriptor(descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  ~descriptor() {
    if (number_ >= 0)
      close(number_);
  }

  int number() const {
    return number_;
  }

  int release() {
    return std::exchange(number_, -1);
  }

  explicit operator bool() const {
    return number_ >= 0;
  }

private:
  int number_ = -1;
};

} // namespace atelier::core
