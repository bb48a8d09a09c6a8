// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/forwarding.hpp>

#include <utility>

namespace atelier::index {

forwarding_work::forwarding_work(std::shared_ptr<kept_work> to)
  : to_(std::move(to)) {}

std::shared_ptr<kept_work> forwarding_work::let_go() {
  return std::exchange(to_, nullptr);
}

planning::compared forwarding_work::compares() const {
  return to_->compares();
}

std::vector<planning::match> forwarding_work::near(std::string_view key,
                                                   std::string_view text,
                                                   const search_terms& by) {
  return to_->near(key, text, by);
}

core::result<payload> forwarding_work::state(uint64_t entry, uint32_t steps) {
  return to_->state(entry, steps);
}

core::result<payload> forwarding_work::image(uint64_t entry, core::extent px,
                                             uint32_t skips) {
  return to_->image(entry, px, skips);
}

void forwarding_work::drop_torn(uint64_t entry) {
  to_->drop_torn(entry);
}

bool forwarding_work::prepare(leftover& what) {
  return to_->prepare(what);
}

bool forwarding_work::keep(std::string_view key, std::string_view text,
                           leftover what) {
  return to_->keep(key, text, std::move(what));
}

kept_counts forwarding_work::counts() const {
  return to_->counts();
}

bool forwarding_work::has_unwritten() const {
  return to_->has_unwritten();
}

void forwarding_work::write_back() {
  to_->write_back();
}

std::vector<float> forwarding_work::vector_of(std::string_view key,
                                              std::string_view text) {
  return to_->vector_of(key, text);
}

std::optional<space_extent> forwarding_work::extent(
  std::string_view space) const {
  return to_->extent(space);
}

std::vector<float> forwarding_work::vectors(std::string_view space,
                                            size_t most) const {
  return to_->vectors(space, most);
}

core::result<std::vector<kept_entry>> forwarding_work::list(
  const entry_page& which) {
  return to_->list(which);
}

} // namespace atelier::index
