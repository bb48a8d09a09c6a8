// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/eviction_rule.hpp>
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/text_encoder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

/// The limits on what is kept.
struct memory_bounds {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  /// Payloads that an entry and those of the same words under its key may give
  /// altogether, one for each request that they answer; they leave with the
  /// last one. 0: any number.
  uint64_t answers = 0;
  /// A server's rule, by which entries leave for others.
  core::eviction_rule rule = core::eviction_rule::lru;
  /// Fraction of the bytes and entries, 0..1, that is reserved in equal parts
  /// for all tenants that keep anything; see store_options.
  double tenant_floor = 0;
  /// The number of fixed parts, one for each tenant, into which bytes and
  /// entries are divided. 0: not divided.
  uint64_t parts = 0;
};

namespace detail {

class answer_counts;
class ledger;
struct victim;

} // namespace detail

/// Returns the size by which a leftover counts under its key, in bytes: its
/// payloads, its key, and its vector of `dimensions` elements with its part of
/// the graphs that find it.
uint64_t bytes_of(std::string_view key, const leftover& what,
                  size_t dimensions);

/// Kept work in this process's memory. At a bound, entries or their payloads
/// are evicted in the order of the rule (detail::ledger). What an encoder
/// cannot read finds nothing and is not kept; it counts as failed. Threads:
/// any. Texts and images are encoded, and bytes are read, compared
///          and checked, without the lock.
class memory final : public kept_work {
public:
  /// @param images if it is set, an entry is found by the vector of its image
  ///        instead of that of its text
  /// @param date seconds since 1970
  /// @pre vectors of both encoders have the same number of elements
  explicit memory(
    memory_bounds most,
    std::shared_ptr<const text_encoder> encoder = words_encoder(),
    std::shared_ptr<const image_encoder> images = nullptr,
    vector_options how = {}, std::function<int64_t()> date = [] {
      return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
    });
  ~memory() override;

  planning::compared compares() const override;
  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const search_terms& by) override;
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
  struct part;
  struct kept;
  static held_parts held_by(const kept& entry);
  using kept_ptr = std::shared_ptr<const kept>;

  /// Returns an entry and notes that it is used; null if it is gone.
  kept_ptr used(uint64_t entry);
  core::result<payload> checked(const kept& entry, const part* which,
                                uint32_t skips);
  /// Counts an answer by the payload of `steps` that skipped that many steps.
  /// The entries of its text leave with their last answer.
  void count_answer(uint64_t entry, uint32_t steps, uint32_t skips);
  /// Removes an entry; returns null if it is gone.
  kept_ptr take_out(uint64_t entry);
  /// Evicts an entry or some of its payloads. Returns the entry as it was.
  kept_ptr evict(const detail::victim& which);

  /// Returns a text's vector; empty if the encoder failed or the text has
  /// nothing to compare.
  std::vector<float> encoded(std::string_view key, std::string_view text);

  const memory_bounds most_;
  const std::shared_ptr<const text_encoder> encoder_;
  /// Null if searches compare texts.
  const std::shared_ptr<const image_encoder> images_;
  const std::function<int64_t()> date_;
  mutable std::mutex lock_;
  /// The sizes, tenants and uses of the entries.
  const std::unique_ptr<detail::ledger> shares_;
  /// Ordered, so that pages of entries are found by their first number.
  std::map<uint64_t, kept_ptr> by_number_;
  /// Payloads given.
  const std::unique_ptr<detail::answer_counts> answers_;
  nearest_by_key vectors_;
  uint64_t last_number_ = 0;
  uint64_t last_use_ = 0;
  /// Without the entries and their bytes, which `shares_` counts.
  kept_counts counts_;
};

} // namespace atelier::index
