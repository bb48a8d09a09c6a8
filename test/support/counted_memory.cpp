// SPDX-License-Identifier: Apache-2.0
#include "support/counted_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

thread_local size_t live_bytes = 0;
thread_local size_t peak_bytes = 0;

/// The room before each block, for its counted size; keeps blocks aligned.
constexpr size_t header_bytes = alignof(std::max_align_t);

/// Returns what malloc gives for so many bytes if it splits a larger block, so
/// that counts do not depend on the blocks that it has left over.
size_t counted(size_t bytes) {
  constexpr size_t own = sizeof(size_t);
  constexpr size_t least = 24;
  const size_t whole = (bytes + own + header_bytes - 1) / header_bytes;
  return std::max(least, whole * header_bytes - own);
}

void* take(size_t bytes) noexcept {
  auto* const out = static_cast<std::byte*>(std::malloc(bytes + header_bytes));
  if (out == nullptr)
    return nullptr;
  const auto size = counted(bytes);
  std::memcpy(out, &size, sizeof size);
  live_bytes += size;
  peak_bytes = std::max(peak_bytes, live_bytes);
  return out + header_bytes;
}

void* take_or_throw(size_t bytes) {
  void* out = take(bytes);
  if (out == nullptr)
    throw std::bad_alloc{};
  return out;
}

void give(void* block) noexcept {
  if (block == nullptr)
    return;
  auto* const begin = static_cast<std::byte*>(block) - header_bytes;
  size_t size = 0;
  std::memcpy(&size, begin, sizeof size);
  live_bytes -= std::min(live_bytes, size);
  std::free(begin);
}

} // namespace

// These are all forms of new except those for wide alignments, whose blocks
// have their own delete.
void* operator new(size_t bytes) {
  return take_or_throw(bytes);
}

void* operator new[](size_t bytes) {
  return take_or_throw(bytes);
}

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes);
}

void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes);
}

void operator delete(void* block) noexcept {
  give(block);
}

void operator delete[](void* block) noexcept {
  give(block);
}

void operator delete(void* block, size_t) noexcept {
  give(block);
}

void operator delete[](void* block, size_t) noexcept {
  give(block);
}

void operator delete(void* block, const std::nothrow_t&) noexcept {
  give(block);
}

void operator delete[](void* block, const std::nothrow_t&) noexcept {
  give(block);
}

namespace atelier::test {

size_t counted_memory::live() {
  return live_bytes;
}

size_t counted_memory::peak() {
  return peak_bytes;
}

void counted_memory::start() {
  peak_bytes = live_bytes;
}

} // namespace atelier::test
