// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/kept_work.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace atelier::index {

/// Kept work that forwards every call to another. Its subclasses override what
/// they change.
/// Threads: any.
class forwarding_work : public kept_work {
public:
  explicit forwarding_work(std::shared_ptr<kept_work> to);

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
  bool has_unwritten() const override;
  void write_back() override;
  std::vector<float> vector_of(std::string_view key,
                               std::string_view text) override;
  std::optional<space_extent> extent(std::string_view space) const override;
  std::vector<float> vectors(std::string_view space,
                             size_t most) const override;
  core::result<std::vector<kept_entry>> list(const entry_page& which) override;

protected:
  const std::shared_ptr<kept_work>& to() const {
    return to_;
  }

  /// Forwards no further calls. Returns what they were forwarded to.
  std::shared_ptr<kept_work> let_go();

private:
  std::shared_ptr<kept_work> to_;
};

} // namespace atelier::index
