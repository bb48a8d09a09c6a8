// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/forwarding.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace atelier::index {

/// A secret permutation of the numbers below 2^48: a Feistel cipher of four
/// rounds of SHA-256. JavaScript reads such numbers exactly.
/// Threads: any.
class number_veil {
public:
  using secret = std::array<std::byte, 16>;

  explicit number_veil(const secret& by) : secret_(by) {}

  /// Returns the veil of a random secret.
  static number_veil random();

  /// @pre number < 2^48
  uint64_t veiled(uint64_t number) const;

  /// Returns the number that was veiled.
  /// @pre number < 2^48
  uint64_t unveiled(uint64_t number) const;

private:
  uint32_t round(uint32_t half, uint32_t index) const;

  secret secret_;
};

/// Kept work whose entries have veiled numbers, because clients see the number
/// of the entry from which their image started. The numbers behind them count
/// the entries of all tenants: two of them show how much others stored
/// meanwhile. An entry's number changes with the secret.
/// Threads: any.
class veiled_work final : public forwarding_work {
public:
  veiled_work(std::shared_ptr<kept_work> kept, number_veil veil);

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const search_terms& by) override;
  core::result<payload> state(uint64_t entry, uint32_t steps) override;
  core::result<payload> image(uint64_t entry, core::extent px,
                              uint32_t skips) override;
  void drop_torn(uint64_t entry) override;
  /// Also numbers pages by veiled numbers: after one follow the entries that
  /// came later.
  core::result<std::vector<kept_entry>> list(const entry_page& which) override;

private:
  const number_veil veil_;
};

} // namespace atelier::index
