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

  /// From now on a SIGHUP ends nothing, but counts as a wish that files be read
  /// again. Returns whether it was ignored before.
  virtual bool hear_hangups() {
    return false;
  }

  /// The wishes of that kind so far; each wakes as well.
  virtual int hangups() const {
    return 0;
  }
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
  bool hear_hangups() override;
  int hangups() const override;

private:
  bool hears_hangups_ = false;
};

} // namespace atelier::runtime::cli
