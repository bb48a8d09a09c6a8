// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/kept_work.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::index {

/// Kept work that forwards every call to another. Its subclasses override what
/// they change.
/// Threads: any.
class forwarding_work : public kept_work {
public:
  explicit forwarding_work(std::shared_ptr<kept_work> to)
    : to_(std::move(to)) {}

  planning::compared compares() const override {
    return to_->compares();
  }

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const search_terms& by) override {
    return to_->near(key, text, by);
  }

  core::result<payload> state(uint64_t entry, uint32_t steps) override {
    return to_->state(entry, steps);
  }

  core::result<payload> image(uint64_t entry, core::extent px,
                              uint32_t skips) override {
    return to_->image(entry, px, skips);
  }

  void drop_torn(uint64_t entry) override {
    to_->drop_torn(entry);
  }

  bool prepare(leftover& what) override {
    return to_->prepare(what);
  }

  bool keep(std::string_view key, std::string_view text,
            leftover what) override {
    return to_->keep(key, text, std::move(what));
  }

  kept_counts counts() const override {
    return to_->counts();
  }

  bool has_unwritten() const override {
    return to_->has_unwritten();
  }

  void write_back() override {
    to_->write_back();
  }

  std::vector<float> vector_of(std::string_view key,
                               std::string_view text) override {
    return to_->vector_of(key, text);
  }

  std::optional<space_extent> extent(std::string_view space) const override {
    return to_->extent(space);
  }

  std::vector<float> vectors(std::string_view space,
                             size_t most) const override {
    return to_->vectors(space, most);
  }

  core::result<std::vector<kept_entry>> list(const entry_page& which) override {
    return to_->list(which);
  }

protected:
  const std::shared_ptr<kept_work>& to() const {
    return to_;
  }

  /// Forwards no further calls. Returns what they were forwarded to.
  std::shared_ptr<kept_work> let_go() {
    return std::exchange(to_, nullptr);
  }

private:
  std::shared_ptr<kept_work> to_;
};

} // namespace atelier::index
