// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <boost/interprocess/mapped_region.hpp>

#include <cstddef>
#include <cstdint>

namespace atelier::ipc {

/// Maps zeroed memory of a fixed size: an anonymous object that children
/// inherit by its descriptor, or private memory.
///
/// The object has no name. The kernel frees it with the last process that holds
/// it, however that process ends. It is sealed: no process can change its size,
/// so that a mapped page cannot vanish.
class shared_memory {
public:
  /// Makes an object and reserves all its pages, so that a later write cannot
  /// fail for lack of memory. Forks of this process do not map it.
  /// Errors: ec::out_of_resources, ec::io_failed.
  static core::result<shared_memory> make(uint64_t bytes);

  /// Makes memory that only this process and its forks can see.
  /// Errors: ec::out_of_resources, ec::io_failed.
  static core::result<shared_memory> make_private(uint64_t bytes);

  /// Maps the object of an inherited descriptor, which it closes.
  /// Errors: ec::incompatible if it is no sealed object, ec::io_failed.
  static core::result<shared_memory> adopt(int descriptor);

  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&&) = delete;
  ~shared_memory();

  std::byte* data() const;
  uint64_t bytes() const;
  /// Returns the object's descriptor, at least 3, which exec closes; -1 for
  /// private memory and for an adopted object.
  int descriptor() const;

private:
  shared_memory() = default;

  int fd_ = -1;
  boost::interprocess::mapped_region region_;
};

} // namespace atelier::ipc
