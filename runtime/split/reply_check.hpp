// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/wire.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/ipc/keeper.hpp>

#include <mutex>
#include <set>

namespace atelier::runtime {

/// Checks whether a report belongs to the process by whose ring it came. It
/// finds a process that is broken; each process can write all shared memory, so
/// it is no defence against one.
/// Threads: any.
class reply_check {
public:
  explicit reply_check(ipc::process_life who);

  /// Notes an order, or a question about one, that the process will answer.
  void asked(const actors::to_process& x);

  /// Returns whether the process may say this: in its own name, or as the one
  /// answer to an order that it has, or to a question.
  bool accepts(const actors::from_process& x);

private:
  bool has(core::ticket x);
  bool answers(core::ticket x);
  bool answers_question(const actors::has_order& x);

  ipc::process_life who_;
  std::mutex mutex_;
  /// Guarded by the mutex.
  std::set<core::ticket> open_;
  std::multiset<core::ticket> questions_;
};

} // namespace atelier::runtime
