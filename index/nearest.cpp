// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/result.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/vectors/detail/build_thread.hpp>

namespace atelier::index {

nearest_by_key::nearest_by_key(size_t dimensions, vector_options how)
  : dimensions_(dimensions),
    how_(how),
    builder_(std::make_unique<detail::build_thread>()) {
  ATELIER_EXPECTS(dimensions > 0, "vectors have a length");
}

nearest_by_key::~nearest_by_key() = default;

nearest_by_key::index_ptr nearest_by_key::of(std::string_view key) const {
  const std::lock_guard hold{lock_};
  const auto at = by_key_.find(std::string{key});
  return at == by_key_.end() ? nullptr : at->second;
}

bool nearest_by_key::insert(std::string_view key, uint64_t number,
                            std::span<const float> unit, at_bound then) {
  const std::lock_guard writes{writers_};
  if (const auto there = of(key))
    return there->add(number, unit, then);
  auto made =
    std::make_shared<vector_index>(dimensions_, how_, counters_, *builder_);
  if (!made->add(number, unit, then))
    return false;
  const std::lock_guard hold{lock_};
  by_key_.emplace(key, std::move(made));
  return true;
}

bool nearest_by_key::add(std::string_view key, uint64_t number,
                         std::span<const float> unit) {
  return insert(key, number, unit, at_bound::refuse);
}

void nearest_by_key::load(std::string_view key, uint64_t number,
                          std::span<const float> unit) {
  insert(key, number, unit, at_bound::grow);
}

bool nearest_by_key::remove(std::string_view key, uint64_t number) {
  const std::lock_guard writes{writers_};
  const auto there = of(key);
  if (!there || !there->remove(number))
    return false;
  if (there->size() == 0) {
    const std::lock_guard hold{lock_};
    by_key_.erase(std::string{key});
  }
  return true;
}

std::vector<near_vector> nearest_by_key::near(std::string_view key,
                                              std::span<const float> unit,
                                              size_t most) const {
  const auto there = of(key);
  return there ? there->near(unit, most) : std::vector<near_vector>{};
}

uint64_t nearest_by_key::bytes() const {
  std::vector<index_ptr> all;
  {
    const std::lock_guard hold{lock_};
    for (const auto& [key, x] : by_key_)
      all.push_back(x);
  }
  uint64_t out = 0;
  for (const auto& x : all)
    out += x->bytes();
  return out;
}

vector_counts nearest_by_key::counts() const {
  return counters_.now();
}

void nearest_by_key::settle() {
  builder_->settle();
}

} // namespace atelier::index
