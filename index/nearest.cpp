// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/result.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/vectors/detail/build_thread.hpp>

#include <algorithm>
#include <functional>

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

void nearest_by_key::enter(std::string_view key, index_ptr made) {
  const std::lock_guard hold{lock_};
  by_key_.emplace(key, std::move(made));
}

bool nearest_by_key::add(std::string_view key, uint64_t number,
                         std::span<const float> unit, held_parts holds) {
  const std::lock_guard writes{writers_};
  if (const auto there = of(key)) {
    if (!there->add(number, unit, holds))
      return false;
  } else {
    auto made =
      std::make_shared<vector_index>(dimensions_, how_, counters_, *builder_);
    if (!made->add(number, unit, holds))
      return false;
    enter(key, std::move(made));
  }
  count(key, true);
  return true;
}

void nearest_by_key::fill(std::string_view key,
                          std::vector<loaded_vector> all) {
  if (all.empty())
    return;
  const std::lock_guard writes{writers_};
  ATELIER_EXPECTS(!of(key), "a key is filled before others add");
  const auto comes = all.size();
  auto made =
    std::make_shared<vector_index>(dimensions_, how_, counters_, *builder_);
  made->fill(std::move(all));
  enter(key, std::move(made));
  for (size_t i = 0; i < comes; ++i)
    count(key, true);
}

void nearest_by_key::count(std::string_view key, bool comes) {
  const std::lock_guard hold{lock_};
  const auto at =
    by_space_
      .try_emplace(std::string{tenant_part(key)}, space_extent{0, changes_})
      .first;
  ++changes_;
  ++at->second.changes;
  if (comes)
    ++at->second.entries;
  else if (--at->second.entries == 0)
    by_space_.erase(at);
}

bool nearest_by_key::remove(std::string_view key, uint64_t number) {
  const std::lock_guard writes{writers_};
  const auto there = of(key);
  if (!there || !there->remove(number))
    return false;
  count(key, false);
  if (there->size() == 0) {
    const std::lock_guard hold{lock_};
    by_key_.erase(std::string{key});
  }
  return true;
}

bool nearest_by_key::note_held(std::string_view key, uint64_t number,
                               held_parts holds) {
  const auto there = of(key);
  return there && there->note_held(number, holds);
}

std::vector<near_vector> nearest_by_key::near(
  std::string_view key, std::span<const float> unit, size_t most,
  const planning::needed_work& needs) const {
  const auto there = of(key);
  return there ? there->near(unit, most, needs) : std::vector<near_vector>{};
}

space_extent nearest_by_key::extent(std::string_view space) const {
  const std::lock_guard hold{lock_};
  const auto at = by_space_.find(std::string{space});
  return at == by_space_.end() ? space_extent{0, changes_} : at->second;
}

std::vector<float> nearest_by_key::vectors(std::string_view space,
                                           size_t most) const {
  std::vector<index_ptr> all;
  {
    const std::lock_guard hold{lock_};
    for (const auto& [key, x] : by_key_)
      if (tenant_part(key) == space)
        all.push_back(x);
  }
  std::vector<vector_index::numbered> found;
  for (const auto& x : all)
    x->add_all(found);
  std::ranges::sort(found, std::ranges::greater{},
                    [](const auto& x) { return x.number; });
  found.resize(std::min(found.size(), most));
  std::vector<float> out;
  out.reserve(found.size() * dimensions_);
  for (const auto& x : found)
    out.insert(out.end(), x.unit->begin(), x.unit->end());
  return out;
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
