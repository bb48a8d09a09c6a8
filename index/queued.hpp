// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/index/forwarding.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace atelier::index {

struct queued_options {
  /// The maximum number of leftovers that wait to be kept, 1..256. More are not
  /// kept, and count as overflowed.
  size_t most = 16;
  /// The maximum wait of the destructor until all of them are kept.
  core::timespan grace = std::chrono::seconds{10};
};

/// Kept work whose `keep` returns at once, because a disk or the vector of an
/// image may take long: a thread keeps the leftover. Searches do not wait for
/// that thread. `keep` returns true if the leftover is queued, and a later
/// failure counts as the other kept work counts it.
/// Threads: any.
class queued_work final : public forwarding_work {
public:
  explicit queued_work(std::shared_ptr<kept_work> kept,
                       queued_options how = {});
  ~queued_work() override;

  bool keep(std::string_view key, std::string_view text,
            leftover what) override;
  kept_counts counts() const override;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::index
