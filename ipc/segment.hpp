// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/shared_memory_object.hpp>

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace atelier::ipc {

/// Owns zeroed memory of a fixed size: a shared object, or private memory.
///
/// The object is locked by its own descriptor for the owner's life; the kernel
/// lifts the lock when the owner dies, however it dies. A child made by fork
/// holds the lock too until it calls exec or exits.
class segment_owner {
public:
  /// Makes and locks the object "atelier-<uid>-<pid>-<n>", 0600, with all its
  /// pages reserved: a write can never fail later for want of memory.
  /// Errors: ec::out_of_resources, ec::io_failed. Nothing is left behind then.
  static core::result<segment_owner> make_shared_memory(uint64_t bytes);

  /// Makes memory that only this process, and what it forks, can see.
  static core::result<segment_owner> make_private(uint64_t bytes);

  segment_owner(segment_owner&& other) noexcept;
  segment_owner& operator=(segment_owner&&) = delete;

  /// Unlinks the object, unless this is a fork of the maker.
  ~segment_owner();

  std::byte* data() const;
  /// Empty for private memory.
  const std::string& name() const;

private:
  segment_owner() = default;

  std::string name_;
  pid_t maker_ = 0;
  boost::interprocess::shared_memory_object object_;
  boost::interprocess::mapped_region region_;
};

/// Maps an object that another process owns; never unlinks it.
class segment_view {
public:
  /// Errors: ec::not_found, ec::incompatible for an object of another user,
  ///         ec::io_failed.
  static core::result<segment_view> open(const std::string& name);

  std::byte* data() const;
  uint64_t bytes() const;

private:
  segment_view() = default;

  boost::interprocess::mapped_region region_;
};

/// Returns how the names of this user's objects begin.
std::string segment_prefix();

/// Takes the lock of the object behind `fd` if nobody has it.
bool try_lock_segment(int fd);

} // namespace atelier::ipc
