// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/index/kept_work.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace atelier::index {

struct queued_options {
  /// The maximum number of leftovers that wait to be kept, 1..256. More are not
  /// kept, and count as failed.
  size_t most = 16;
  /// The maximum wait of the destructor until all of them are kept.
  core::timespan grace = std::chrono::seconds{10};
};

/// Kept work whose `keep` returns at once, because the vector of an image may
/// take long: a thread makes it and keeps the leftover. Searches do not wait
/// for that thread. `keep` returns true if the leftover is queued, and a later
/// failure counts as the other kept work counts it.
/// Threads: any.
class queued_work final : public kept_work {
public:
  explicit queued_work(std::shared_ptr<kept_work> kept,
                       queued_options how = {});
  ~queued_work() override;

  planning::compared compares() const override;
  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    size_t most) override;
  core::result<payload> state(uint64_t entry, uint32_t steps) override;
  core::result<payload> image(uint64_t entry, core::extent px,
                              uint32_t skips) override;
  void drop_torn(uint64_t entry) override;
  bool prepare(leftover& what) override;
  bool keep(std::string_view key, std::string_view text,
            leftover what) override;
  kept_counts counts() const override;
  std::vector<float> vector_of(std::string_view key,
                               std::string_view text) override;
  std::optional<space_extent> extent(std::string_view space) const override;
  std::vector<float> vectors(std::string_view space,
                             size_t most) const override;
  core::result<std::vector<kept_entry>> list(const entry_page& which) override;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::index
