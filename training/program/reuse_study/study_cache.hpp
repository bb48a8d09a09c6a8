// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/kept_work.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::reuse_study {

/// The cache of a system's engine. It forwards everything to the configured
/// cache, and says what the current request found and whether its work was
/// kept. Threads: any; one request at a time.
class study_cache : public index::kept_work {
public:
  explicit study_cache(std::shared_ptr<index::kept_work> inner);

  /// Forgets the previous request.
  void begin_request();

  /// Returns the similarity of the nearest entry that the request's search
  /// found; nothing if it found none or made none.
  std::optional<double> nearest() const;

  /// Waits until the request's work was kept, or could not be. Returns whether
  /// it was kept; nothing if neither happens within `patience`.
  std::optional<bool> wait_until_kept(std::chrono::seconds patience);

  /// Learns of an entry that the cache had before this one was made.
  virtual void know(std::string text);

  planning::compared compares() const override;
  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const index::search_terms& by) override;
  core::result<index::payload> state(uint64_t entry, uint32_t steps) override;
  core::result<index::payload> image(uint64_t entry, core::extent px,
                                     uint32_t skips) override;
  void drop_torn(uint64_t entry) override;
  bool keep(std::string_view key, std::string_view text,
            index::leftover what) override;
  index::kept_counts counts() const override;

protected:
  /// Returns the entries that a search finds; by default the nearest ones.
  virtual std::vector<planning::match> find(std::string_view key,
                                            std::string_view text,
                                            const index::search_terms& by);

  /// Learns that a text's work was kept under a key.
  virtual void learn(std::string_view key, std::string_view text);

  index::kept_work& inner() {
    return *inner_;
  }

private:
  const std::shared_ptr<index::kept_work> inner_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::optional<double> nearest_;
  std::optional<bool> kept_;
};

/// Finds any entry instead of the nearest: each with the same probability,
/// whatever its prompt. It reports the similarity that another system found for
/// the same request, so that a policy skips equally many steps.
class any_entry_cache final : public study_cache {
public:
  /// @param texts the texts of the entries that `inner` has already
  any_entry_cache(std::shared_ptr<index::kept_work> inner,
                  std::vector<std::string> texts, uint64_t seed);

  /// Sets the number of the next request, and the similarity that its search is
  /// to tell; nothing: it finds no entry.
  void expect(uint64_t request, std::optional<double> similarity);

  void know(std::string text) override;

private:
  std::vector<planning::match> find(std::string_view key, std::string_view text,
                                    const index::search_terms& by) override;
  void learn(std::string_view key, std::string_view text) override;

  const uint64_t seed_;
  std::mutex lock_;
  std::vector<std::string> texts_;
  uint64_t request_ = 0;
  std::optional<double> similarity_;
};

} // namespace atelier::runtime::reuse_study
