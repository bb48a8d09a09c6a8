// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace atelier::test {

/// Counts what this program's operator new has handed out. A program that links
/// counted_memory.cpp has its own one.
/// Threads: the counts are of the calling thread's blocks alone.
struct counted_memory {
  /// Bytes handed out and not given back.
  static size_t live();

  /// Most bytes that were live at once since the last `start`.
  static size_t peak();

  /// Lets `peak` begin at what is live now.
  static void start();
};

/// Runs `what` and returns the most bytes that it had at once.
template <class Function>
size_t most_bytes_of(Function what) {
  counted_memory::start();
  const auto before = counted_memory::live();
  what();
  return counted_memory::peak() - before;
}

} // namespace atelier::test
