// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/descriptor.hpp>
#include <atelier/core/result.hpp>
#include <atelier/ipc/keeper.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace atelier::runtime {

/// Starts the program of the other processes, always in the folder that was the
/// current one when this was made.
/// Threads: one at a time; the children die with the thread that starts them.
class worker_program {
public:
  /// @param path where the program is, absolute
  /// @param arena the arena's descriptor, which stays open
  /// Errors: ec::out_of_resources if there is no descriptor for the folder.
  static core::result<worker_program> make(std::string path, int arena);

  /// Starts one life of a process, which inherits the arena's descriptor, and
  /// returns its pid.
  /// Errors: ec::not_found if there is no program that can be run; the text
  ///         names the remedy; ec::unavailable, also if the host closed a
  ///         descriptor that this needs.
  core::result<int32_t> start(ipc::process_life who) const;

  const std::string& path() const;

private:
  /// Device and inode of an open file; none if the descriptor is closed.
  using file_id = std::optional<std::pair<dev_t, ino_t>>;

  worker_program(std::string path, core::descriptor folder, int arena);

  static file_id file_of(int descriptor);

  std::string path_;
  core::descriptor folder_;
  int arena_;
  file_id folder_id_ = file_of(folder_.number());
  file_id arena_id_ = file_of(arena_);
};

} // namespace atelier::runtime
