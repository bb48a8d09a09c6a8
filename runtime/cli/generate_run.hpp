// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/draw_list.hpp>
#include <atelier/runtime/cli/generate_plan.hpp>

#include <set>
#include <string>

namespace atelier::runtime::cli {

/// Carries out one plan: submits requests, at most plan.window at a time, and
/// writes each image when it is answered.
/// Invariants: (1) Only the calling thread writes images. (2) After a request
/// to stop, or when images can no longer be written or reported, nothing more
/// is submitted and all running requests are cancelled.
/// Threads: one.
class generate_run {
public:
  generate_run(const generate_plan& plan, service& makes,
               interruption& interrupted, const console& terminal);

  generate_run(const generate_run&) = delete;
  generate_run& operator=(const generate_run&) = delete;

  /// Runs the plan. Returns when every submitted request is answered, or the
  /// wait for cancelled ones is over.
  exit_status run();

private:
  generation request(uint64_t index) const;
  std::string name(uint64_t index) const;
  /// Writes an image and reports it.
  void deliver(uint64_t index, const generated_image& x);

  const generate_plan& plan_;
  const console& console_;
  draw_list list_;
  /// Notes that were printed.
  std::set<std::string> told_;
};

} // namespace atelier::runtime::cli
