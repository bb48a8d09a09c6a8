// SPDX-License-Identifier: Apache-2.0

// This file finds and returns work; cache_entries.cpp keeps and removes it.

#include <atelier/index/cache.hpp>
#include <atelier/index/detail/answer_counts.hpp>
#include <atelier/index/detail/fair_mutex.hpp>
#include <atelier/index/detail/hot_payloads.hpp>
#include <atelier/index/detail/ledger.hpp>
#include <atelier/index/detail/medium.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/ipc/checksum.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace atelier::index {

using core::ec;
using detail::known_entry;
using detail::part_row;

namespace {

/// Number of entries that a list looks at while searches wait.
constexpr size_t entries_at_once = 4096;

/// Sorts matches as kept_work::near returns them: the most similar first, of
/// equally similar ones those of least depth, then the newest.
void sort_best_first(std::vector<planning::match>& all) {
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tuple{b.similarity, a.depth, b.entry}
         < std::tuple{a.similarity, b.depth, a.entry};
  });
}

} // namespace

int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

cache::cache(cache_rules rules, std::unique_ptr<detail::medium> keeps)
  : rules_(std::move(rules)),
    medium_(std::move(keeps)),
    lock_(std::make_unique<detail::fair_mutex>()),
    shares_(std::make_unique<detail::ledger>(
      detail::budget{rules_.bytes, rules_.entries, rules_.tenant_floor,
                     rules_.rule, rules_.parts})),
    copies_(
      std::make_unique<detail::hot_shelves>(rules_.memory_bytes, rules_.parts)),
    answers_(std::make_unique<detail::answer_counts>(rules_.answers)),
    vectors_(rules_.encoder->dimensions(), rules_.search) {
  ATELIER_EXPECTS(!rules_.images
                    || rules_.images->dimensions()
                         == rules_.encoder->dimensions(),
                  "images have the dimensions of texts");
}

cache::~cache() {
  cache::write_back();
}

planning::compared cache::compares() const {
  return rules_.images ? planning::compared::images
                       : planning::compared::prompts;
}

std::vector<float> cache::encoded(std::string_view key, std::string_view text) {
  auto out = index::encoded(*rules_.encoder, key, text);
  if (out.failed) {
    const std::lock_guard hold{*lock_};
    ++counts_.failed;
  }
  return std::move(out.vector);
}

std::vector<planning::match> cache::near(std::string_view key,
                                         std::string_view text,
                                         const search_terms& by) {
  const bool readable = !medium_->state().reads_left_out;
  std::vector<near_vector> found;
  if (const auto wanted = encoded(key, text); !wanted.empty())
    found =
      vectors_.near(rules_.scope + std::string{key}, wanted, by.most, by.needs);
  if (!readable)
    found.clear();
  const auto words = digest_of_words(text);
  const auto sha256 = core::sha256(std::as_bytes(std::span{text}));
  std::vector<planning::match> out;
  const std::lock_guard hold{*lock_};
  for (const auto& each : found) {
    const auto at = by_number_.find(each.number);
    // An entry that is being written has a vector already, and a part of one
    // may have left since the search.
    if (at == by_number_.end() || !serves(at->second->holds(), by.needs))
      continue;
    const auto& entry = *at->second;
    planning::match x;
    x.entry = entry.number;
    x.similarity = rules_.images
                   ? each.similarity
                   : similarity_of_texts(each.similarity, entry.words == words);
    x.depth = entry.depth;
    x.seeded = entry.seed && entry.text_sha256 == sha256;
    x.seed = x.seeded ? *entry.seed : 0;
    for (const auto& part : entry.parts)
      if (part.steps != 0)
        x.stored.push_back(part.steps);
    out.push_back(std::move(x));
  }
  sort_best_first(out);
  const bool hit = !out.empty() && out.front().similarity >= by.hit_from;
  ++(hit ? counts_.hits : counts_.misses);
  return out;
}

core::result<payload> cache::state(uint64_t entry, uint32_t steps) {
  const auto from = used(entry);
  if (!from)
    return core::fail(ec::not_found, "entry {} is gone", entry);
  const auto* const part = from->part_of(steps);
  if (steps == 0 || part == nullptr)
    return core::fail(ec::not_found, "entry {} has no state after {} steps",
                      entry, steps);
  return give(*from, *part, steps);
}

core::result<payload> cache::image(uint64_t entry, core::extent px,
                                   uint32_t skips) {
  const auto from = used(entry);
  if (!from)
    return core::fail(ec::not_found, "entry {} is gone", entry);
  const auto* const part = from->part_of(0);
  if (part == nullptr || from->px != px)
    return core::fail(ec::not_found, "entry {} has no image of {}x{} pixels",
                      entry, px.width, px.height);
  return give(*from, *part, skips);
}

cache::entry_ptr cache::used(uint64_t entry) {
  const std::lock_guard hold{*lock_};
  const auto at = by_number_.find(entry);
  if (at == by_number_.end())
    return nullptr;
  shares_->use(entry, ++last_use_);
  if (medium_->is_lasting())
    unwritten_.insert(entry);
  return at->second;
}

core::result<payload> cache::read(const known_entry& from,
                                  const part_row& part) {
  payload copy;
  {
    const std::lock_guard hold{*lock_};
    if (auto* const shelf = copies_->shelf_of(tenant_part(from.key)))
      copy = shelf->find(from.number, part.steps);
  }
  // A copy that changed in memory says nothing about the medium.
  if (copy && ipc::xxh3(*copy) == part.checksum)
    return copy;
  auto out = medium_->read(from.number, part);
  if (out && ipc::xxh3(**out) != part.checksum)
    return core::fail(ec::bad_payload, "entry {}: its bytes have changed",
                      from.number);
  return out;
}

core::result<payload> cache::give(const known_entry& from, const part_row& part,
                                  uint32_t skips) {
  auto out = read(from, part);
  if (!out && out.why().code == ec::io_failed)
    return out;
  // What leaves is freed without the lock.
  std::vector<entry_ptr> leaving;
  const std::lock_guard hold{*lock_};
  const bool there = is_there(from.number, part.steps);
  if (!out) {
    // It may have left while it was read.
    if (!there)
      return core::fail(ec::not_found,
                        "entry {}: its payload of {} steps is gone",
                        from.number, part.steps);
    leaving.push_back(drop(from.number, &kept_counts::dropped_torn));
    return core::fail(ec::bad_payload,
                      "entry {}: its {} bytes are not those that were kept",
                      from.number, part.bytes);
  }
  if (auto* const shelf = copies_->shelf_of(tenant_part(from.key));
      shelf != nullptr && there)
    shelf->put(from.number, part.steps, *out);
  if (!by_number_.contains(from.number))
    return out;
  shares_->save(from.number, part.steps, skips);
  // The entries of its text leave with their last answer.
  for (const auto x : answers_->count(from.number))
    leaving.push_back(drop(x, &kept_counts::spent));
  return out;
}

void cache::drop_torn(uint64_t entry) {
  // The entry is freed without the lock.
  entry_ptr torn;
  const std::lock_guard hold{*lock_};
  torn = drop(entry, &kept_counts::dropped_torn);
}

bool cache::prepare(leftover& what) {
  if (!rules_.images || !what.vector.empty())
    return true;
  auto made = index::encoded(*rules_.images, what.image, what.px);
  what.vector = std::move(made.vector);
  if (made.failed) {
    const std::lock_guard hold{*lock_};
    ++counts_.failed;
  }
  return !what.vector.empty();
}

kept_counts cache::counts() const {
  const auto of_vectors = vectors_.counts();
  const auto of_medium = medium_->state();
  const std::lock_guard hold{*lock_};
  auto out = counts_;
  out.entries = shares_->entries();
  out.bytes = shares_->bytes();
  out.overflowed = of_vectors.refused;
  out.searches_checked = of_vectors.checked;
  out.searches_agreed = of_vectors.agreed;
  out.compared = of_vectors.compared;
  out.visited = of_vectors.visited;
  out.builds = of_vectors.builds;
  out.failed_builds = of_vectors.failed_builds;
  out.failed += of_medium.failed;
  out.reads_left_out = of_medium.reads_left_out;
  out.writes_left_out = of_medium.writes_left_out;
  out.encoder = rules_.encoder->counts();
  if (rules_.images)
    out.encoder.images = rules_.images->encoded();
  return out;
}

std::vector<float> cache::vector_of(std::string_view key,
                                    std::string_view text) {
  return encoded(key, text);
}

// Only entries of the scope have vectors, and a key ends with its namespace.
std::optional<space_extent> cache::extent(std::string_view space) const {
  return vectors_.extent(space);
}

std::vector<float> cache::vectors(std::string_view space, size_t most) const {
  return vectors_.vectors(space, most);
}

core::result<std::vector<kept_entry>> cache::list(const entry_page& which) {
  std::vector<kept_entry> out;
  std::vector<uint64_t> numbers;
  // No listed entry leaves the medium before its text is read.
  const std::lock_guard turn{writing_};
  auto after = which.after;
  for (bool more = true; more && out.size() < which.most;) {
    // A search waits for some of the entries only, however few are the
    // tenant's.
    size_t looked = 0;
    const std::lock_guard hold{*lock_};
    auto at = by_number_.upper_bound(after);
    for (; at != by_number_.end() && out.size() < which.most
           && looked < entries_at_once;
         ++at, ++looked) {
      const auto& from = *at->second;
      after = from.number;
      if (which.whose && from.whose != *which.whose)
        continue;
      kept_entry x;
      x.number = from.number;
      if (from.key.starts_with(rules_.scope))
        x.key = from.key.substr(rules_.scope.size());
      x.whose = from.whose;
      x.text_sha256 = core::to_hex(from.text_sha256);
      const auto& sizes = *shares_->find(from.number);
      x.bytes = sizes.bytes();
      x.saved_steps = sizes.uses.saved_steps;
      x.depth = from.depth;
      x.made = from.made;
      x.answers = answers_->of(from.number);
      x.is_in_memory = true;
      for (const auto& part : from.parts) {
        if (part.steps == 0)
          x.has_image = true;
        else
          x.steps.push_back(part.steps);
        x.is_in_memory = x.is_in_memory
                      && (part.held
                          || copies_->holds(tenant_part(from.key), from.number,
                                            part.steps));
      }
      numbers.push_back(from.number);
      out.push_back(std::move(x));
    }
    more = at != by_number_.end();
  }
  auto texts = medium_->texts(numbers);
  if (!texts)
    return texts.why();
  for (auto& x : out)
    if (const auto at = texts->find(x.number); at != texts->end())
      x.text = std::move(at->second);
  return out;
}

} // namespace atelier::index
