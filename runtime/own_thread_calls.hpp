// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <functional>
#include <memory>

namespace atelier::runtime {

/// Runs a host's functions, one at a time, each on a thread of its own that
/// nobody joins: a function that does not return holds up neither its caller,
/// beyond the caller's patience, nor an end.
/// Threads: any.
class own_thread_calls {
public:
  own_thread_calls();

  /// Runs `work` and waits for its end, at most `patience`. `work` owns
  /// everything that it uses, since it may run on after that.
  /// Throws std::runtime_error: with the text of an exception of `work`; if it
  /// does not return in time; while an earlier work still runs; after `abandon`
  /// and meanwhile.
  void run(std::function<void()> work, core::timespan patience);

  /// Lets waiting callers go, and runs nothing from then on.
  void abandon();

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace atelier::runtime
