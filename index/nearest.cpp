// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/result.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/text_vector.hpp>

#include <algorithm>
#include <utility>

namespace atelier::index {

struct nearest_by_key::entry {
  uint64_t number = 0;
  std::vector<float> unit;
};

nearest_by_key::nearest_by_key(size_t dimensions) : dimensions_(dimensions) {
  ATELIER_EXPECTS(dimensions > 0, "vectors have a length");
}

nearest_by_key::~nearest_by_key() = default;

void nearest_by_key::insert(std::string_view key, uint64_t number,
                            std::span<const float> unit) {
  ATELIER_EXPECTS(unit.size() == dimensions_, "a vector has the dimensions");
  auto made = std::make_shared<entry>();
  made->number = number;
  made->unit.assign(unit.begin(), unit.end());
  const std::lock_guard hold{lock_};
  by_key_[std::string{key}].push_back(std::move(made));
  ++count_;
}

bool nearest_by_key::add(std::string_view key, uint64_t number,
                         std::span<const float> unit) {
  insert(key, number, unit);
  return true;
}

void nearest_by_key::load(std::string_view key, uint64_t number,
                          std::span<const float> unit) {
  insert(key, number, unit);
}

bool nearest_by_key::remove(std::string_view key, uint64_t number) {
  const std::lock_guard hold{lock_};
  const auto of_key = by_key_.find(std::string{key});
  if (of_key == by_key_.end())
    return false;
  auto& same = of_key->second;
  const auto at = std::find_if(
    same.begin(), same.end(), [&](const auto& x) { return x->number == number; });
  if (at == same.end())
    return false;
  same.erase(at);
  if (same.empty())
    by_key_.erase(of_key);
  --count_;
  return true;
}

std::vector<near_vector> nearest_by_key::near(std::string_view key,
                                              std::span<const float> unit,
                                              size_t most) const {
  ATELIER_EXPECTS(unit.size() == dimensions_, "a vector has the dimensions");
  entries candidates;
  {
    const std::lock_guard hold{lock_};
    if (const auto at = by_key_.find(std::string{key}); at != by_key_.end())
      candidates = at->second;
  }
  std::vector<near_vector> out;
  for (const auto& x : candidates)
    if (const auto likeness = similarity(unit, x->unit); likeness > 0)
      out.push_back({x->number, likeness});
  const auto best =
    out.begin() + static_cast<std::ptrdiff_t>(std::min(most, out.size()));
  std::partial_sort(out.begin(), best, out.end(),
                    [](const near_vector& a, const near_vector& b) {
                      return std::pair{a.similarity, a.number}
                           > std::pair{b.similarity, b.number};
                    });
  out.erase(best, out.end());
  return out;
}

uint64_t nearest_by_key::bytes() const {
  const std::lock_guard hold{lock_};
  return count_ * (sizeof(entry) + dimensions_ * sizeof(float));
}

} // namespace atelier::index
