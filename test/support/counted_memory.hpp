// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace atelier::test {

/// Counts the memory that this program's operator new has allocated. Each
/// program that links counted_memory.cpp has its own count.
/// Threads: the counts cover only the calling thread's blocks.
struct counted_memory {
  /// Bytes that are allocated and not yet freed.
  static size_t live();

  /// The most bytes that were live at once since the last `start`.
  static size_t peak();

  /// Restarts `peak` from the bytes that are live now.
  static void start();
};

/// Runs `what` and returns the most bytes that it held at once.
template <class Function>
size_t most_bytes_of(Function what) {
  counted_memory::start();
  const auto before = counted_memory::live();
  what();
  return counted_memory::peak() - before;
}

} // namespace atelier::test
