// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/index/detail/answer_counts.hpp>
#include <atelier/index/detail/ledger.hpp>
#include <atelier/index/detail/match_order.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/ipc/checksum.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::index {

struct memory::part {
  /// 0 for an image.
  uint32_t steps = 0;
  payload bytes;
  /// Computed when the bytes were kept.
  uint64_t checksum = 0;

  static part of(uint32_t steps, std::vector<std::byte> bytes) {
    part out;
    out.steps = steps;
    out.checksum = ipc::xxh3(bytes);
    out.bytes = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    return out;
  }
};

struct memory::kept {
  uint64_t number = 0;
  std::string key;
  /// Ordered by rising steps.
  std::vector<part> states;
  part image;
  core::extent px;
  uint32_t depth = 0;
  core::tenant_id whose;
  std::optional<uint64_t> seed;
  std::string text_sha256;
  words_digest words{};
  int64_t made = 0;
};

uint64_t bytes_of(std::string_view key, const leftover& what,
                  size_t dimensions) {
  uint64_t out =
    key.size() + vector_index::bytes_of_each(dimensions) + what.image.size();
  for (const auto& x : what.states)
    out += x.bytes.size();
  return out;
}

memory::memory(memory_bounds most, std::shared_ptr<const text_encoder> encoder,
               std::shared_ptr<const image_encoder> images, vector_options how,
               std::function<int64_t()> date)
  : most_(most),
    encoder_(std::move(encoder)),
    images_(std::move(images)),
    date_(std::move(date)),
    shares_(std::make_unique<detail::ledger>(detail::budget{
      most.bytes, most.entries, most.tenant_floor, most.rule, most.parts})),
    answers_(std::make_unique<detail::answer_counts>(most.answers)),
    vectors_(encoder_->dimensions(), how) {
  ATELIER_EXPECTS(!images_ || images_->dimensions() == encoder_->dimensions(),
                  "images have the dimensions of texts");
}

memory::~memory() = default;

planning::compared memory::compares() const {
  return images_ ? planning::compared::images : planning::compared::prompts;
}

std::vector<float> memory::encoded(std::string_view key,
                                   std::string_view text) {
  auto out = index::encoded(*encoder_, key, text);
  if (out.failed) {
    const std::lock_guard hold{lock_};
    ++counts_.failed;
  }
  return std::move(out.vector);
}

held_parts memory::held_by(const kept& entry) {
  held_parts out;
  out.last_steps = entry.states.empty() ? 0 : entry.states.back().steps;
  out.depth = held_parts::counted_depth(entry.depth);
  out.image = entry.image.bytes != nullptr;
  return out;
}

std::vector<planning::match> memory::near(std::string_view key,
                                          std::string_view text,
                                          const search_terms& by) {
  std::vector<near_vector> found;
  if (const auto wanted = encoded(key, text); !wanted.empty())
    found = vectors_.near(key, wanted, by.most, by.needs);
  const auto words = digest_of_words(text);
  const auto sha256 = core::sha256_hex(text);
  std::vector<planning::match> out;
  const std::lock_guard hold{lock_};
  for (const auto& each : found) {
    const auto at = by_number_.find(each.number);
    // The entry, or a part of it, may have left since the search.
    if (at == by_number_.end() || !serves(held_by(*at->second), by.needs))
      continue;
    const auto& entry = *at->second;
    planning::match x;
    x.entry = entry.number;
    x.similarity = images_
                   ? each.similarity
                   : similarity_of_texts(each.similarity, entry.words == words);
    x.depth = entry.depth;
    x.seeded = entry.seed && entry.text_sha256 == sha256;
    x.seed = x.seeded ? *entry.seed : 0;
    for (const auto& state : entry.states)
      x.stored.push_back(state.steps);
    out.push_back(std::move(x));
  }
  detail::sort_best_first(out);
  const bool hit = !out.empty() && out.front().similarity >= by.hit_from;
  ++(hit ? counts_.hits : counts_.misses);
  return out;
}

core::result<payload> memory::state(uint64_t entry, uint32_t steps) {
  const auto from = used(entry);
  if (!from)
    return core::fail(core::ec::not_found, "entry {} is gone", entry);
  const auto at = std::find_if(from->states.begin(), from->states.end(),
                               [&](const part& x) { return x.steps == steps; });
  if (at == from->states.end())
    return core::fail(core::ec::not_found,
                      "entry {} has no state after {} steps", entry, steps);
  return checked(*from, &*at, steps);
}

core::result<payload> memory::image(uint64_t entry, core::extent px,
                                    uint32_t skips) {
  const auto from = used(entry);
  if (!from)
    return core::fail(core::ec::not_found, "entry {} is gone", entry);
  if (!from->image.bytes || from->px != px)
    return core::fail(core::ec::not_found,
                      "entry {} has no image of {}x{} pixels", entry, px.width,
                      px.height);
  return checked(*from, &from->image, skips);
}

memory::kept_ptr memory::used(uint64_t entry) {
  const std::lock_guard hold{lock_};
  const auto at = by_number_.find(entry);
  if (at == by_number_.end())
    return nullptr;
  shares_->use(entry, ++last_use_);
  return at->second;
}

core::result<payload> memory::checked(const kept& entry, const part* which,
                                      uint32_t skips) {
  if (ipc::xxh3(*which->bytes) == which->checksum) {
    count_answer(entry.number, which->steps, skips);
    return which->bytes;
  }
  drop_torn(entry.number);
  return core::fail(core::ec::bad_payload,
                    "entry {}: its {} bytes are not those that were kept",
                    entry.number, which->bytes->size());
}

void memory::count_answer(uint64_t entry, uint32_t steps, uint32_t skips) {
  // The entries are freed without the lock.
  std::vector<kept_ptr> spent;
  const std::lock_guard hold{lock_};
  shares_->save(entry, steps, skips);
  for (const auto x : answers_->count(entry))
    spent.push_back(take_out(x));
  counts_.spent += spent.size();
}

void memory::drop_torn(uint64_t entry) {
  // The entry is freed without the lock.
  kept_ptr torn;
  const std::lock_guard hold{lock_};
  torn = take_out(entry);
  if (torn)
    ++counts_.dropped_torn;
}

bool memory::prepare(leftover& what) {
  if (!images_ || !what.vector.empty())
    return true;
  auto made = index::encoded(*images_, what.image, what.px);
  what.vector = std::move(made.vector);
  if (made.failed) {
    const std::lock_guard hold{lock_};
    ++counts_.failed;
  }
  return !what.vector.empty();
}

bool memory::keep(std::string_view key, std::string_view text, leftover what) {
  const auto bytes = bytes_of(key, what, encoder_->dimensions());
  if ((what.states.empty() && what.image.empty()) || bytes > most_.bytes
      || most_.entries == 0)
    return false;
  if (!prepare(what))
    return false;
  auto entry = std::make_shared<kept>();
  const auto vector = images_ ? std::move(what.vector) : encoded(key, text);
  if (vector.empty())
    return false;
  entry->key = key;
  for (auto& x : what.states)
    entry->states.push_back(part::of(x.steps, std::move(x.bytes)));
  ATELIER_EXPECTS(std::adjacent_find(entry->states.begin(), entry->states.end(),
                                     [](const part& a, const part& b) {
                                       return a.steps >= b.steps;
                                     })
                    == entry->states.end(),
                  "a leftover's steps rise");
  if (!what.image.empty()) {
    entry->image = part::of(0, std::move(what.image));
    entry->px = what.px;
  }
  entry->depth = what.depth;
  entry->whose = what.whose;
  entry->seed = what.seed;
  entry->text_sha256 = core::sha256_hex(text);
  entry->words = digest_of_words(text);
  entry->made = date_();
  detail::ledger_entry sizes;
  sizes.whose = what.whose;
  sizes.overhead = bytes;
  const auto count = [&](const part& x) {
    sizes.overhead -= x.bytes->size();
    sizes.parts.push_back({x.steps, x.bytes->size(), {}});
  };
  if (entry->image.bytes)
    count(entry->image);
  for (const auto& x : entry->states)
    count(x);
  // The entries are freed without the lock.
  std::vector<kept_ptr> leaving;
  const std::lock_guard hold{lock_};
  const auto room = shares_->room_for(what.whose, bytes, 0);
  if (!room || !vectors_.add(key, last_number_ + 1, vector, held_by(*entry)))
    return false;
  for (const auto& x : *room)
    leaving.push_back(evict(x));
  entry->number = ++last_number_;
  sizes.uses.last = ++last_use_;
  for (auto& x : sizes.parts)
    x.uses.last = last_use_;
  shares_->add(entry->number, std::move(sizes));
  answers_->enter(entry->number, entry->key, entry->words);
  by_number_.emplace(entry->number, std::move(entry));
  return true;
}

memory::kept_ptr memory::take_out(uint64_t entry) {
  const auto at = by_number_.find(entry);
  if (at == by_number_.end())
    return nullptr;
  auto out = std::move(at->second);
  by_number_.erase(at);
  shares_->remove(entry);
  answers_->leave(entry);
  vectors_.remove(out->key, entry);
  return out;
}

memory::kept_ptr memory::evict(const detail::victim& which) {
  if (which.steps.empty()) {
    ++counts_.evicted;
    return take_out(which.number);
  }
  counts_.evicted_payloads += which.steps.size();
  shares_->remove(which.number, which.steps);
  auto& entry = by_number_.at(which.number);
  auto rest = std::make_shared<kept>(*entry);
  for (const auto steps : which.steps)
    if (steps == 0)
      rest->image = {};
    else
      std::erase_if(rest->states,
                    [&](const part& x) { return x.steps == steps; });
  vectors_.note_held(rest->key, which.number, held_by(*rest));
  return std::exchange(entry, std::move(rest));
}

kept_counts memory::counts() const {
  const auto of_vectors = vectors_.counts();
  const std::lock_guard hold{lock_};
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
  out.encoder = encoder_->counts();
  if (images_)
    out.encoder.images = images_->encoded();
  return out;
}

std::vector<float> memory::vector_of(std::string_view key,
                                     std::string_view text) {
  return encoded(key, text);
}

std::optional<space_extent> memory::extent(std::string_view space) const {
  return vectors_.extent(space);
}

std::vector<float> memory::vectors(std::string_view space, size_t most) const {
  return vectors_.vectors(space, most);
}

core::result<std::vector<kept_entry>> memory::list(const entry_page& which) {
  std::vector<kept_entry> out;
  const std::lock_guard hold{lock_};
  for (auto at = by_number_.upper_bound(which.after);
       at != by_number_.end() && out.size() < which.most; ++at) {
    const auto& from = *at->second;
    if (which.whose && from.whose != *which.whose)
      continue;
    kept_entry x;
    x.number = from.number;
    x.key = from.key;
    x.whose = from.whose;
    x.text_sha256 = from.text_sha256;
    const auto& sizes = *shares_->find(from.number);
    x.bytes = sizes.bytes();
    x.saved_steps = sizes.uses.saved_steps;
    for (const auto& state : from.states)
      x.steps.push_back(state.steps);
    x.has_image = from.image.bytes != nullptr;
    x.depth = from.depth;
    x.made = from.made;
    x.is_in_memory = true;
    x.answers = answers_->of(from.number);
    out.push_back(std::move(x));
  }
  return out;
}

} // namespace atelier::index
