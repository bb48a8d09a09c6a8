// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/wakeup.hpp>

namespace atelier::runtime::cli {

/// Counts the user's wishes to stop. The first one takes running work back, the
/// second one waits for nothing more.
class interruption {
public:
  virtual ~interruption() = default;

  virtual int count() const = 0;

  /// Is woken at each.
  virtual wakeup& signal() = 0;
};

/// Turns SIGINT and SIGTERM into interruptions while it lives; the third one
/// ends the process at once. SIGPIPE and SIGXFSZ become errors of the write
/// that caused them. Handlers, not masks: programs that are started meanwhile
/// get the defaults back.
/// Threads: at most one object at a time.
class signal_interruption : public interruption {
public:
  signal_interruption();
  ~signal_interruption() override;

  int count() const override;
  wakeup& signal() override;
};

} // namespace atelier::runtime::cli
