// SPDX-License-Identifier: Apache-2.0

// The calls of a store. Long, because each keeps the lock, the catalog, the
// files and the counts in step.

#include <atelier/core/log.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/store/detail/private_folder.hpp>
#include <atelier/index/store/detail/store_impl.hpp>
#include <atelier/ipc/checksum.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace atelier::index {

using core::ec;
using detail::entry_row;
using detail::numbered_part;
using detail::numbered_uses;
using detail::part_row;

namespace detail {

std::filesystem::path rows_of(const std::filesystem::path& folder) {
  return folder / "cache.sqlite";
}

std::filesystem::path payloads_of(const std::filesystem::path& folder) {
  return folder / "payload";
}

} // namespace detail

namespace {

held_parts held_in(std::span<const part_row> parts, uint32_t depth) {
  held_parts out;
  out.depth = held_parts::counted_depth(depth);
  for (const auto& x : parts) {
    out.last_steps = std::max(out.last_steps, x.steps);
    out.image = out.image || x.steps == 0;
  }
  return out;
}

} // namespace

bool store::impl::kept::has_gaps() const {
  uint64_t bytes = 0;
  for (const auto& x : parts)
    bytes += x.bytes;
  return bytes < file_bytes;
}

const part_row* store::impl::kept::part_of(uint32_t steps) const {
  const auto at = std::find_if(parts.begin(), parts.end(),
                               [&](const auto& x) { return x.steps == steps; });
  return at == parts.end() ? nullptr : &*at;
}

held_parts store::impl::kept::holds() const {
  return held_in(parts, depth);
}

store::impl::impl(store_options options, detail::folder_lock its,
                  detail::catalog catalog)
  : with(std::move(options)),
    held(std::move(its)),
    files(detail::payloads_of(with.folder)),
    rows(std::move(catalog)),
    writes(with.most_failures, with.retry),
    reads(with.most_failures, with.retry),
    shares({with.disk_bytes, with.entries, with.tenant_floor, with.rule,
            with.parts}),
    hot(with.memory_bytes, with.parts),
    vectors(with.encoder->dimensions(), with.search) {
  ATELIER_EXPECTS(!with.images
                    || with.images->dimensions() == with.encoder->dimensions(),
                  "images have the dimensions of texts");
}

core::result<std::unique_ptr<store::impl>> store::impl::open(
  store_options options) {
  std::error_code error;
  options.folder = std::filesystem::absolute(options.folder, error);
  if (error)
    return core::fail(ec::io_failed, "{}: {}", options.folder.string(),
                      error.message());
  if (auto ok = detail::make_store_folder(options.folder); !ok)
    return ok.why();
  auto its = detail::folder_lock::take(options.folder);
  if (!its)
    return its.why();
  if (auto ok =
        detail::make_private_folder(detail::payloads_of(options.folder));
      !ok)
    return ok.why();
  auto catalog = detail::catalog::open(detail::rows_of(options.folder));
  if (!catalog)
    return catalog.why();
  auto out = std::make_unique<impl>(std::move(options), std::move(*its),
                                    std::move(*catalog));
  if (auto ok = out->read_folder(); !ok)
    return ok.why();
  return out;
}

core::result<void> store::impl::read_folder() {
  auto there = files.list();
  if (!there)
    return there.why();
  std::vector<uint64_t> leaving;
  auto known = kept_vectors();
  if (!known)
    return known.why();
  // Vectors are loaded by number.
  numbered_vectors found;
  std::map<uint64_t, std::string> texts;
  std::vector<kept_ptr> images;
  if (auto ok = rows.read([&](entry_row row) {
        last_use = std::max(last_use, row.uses.last);
        const auto file = there->sizes.find(row.number);
        if (file == there->sizes.end() || file->second != row.file_bytes
            || row.parts.empty()) {
          leaving.push_back(row.number);
          return;
        }
        const auto bytes = detail::counted_bytes(row);
        auto x = std::make_shared<kept>();
        x->number = row.number;
        x->key = std::move(row.key);
        x->depth = row.depth;
        x->seed = row.seed;
        x->px = row.px;
        x->file_bytes = row.file_bytes;
        x->parts = std::move(row.parts);
        // No search finds entries of another scope.
        if (x->key.starts_with(with.scope)) {
          x->words = digest_of_words(row.text);
          x->text = core::sha256(std::as_bytes(std::span{row.text}));
          if (auto vector = known->extract(row.number))
            found.insert(std::move(vector));
          else if (!with.images)
            texts.emplace(row.number, std::move(row.text));
          else if (x->part_of(0) != nullptr)
            images.push_back(x);
        }
        enter(std::move(x), row.whose, bytes, row.uses);
        there->sizes.erase(file);
      });
      !ok)
    return ok;
  auto fresh = encoded_texts(texts);
  if (!fresh)
    return fresh.why();
  found.merge(*fresh);
  auto read = encoded_images(images);
  if (!read)
    return read.why();
  found.merge(read->vectors);
  for (const auto x : read->torn) {
    there->sizes.emplace(x, take_out(x)->file_bytes);
    leaving.push_back(x);
  }
  counts.dropped_torn = leaving.size();
  std::map<std::string, std::vector<loaded_vector>, std::less<>> by_key;
  for (auto& [number, vector] : found)
    by_key[by_number.at(number)->key].push_back(
      {number, std::move(vector), by_number.at(number)->holds()});
  found.clear();
  for (auto& [key, all] : by_key)
    vectors.fill(key, std::move(all));
  const auto last = rows.last_number();
  if (!last)
    return last.why();
  last_number = *last;
  std::vector<kept_ptr> excess;
  const auto alone = take_out_excess(excess);
  for (const auto& x : excess) {
    there->sizes.emplace(x->number, x->file_bytes);
    leaving.push_back(x->number);
  }
  if (auto ok = rows.remove(leaving, alone); !ok)
    return ok;
  // The start before may have ended between rows and files.
  std::vector<kept_ptr> with_gaps;
  for (const auto& [number, x] : by_number)
    if (x->has_gaps())
      with_gaps.push_back(x);
  for (const auto& x : with_gaps)
    free_gaps(*x);
  // The remaining files have no row.
  for (const auto& [entry, bytes] : there->sizes)
    if (auto ok = files.remove(entry); !ok)
      return ok;
  for (const auto& x : there->unfinished) {
    std::error_code error;
    std::filesystem::remove(x, error);
    if (error)
      return core::fail(ec::io_failed, "{}: cannot be removed: {}", x.string(),
                        error.message());
  }
  core::log_info("cache: {} holds {} entries of {} bytes; {} were torn, {} "
                 "files had no entry",
                 with.folder.string(), shares.entries(), shares.bytes(),
                 counts.dropped_torn,
                 there->sizes.size() - excess.size() - read->torn.size()
                   + there->unfinished.size());
  return {};
}

store::impl::kept_ptr store::impl::used(uint64_t entry) {
  const std::lock_guard hold{lock};
  const auto at = by_number.find(entry);
  if (at == by_number.end())
    return nullptr;
  shares.use(entry, ++last_use);
  unwritten.insert(entry);
  return at->second;
}

core::result<payload> store::impl::give(const kept& from, const part_row& part,
                                        uint32_t skips) {
  const auto now = with.now();
  payload copy;
  bool readable = false;
  {
    const std::lock_guard hold{lock};
    if (auto* const shelf = hot.shelf_of(tenant_part(from.key)))
      copy = shelf->find(from.number, part.steps);
    readable = reads.lets_through(now);
  }
  // A copy that changed in memory says nothing about the disk.
  if (copy && ipc::xxh3(*copy) == part.checksum) {
    count_answer(from.number, part.steps, skips);
    return copy;
  }
  if (!readable)
    return core::fail(ec::io_failed,
                      "entry {}: its disk is left out after failures",
                      from.number);
  auto bytes = files.read(from.number, part.offset, part.bytes);
  if (!bytes && bytes.why().code == ec::io_failed) {
    const std::lock_guard hold{lock};
    ++counts.failed;
    const bool out = reads.failed(now);
    core::log_warn("cache: {}{}", bytes.why().text,
                   out ? "; nothing is found for a while" : "");
    return bytes.why();
  }
  if (bytes && ipc::xxh3(*bytes) == part.checksum) {
    auto out =
      std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
    {
      const std::lock_guard hold{lock};
      if (reads.worked())
        core::log_info("cache: {} can be read again", with.folder.string());
      auto* const shelf = hot.shelf_of(tenant_part(from.key));
      if (shelf != nullptr && is_there(from.number, part.steps))
        shelf->put(from.number, part.steps, out);
    }
    count_answer(from.number, part.steps, skips);
    return payload{std::move(out)};
  }
  const std::lock_guard hold{lock};
  // It may have left while it was read.
  if (!is_there(from.number, part.steps))
    return core::fail(ec::not_found,
                      "entry {}: its payload of {} steps is gone", from.number,
                      part.steps);
  drop(from.number, &kept_counts::dropped_torn);
  return core::fail(ec::bad_payload,
                    "entry {}: its {} bytes are not those that were kept",
                    from.number, part.bytes);
}

void store::impl::count_answer(uint64_t entry, uint32_t steps, uint32_t skips) {
  const std::lock_guard hold{lock};
  if (!by_number.contains(entry))
    return;
  shares.save(entry, steps, skips);
  unwritten.insert(entry);
  for (const auto x : answers.count(entry))
    drop(x, &kept_counts::spent);
}

void store::impl::drop(uint64_t entry, uint64_t kept_counts::*as) {
  const auto gone = take_out(entry);
  if (!gone)
    return;
  ++(counts.*as);
  dropped.emplace(entry, gone->file_bytes);
}

std::vector<float> store::impl::encoded(std::string_view key,
                                        std::string_view text) {
  auto out = index::encoded(*with.encoder, key, text);
  if (out.failed) {
    const std::lock_guard hold{lock};
    ++counts.failed;
  }
  return std::move(out.vector);
}

bool store::impl::keep(entry_row row, std::span<const float> vector,
                       uint64_t bytes, std::span<const payload> payloads) {
  const std::lock_guard turn{writing};
  if (!writes.lets_through(with.now()))
    return false;
  remove_dropped();
  remove_what_stayed();
  uint64_t beside = 0;
  for (const auto& [entry, size] : stayed)
    beside += size;
  std::optional<std::vector<detail::victim>> leaving;
  {
    const std::lock_guard hold{lock};
    for (const auto& [entry, size] : dropped)
      beside += size;
    leaving = shares.room_for(row.whose, bytes, beside);
    if (!leaving)
      return false;
    row.number = ++last_number;
    row.uses.last = ++last_use;
    for (auto& part : row.parts)
      part.uses.last = last_use;
  }
  if (!vectors.add(row.key, row.number, vector, held_in(row.parts, row.depth)))
    return false;
  if (!evict(*leaving) || !write(row, payloads)) {
    vectors.remove(row.key, row.number);
    return false;
  }
  if (auto ok = keep_vectors({{row.number, {vector.begin(), vector.end()}}});
      !ok)
    write_failed(ok.why());
  auto x = std::make_shared<kept>();
  x->number = row.number;
  x->key = std::move(row.key);
  x->words = digest_of_words(row.text);
  x->seed = row.seed;
  x->text = core::sha256(std::as_bytes(std::span{row.text}));
  x->depth = row.depth;
  x->px = row.px;
  x->file_bytes = row.file_bytes;
  x->parts = std::move(row.parts);
  const std::lock_guard hold{lock};
  if (auto* const shelf = hot.shelf_of(tenant_part(x->key)))
    for (size_t i = 0; i < payloads.size(); ++i)
      shelf->put(x->number, x->parts[i].steps, payloads[i]);
  // Other entries may have been used meanwhile.
  ++last_use;
  for (auto& part : x->parts)
    part.uses.last = last_use;
  enter(std::move(x), row.whose, bytes, {last_use, 0});
  return true;
}

bool store::impl::write(const entry_row& row,
                        std::span<const payload> payloads) {
  std::vector<std::span<const std::byte>> parts;
  for (const auto& x : payloads)
    parts.emplace_back(*x);
  if (auto ok = files.write(row.number, parts); !ok) {
    write_failed(ok.why());
    return false;
  }
  const auto noted = take_uses();
  if (auto ok = rows.add(row, noted); !ok) {
    write_failed(ok.why());
    remove_file(row.number, row.file_bytes);
    put_back(noted);
    return false;
  }
  write_worked();
  return true;
}

bool store::impl::has_unwritten() const {
  constexpr size_t uses_at_once = 256;
  const auto now = with.now();
  const std::lock_guard hold{lock};
  return now >= writes_out_until
      && (unwritten.size() >= uses_at_once || !dropped.empty());
}

void store::impl::write_back() {
  const std::lock_guard turn{writing};
  if (!writes.lets_through(with.now()))
    return;
  remove_dropped();
  write_uses();
}

void store::impl::write_uses() {
  const auto noted = take_uses();
  if (noted.empty())
    return;
  if (auto ok = rows.note(noted); !ok) {
    write_failed(ok.why());
    return put_back(noted);
  }
  write_worked();
}

bool store::impl::evict(std::span<const detail::victim> which) {
  if (which.empty())
    return true;
  std::vector<uint64_t> numbers;
  std::vector<numbered_part> alone;
  for (const auto& x : which)
    if (x.steps.empty())
      numbers.push_back(x.number);
    else
      for (const auto steps : x.steps)
        alone.push_back({x.number, steps});
  if (auto ok = rows.remove(numbers, alone); !ok) {
    write_failed(ok.why());
    return false;
  }
  std::vector<kept_ptr> gone;
  std::vector<kept_ptr> thinned;
  {
    const std::lock_guard hold{lock};
    // A read may have dropped any of them meanwhile.
    for (const auto& x : which)
      if (!x.steps.empty()) {
        if (auto rest = take_out(x)) {
          thinned.push_back(std::move(rest));
          counts.evicted_payloads += x.steps.size();
        }
      } else if (auto whole = take_out(x.number)) {
        gone.push_back(std::move(whole));
        ++counts.evicted;
      }
  }
  for (const auto& x : gone)
    remove_file(x->number, x->file_bytes);
  for (const auto& x : thinned)
    free_gaps(*x);
  remove_dropped();
  return true;
}

std::vector<numbered_part> store::impl::take_out_excess(
  std::vector<kept_ptr>& leaving) {
  std::vector<numbered_part> out;
  for (const auto& x : shares.excess()) {
    if (x.steps.empty()) {
      leaving.push_back(take_out(x.number));
      continue;
    }
    for (const auto steps : x.steps)
      out.push_back({x.number, steps});
    take_out(x);
  }
  counts.evicted += leaving.size();
  counts.evicted_payloads += out.size();
  return out;
}

void store::impl::free_gaps(const kept& entry) {
  uint64_t end = 0;
  core::result<void> ok;
  const auto free_until = [&](uint64_t start) {
    if (ok && start > end)
      ok = files.free(entry.number, end, start - end);
  };
  for (const auto& x : entry.parts) {
    free_until(x.offset);
    end = x.offset + x.bytes;
  }
  free_until(entry.file_bytes);
  if (ok)
    return;
  write_failed(ok.why());
  {
    const std::lock_guard hold{lock};
    if (!take_out(entry.number))
      return;
    ++counts.evicted;
  }
  if (auto removed = rows.remove(std::span{&entry.number, 1}); !removed)
    write_failed(removed.why());
  remove_file(entry.number, entry.file_bytes);
}

void store::impl::remove_dropped() {
  std::map<uint64_t, uint64_t> leaving;
  {
    const std::lock_guard hold{lock};
    leaving.swap(dropped);
  }
  if (leaving.empty())
    return;
  std::vector<uint64_t> numbers;
  for (const auto& [entry, bytes] : leaving)
    numbers.push_back(entry);
  // If the rows stay, they are removed at the next start, because their files
  // are missing.
  if (auto ok = rows.remove(numbers); !ok)
    write_failed(ok.why());
  for (const auto& [entry, bytes] : leaving)
    remove_file(entry, bytes);
}

void store::impl::remove_file(uint64_t entry, uint64_t bytes) {
  if (auto ok = files.remove(entry); !ok) {
    write_failed(ok.why());
    stayed.emplace(entry, bytes);
  }
}

void store::impl::remove_what_stayed() {
  std::erase_if(stayed, [&](const auto& x) {
    const auto ok = files.remove(x.first);
    if (!ok)
      write_failed(ok.why());
    return bool{ok};
  });
}

void store::impl::write_failed(const core::error& why) {
  const auto now = with.now();
  const bool out = writes.failed(now);
  core::log_warn("cache: {}{}", why.text,
                 out ? "; nothing is kept for a while" : "");
  const std::lock_guard hold{lock};
  ++counts.failed;
  if (out)
    writes_out_until = core::after(now, with.retry);
}

void store::impl::write_worked() {
  {
    const std::lock_guard hold{lock};
    writes_out_until = {};
  }
  if (writes.worked())
    core::log_info("cache: {} can be written again", with.folder.string());
}

void store::impl::enter(kept_ptr entry, core::tenant_id whose, uint64_t bytes,
                        detail::entry_uses uses) {
  detail::ledger_entry sizes;
  // In a divided budget everything is a tenant's, so that no other tenant's
  // entries change what it keeps.
  if (with.parts > 0 || entry->key.starts_with(with.scope))
    sizes.whose = whose;
  sizes.overhead = bytes;
  sizes.uses = uses;
  for (const auto& x : entry->parts) {
    sizes.overhead -= x.bytes;
    sizes.parts.push_back({x.steps, x.bytes, x.uses});
  }
  shares.add(entry->number, std::move(sizes));
  answers.enter(entry->number, entry->key, entry->words);
  by_number.emplace(entry->number, std::move(entry));
}

store::impl::kept_ptr store::impl::take_out(uint64_t entry) {
  const auto at = by_number.find(entry);
  if (at == by_number.end())
    return nullptr;
  auto out = std::move(at->second);
  by_number.erase(at);
  shares.remove(entry);
  hot.drop(tenant_part(out->key), entry);
  unwritten.erase(entry);
  answers.leave(entry);
  vectors.remove(out->key, entry);
  return out;
}

store::impl::kept_ptr store::impl::take_out(const detail::victim& which) {
  const auto at = by_number.find(which.number);
  if (at == by_number.end())
    return nullptr;
  auto& entry = at->second;
  auto rest = std::make_shared<kept>(*entry);
  for (const auto steps : which.steps) {
    std::erase_if(rest->parts,
                  [&](const part_row& x) { return x.steps == steps; });
    hot.drop(tenant_part(rest->key), which.number, steps);
  }
  shares.remove(which.number, which.steps);
  vectors.note_held(rest->key, which.number, rest->holds());
  return entry = std::move(rest);
}

bool store::impl::is_there(uint64_t entry, uint32_t steps) const {
  const auto at = by_number.find(entry);
  return at != by_number.end() && at->second->part_of(steps) != nullptr;
}

std::vector<numbered_uses> store::impl::take_uses() {
  std::vector<numbered_uses> out;
  const std::lock_guard hold{lock};
  for (const auto x : unwritten) {
    const auto& from = *shares.find(x);
    numbered_uses uses{x, from.uses};
    for (const auto& part : from.parts)
      uses.parts.emplace_back(part.steps, part.uses);
    out.push_back(std::move(uses));
  }
  unwritten.clear();
  return out;
}

void store::impl::put_back(std::span<const numbered_uses> failed) {
  const std::lock_guard hold{lock};
  for (const auto& x : failed)
    if (by_number.contains(x.number))
      unwritten.insert(x.number);
}

} // namespace atelier::index
