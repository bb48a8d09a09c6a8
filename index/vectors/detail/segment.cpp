// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/vectors/detail/candidates.hpp>
#include <atelier/index/vectors/detail/codes.hpp>
#include <atelier/index/vectors/detail/products.hpp>
#include <atelier/index/vectors/detail/segment.hpp>

#include <algorithm>
#include <utility>

namespace atelier::index::detail {

namespace {

constexpr size_t chunk_entries = 64;

} // namespace

// A new version of the segment copies the last chunk, and the pointers to the
// others.
struct segment::chunk {
  std::vector<entry_ptr> entries;
  std::vector<code_scale> scales;
  /// One after the other.
  std::vector<int8_t> codes;

  void append(entry_ptr what) {
    const auto before = codes.size();
    codes.resize(before + what->unit.size());
    scales.push_back(encode(what->unit, codes.data() + before));
    entries.push_back(std::move(what));
  }
};

void segment::append(entry_ptr what) {
  auto last = std::make_shared<chunk>();
  if (!chunks_.empty() && chunks_.back()->entries.size() < chunk_entries) {
    *last = *chunks_.back();
    chunks_.pop_back();
  }
  last->append(std::move(what));
  chunks_.push_back(std::move(last));
}

void segment::fill(std::span<const entry_ptr> with) {
  chunks_.clear();
  while (!with.empty()) {
    auto next = std::make_shared<chunk>();
    const auto count = std::min(chunk_entries, with.size());
    for (const auto& x : with.first(count))
      next->append(x);
    chunks_.push_back(std::move(next));
    with = with.subspan(count);
  }
}

size_t segment::slots() const {
  size_t out = 0;
  for (const auto& some : chunks_)
    out += some->entries.size();
  return out;
}

std::vector<entry_ptr> segment::live_after(size_t slots) const {
  std::vector<entry_ptr> out;
  size_t slot = 0;
  for (const auto& some : chunks_)
    for (const auto& x : some->entries)
      if (slot++ >= slots && !x->gone)
        out.push_back(x);
  return out;
}

size_t segment::near(std::span<const float> unit, size_t most,
                     const planning::needed_work& needs,
                     std::vector<near_vector>& to) const {
  std::vector<int8_t> codes(unit.size());
  const auto scale = encode(unit, codes.data());
  const auto of_codes = chosen_products().of_codes;
  std::vector<candidate> all;
  all.reserve(slots());
  const bool all_serve = takes_all(needs);
  for (const auto& some : chunks_)
    for (size_t i = 0; i < some->entries.size(); ++i) {
      if (!all_serve && !serves(some->entries[i]->holds, needs))
        continue;
      const auto& theirs = some->scales[i];
      const auto product = of_codes(
        codes.data(), some->codes.data() + i * codes.size(), codes.size());
      all.push_back({limit_of(product, scale, theirs), some->entries[i].get()});
    }
  const auto compared = all.size();
  add_nearest(std::move(all), unit, most, needs, to);
  return compared;
}

uint64_t segment::bytes_of(size_t entries, size_t dimensions) {
  return entries * (sizeof(entry_ptr) + sizeof(code_scale) + dimensions);
}

} // namespace atelier::index::detail
