// SPDX-License-Identifier: Apache-2.0
#include "support/counted_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local size_t live_bytes = 0;
thread_local size_t peak_bytes = 0;

void* take(size_t bytes) noexcept {
  void* out = std::malloc(std::max<size_t>(bytes, 1));
  if (out == nullptr)
    return nullptr;
  live_bytes += malloc_usable_size(out);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return out;
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
  live_bytes -= std::min(live_bytes, malloc_usable_size(block));
  std::free(block);
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
