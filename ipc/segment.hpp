// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/shared_memory_object.hpp>

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace atelier::ipc {

/// Owns zeroed memory of a fixed size: a shared object or private memory.
///
/// The object is locked by its own descriptor for the owner's life. The kernel
/// releases the lock when the owner dies, however it dies. A child made by fork
/// also holds the lock until it calls exec or exits.
class segment_owner {
public:
  /// Makes and locks the object "atelier-<uid>-<pid>-<n>", 0600, and reserves
  /// all its pages, so that a later write cannot fail for lack of memory.
  /// Errors: ec::out_of_resources, ec::io_failed; nothing is left behind then.
  static core::result<segment_owner> make_shared_memory(uint64_t bytes);

  /// Makes memory that only this process and its forks can see.
  static core::result<segment_owner> make_private(uint64_t bytes);

  segment_owner(segment_owner&& other) noexcept;
  segment_owner& operator=(segment_owner&&) = delete;

  /// Unlinks the object unless this is a fork of the maker.
  ~segment_owner();

  std::byte* data() const;
  /// Returns the object's name; empty for private memory.
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

/// Returns the prefix of the names of this user's objects.
std::string segment_prefix();

/// Tries to lock the object behind `fd`. Returns whether it has the lock.
bool try_lock_segment(int fd);

} // namespace atelier::ipc
