// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/wakeup.hpp>

namespace atelier::runtime::cli {

/// Counts the user's requests to stop. The first one cancels running work;
/// after the second one, the program waits for nothing more.
class interruption {
public:
  virtual ~interruption() = default;

  virtual int count() const = 0;

  /// Returns the wakeup that each request to stop wakes.
  virtual wakeup& signal() = 0;

  /// Makes SIGHUP count as a request to read files again instead of ending the
  /// process. Returns whether the signal was ignored before.
  virtual bool hear_hangups() {
    return false;
  }

  /// Returns the number of requests to read files again. Each also wakes
  /// `signal`.
  virtual int hangups() const {
    return 0;
  }
};

/// Turns SIGINT and SIGTERM into interruptions while it lives; the third one
/// ends the process at once. SIGPIPE and SIGXFSZ become errors of the write
/// that caused them. It uses handlers, not masks, so that programs started
/// meanwhile have the default actions.
/// Threads: at most one object exists at a time.
class signal_interruption : public interruption {
public:
  signal_interruption();
  ~signal_interruption() override;

  int count() const override;
  wakeup& signal() override;
  bool hear_hangups() override;
  int hangups() const override;

private:
  bool hears_hangups_ = false;
};

} // namespace atelier::runtime::cli
