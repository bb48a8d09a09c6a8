// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/ipc/keeper.hpp>

#include <cstdint>
#include <string>

namespace atelier::runtime {

/// Starts the program of the other processes, always in the folder that was the
/// current one when this was made.
/// Threads: one at a time; the children die with the thread that starts them.
class worker_program {
public:
  /// @param path where the program is, absolute
  explicit worker_program(std::string path);

  ~worker_program();
  worker_program(const worker_program&) = delete;
  worker_program& operator=(const worker_program&) = delete;

  /// Starts one life of a process, which inherits the arena's descriptor, and
  /// returns its pid.
  /// Errors: ec::not_found if there is no program that can be run; the text
  ///         names the remedy; ec::unavailable.
  core::result<int32_t> start(int arena, ipc::process_life who) const;

  const std::string& path() const;

private:
  std::string path_;
  int folder_ = -1;
};

} // namespace atelier::runtime
