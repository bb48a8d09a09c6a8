// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/index/detail/match_order.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/store/detail/store_impl.hpp>
#include <atelier/index/store/store.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/ipc/checksum.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::index {

using core::ec;
using detail::entry_row;
using detail::part_row;

core::result<std::shared_ptr<store>> store::open(store_options options) {
  auto made = impl::open(std::move(options));
  if (!made)
    return made.why();
  return std::shared_ptr<store>{new store{std::move(*made)}};
}

store::store(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

store::~store() {
  impl_->write_back();
}

planning::compared store::compares() const {
  return impl_->with.images ? planning::compared::images
                            : planning::compared::prompts;
}

std::vector<planning::match> store::near(std::string_view key,
                                         std::string_view text,
                                         const search_terms& by) {
  auto& my = *impl_;
  const auto now = my.with.now();
  const auto wanted = my.encoded(key, text);
  std::vector<near_vector> found;
  if (!wanted.empty())
    found = my.vectors.near(my.with.scope + std::string{key}, wanted, by.most,
                            by.needs);
  const auto words = digest_of_words(text);
  const auto sha256 = core::sha256(std::as_bytes(std::span{text}));
  std::vector<planning::match> out;
  const std::lock_guard hold{my.lock};
  if (my.reads.lets_through(now))
    for (const auto& x : found) {
      // An entry that is being written has a vector already, and a part of one
      // may have left since the search.
      const auto at = my.by_number.find(x.number);
      if (at == my.by_number.end() || !serves(at->second->holds(), by.needs))
        continue;
      planning::match y;
      y.entry = x.number;
      y.similarity =
        my.with.images
          ? x.similarity
          : similarity_of_texts(x.similarity, at->second->words == words);
      y.depth = at->second->depth;
      y.seeded = at->second->seed && at->second->text == sha256;
      y.seed = y.seeded ? *at->second->seed : 0;
      for (const auto& part : at->second->parts)
        if (part.steps != 0)
          y.stored.push_back(part.steps);
      out.push_back(std::move(y));
    }
  detail::sort_best_first(out);
  const bool hit = !out.empty() && out.front().similarity >= by.hit_from;
  ++(hit ? my.counts.hits : my.counts.misses);
  return out;
}

core::result<payload> store::state(uint64_t entry, uint32_t steps) {
  const auto from = impl_->used(entry);
  if (!from)
    return core::fail(ec::not_found, "entry {} is gone", entry);
  const auto* const part = from->part_of(steps);
  if (steps == 0 || part == nullptr)
    return core::fail(ec::not_found, "entry {} has no state after {} steps",
                      entry, steps);
  return impl_->give(*from, *part, steps);
}

core::result<payload> store::image(uint64_t entry, core::extent px,
                                   uint32_t skips) {
  const auto from = impl_->used(entry);
  if (!from)
    return core::fail(ec::not_found, "entry {} is gone", entry);
  const auto* const part = from->part_of(0);
  if (part == nullptr || from->px != px)
    return core::fail(ec::not_found, "entry {} has no image of {}x{} pixels",
                      entry, px.width, px.height);
  return impl_->give(*from, *part, skips);
}

void store::drop_torn(uint64_t entry) {
  const std::lock_guard hold{impl_->lock};
  impl_->drop(entry, &kept_counts::dropped_torn);
}

bool store::prepare(leftover& what) {
  if (!impl_->with.images || !what.vector.empty())
    return true;
  auto made = index::encoded(*impl_->with.images, what.image, what.px);
  what.vector = std::move(made.vector);
  if (made.failed) {
    const std::lock_guard hold{impl_->lock};
    ++impl_->counts.failed;
  }
  return !what.vector.empty();
}

bool store::keep(std::string_view key, std::string_view text, leftover what) {
  if ((what.states.empty() && what.image.empty()) || !prepare(what))
    return false;
  const auto vector =
    impl_->with.images ? std::move(what.vector) : impl_->encoded(key, text);
  if (vector.empty())
    return false;
  ATELIER_EXPECTS(std::adjacent_find(what.states.begin(), what.states.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.steps >= b.steps;
                                     })
                      == what.states.end()
                    && (what.states.empty() || what.states.front().steps > 0),
                  "a leftover's steps rise");
  entry_row row;
  row.key = impl_->with.scope + std::string{key};
  row.text = text;
  row.whose = what.whose;
  row.depth = what.depth;
  row.seed = what.seed;
  row.made = impl_->with.date();
  const auto bytes = stored_bytes(row.key, text, what);
  std::vector<payload> payloads;
  const auto add = [&](uint32_t steps, std::vector<std::byte> part) {
    row.parts.push_back({steps, part.size(), ipc::xxh3(part), row.file_bytes});
    row.file_bytes += part.size();
    payloads.push_back(
      std::make_shared<const std::vector<std::byte>>(std::move(part)));
  };
  if (!what.image.empty()) {
    row.px = what.px;
    add(0, std::move(what.image));
  }
  for (auto& x : what.states)
    add(x.steps, std::move(x.bytes));
  return impl_->keep(std::move(row), vector, bytes, payloads);
}

kept_counts store::counts() const {
  const auto of_vectors = impl_->vectors.counts();
  const auto now = impl_->with.now();
  const std::lock_guard hold{impl_->lock};
  auto out = impl_->counts;
  out.entries = impl_->shares.entries();
  out.bytes = impl_->shares.bytes();
  out.overflowed = of_vectors.refused;
  out.searches_checked = of_vectors.checked;
  out.searches_agreed = of_vectors.agreed;
  out.compared = of_vectors.compared;
  out.visited = of_vectors.visited;
  out.builds = of_vectors.builds;
  out.failed_builds = of_vectors.failed_builds;
  out.reads_left_out = !impl_->reads.lets_through(now);
  out.writes_left_out = now < impl_->writes_out_until;
  out.encoder = impl_->with.encoder->counts();
  if (impl_->with.images)
    out.encoder.images = impl_->with.images->encoded();
  return out;
}

bool store::has_unwritten() const {
  return impl_->has_unwritten();
}

void store::write_back() {
  impl_->write_back();
}

std::vector<float> store::vector_of(std::string_view key,
                                    std::string_view text) {
  return impl_->encoded(key, text);
}

// Only entries of the store's scope have vectors in memory, and a key ends with
// its namespace.
std::optional<space_extent> store::extent(std::string_view space) const {
  return impl_->vectors.extent(space);
}

std::vector<float> store::vectors(std::string_view space, size_t most) const {
  return impl_->vectors.vectors(space, most);
}

core::result<std::vector<kept_entry>> store::list(const entry_page& which) {
  auto& my = *impl_;
  std::vector<kept_entry> out;
  const std::lock_guard turn{my.writing};
  const auto ok = my.rows.read_page(which, [&](entry_row row) {
    kept_entry x;
    x.number = row.number;
    x.whose = row.whose;
    x.text_sha256 = core::sha256_hex(row.text);
    x.bytes = detail::counted_bytes(row);
    x.depth = row.depth;
    x.made = row.made;
    if (row.key.starts_with(my.with.scope))
      x.key = row.key.substr(my.with.scope.size());
    x.text = std::move(row.text);
    const std::lock_guard hold{my.lock};
    // The uses of the row may be older.
    const auto* const sizes = my.shares.find(row.number);
    x.saved_steps =
      sizes == nullptr ? row.uses.saved_steps : sizes->uses.saved_steps;
    x.answers = my.answers.of(row.number);
    x.is_in_memory = true;
    for (const auto& part : row.parts) {
      if (part.steps == 0)
        x.has_image = true;
      else
        x.steps.push_back(part.steps);
      x.is_in_memory =
        x.is_in_memory
        && my.hot.holds(tenant_part(row.key), row.number, part.steps);
    }
    out.push_back(std::move(x));
  });
  if (!ok)
    return ok.why();
  return out;
}

uint64_t stored_bytes(std::string_view key, std::string_view text,
                      const leftover& what) {
  uint64_t out =
    detail::entry_overhead + key.size() + text.size() + what.image.size();
  for (const auto& x : what.states)
    out += x.bytes.size();
  return out;
}

} // namespace atelier::index
