// SPDX-License-Identifier: Apache-2.0

// What comes into a cache and leaves it.

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
#include <optional>
#include <utility>

namespace atelier::index {

using detail::entry_row;
using detail::known_entry;
using detail::numbered_uses;
using detail::part_row;
using detail::victim;

namespace {

/// Returns the row as a cache knows it.
/// @param is_found whether a search may find it
std::shared_ptr<known_entry> known_of(entry_row row, bool is_found) {
  auto out = std::make_shared<known_entry>();
  static_cast<entry_row&>(*out) = std::move(row);
  if (is_found)
    out->words = digest_of_words(out->text);
  out->text_sha256 = core::sha256(std::as_bytes(std::span{out->text}));
  out->text = {};
  return out;
}

} // namespace

bool cache::keep(std::string_view key, std::string_view text, leftover what) {
  entry_row row;
  row.key = rules_.scope + std::string{key};
  row.text = text;
  const auto overhead = medium_->overhead(row.key, text);
  const auto bytes = overhead + detail::payload_bytes(what);
  if ((what.states.empty() && what.image.empty()) || bytes > rules_.bytes
      || rules_.entries == 0 || !prepare(what))
    return false;
  const auto vector =
    rules_.images ? std::move(what.vector) : encoded(key, text);
  if (vector.empty())
    return false;
  ATELIER_EXPECTS(std::ranges::adjacent_find(what.states, std::greater_equal{},
                                             &left_state::steps)
                      == what.states.end()
                    && (what.states.empty() || what.states.front().steps > 0),
                  "a leftover's steps rise");
  row.whose = what.whose;
  row.depth = what.depth;
  row.seed = what.seed;
  row.made = rules_.date();
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

  const std::lock_guard turn{writing_};
  if (!medium_->accepts())
    return false;
  remove_dropped();
  const auto unerased = medium_->unerased_bytes();
  std::optional<std::vector<victim>> leaving;
  {
    const std::lock_guard hold{*lock_};
    auto beside = unerased;
    for (const auto& [number, x] : dropped_)
      beside += x->file_bytes;
    leaving = shares_->room_for(row.whose, bytes, beside);
    if (!leaving)
      return false;
    row.number = ++last_number_;
    row.uses.last = ++last_use_;
    for (auto& part : row.parts)
      part.uses.last = last_use_;
  }
  if (!vectors_.add(row.key, row.number, vector, row.holds()))
    return false;
  if (!evict(*leaving) || !write(row, payloads, vector)) {
    vectors_.remove(row.key, row.number);
    return false;
  }
  auto x = known_of(std::move(row), true);
  const std::lock_guard hold{*lock_};
  if (auto* const shelf = copies_->shelf_of(tenant_part(x->key)))
    for (size_t i = 0; i < payloads.size(); ++i)
      shelf->put(x->number, x->parts[i].steps, payloads[i]);
  // Other entries may have been used meanwhile.
  ++last_use_;
  for (auto& part : x->parts)
    part.uses.last = last_use_;
  enter(std::move(x), overhead, {last_use_, 0});
  return true;
}

bool cache::write(entry_row& row, std::span<const payload> payloads,
                  std::span<const float> vector) {
  const auto noted = take_uses();
  if (medium_->add(row, payloads, vector, noted))
    return true;
  put_back(noted);
  return false;
}

bool cache::has_unwritten() const {
  constexpr size_t uses_at_once = 256;
  const bool writable = !medium_->state().writes_left_out;
  const std::lock_guard hold{*lock_};
  return writable && (unwritten_.size() >= uses_at_once || !dropped_.empty());
}

void cache::write_back() {
  const std::lock_guard turn{writing_};
  if (!medium_->accepts())
    return;
  remove_dropped();
  const auto noted = take_uses();
  if (!noted.empty() && !medium_->note(noted))
    put_back(noted);
}

core::result<void> cache::evict(std::span<const victim> which) {
  if (which.empty())
    return {};
  if (auto ok = medium_->strike(which); !ok)
    return ok;
  // Each entry as it was, which is freed without the lock.
  std::vector<entry_ptr> before;
  std::vector<entry_ptr> gone;
  std::vector<entry_ptr> thinned;
  {
    const std::lock_guard hold{*lock_};
    // A read may have dropped any of them meanwhile.
    for (const auto& x : which)
      if (x.steps.empty()) {
        if (auto whole = take_out(x.number)) {
          gone.push_back(std::move(whole));
          ++counts_.evicted;
        }
      } else if (auto whole = take_out(x)) {
        before.push_back(std::move(whole));
        thinned.push_back(by_number_.at(x.number));
        counts_.evicted_payloads += x.steps.size();
      }
  }
  for (const auto& x : gone)
    medium_->erase(*x);
  for (const auto& x : thinned)
    thin(*x);
  remove_dropped();
  return {};
}

void cache::thin(const known_entry& entry) {
  if (medium_->thin(entry))
    return;
  entry_ptr gone;
  const std::lock_guard hold{*lock_};
  gone = drop(entry.number, &kept_counts::evicted);
}

void cache::remove_dropped() {
  std::map<uint64_t, entry_ptr> leaving;
  {
    const std::lock_guard hold{*lock_};
    leaving.swap(dropped_);
  }
  if (leaving.empty())
    return;
  std::vector<victim> struck;
  for (const auto& [number, x] : leaving)
    struck.push_back({number});
  // If the rows stay, they are removed at the next start, because their files
  // are missing.
  static_cast<void>(medium_->strike(struck));
  for (const auto& [number, x] : leaving)
    medium_->erase(*x);
}

void cache::enter(entry_ptr entry, uint64_t overhead, detail::entry_uses uses) {
  detail::ledger_entry sizes;
  // In a divided budget everything is a tenant's, so that no other tenant's
  // entries change what it keeps.
  if (rules_.parts > 0 || entry->key.starts_with(rules_.scope))
    sizes.whose = entry->whose;
  sizes.overhead = overhead;
  sizes.uses = uses;
  for (const auto& x : entry->parts)
    sizes.parts.push_back({x.steps, x.bytes, x.uses});
  shares_->add(entry->number, std::move(sizes));
  answers_->enter(entry->number, entry->key, entry->words);
  by_number_.emplace(entry->number, std::move(entry));
}

cache::entry_ptr cache::take_out(uint64_t entry) {
  const auto at = by_number_.find(entry);
  if (at == by_number_.end())
    return nullptr;
  auto out = std::move(at->second);
  by_number_.erase(at);
  shares_->remove(entry);
  copies_->drop(tenant_part(out->key), entry);
  unwritten_.erase(entry);
  answers_->leave(entry);
  vectors_.remove(out->key, entry);
  return out;
}

cache::entry_ptr cache::take_out(const victim& which) {
  const auto at = by_number_.find(which.number);
  if (at == by_number_.end())
    return nullptr;
  auto rest = std::make_shared<known_entry>(*at->second);
  for (const auto steps : which.steps) {
    std::erase_if(rest->parts,
                  [&](const part_row& x) { return x.steps == steps; });
    copies_->drop(tenant_part(rest->key), which.number, steps);
  }
  shares_->remove(which.number, which.steps);
  vectors_.note_held(rest->key, which.number, rest->holds());
  return std::exchange(at->second, std::move(rest));
}

cache::entry_ptr cache::drop(uint64_t entry, uint64_t kept_counts::*as) {
  auto gone = take_out(entry);
  if (!gone)
    return nullptr;
  ++(counts_.*as);
  if (medium_->is_lasting())
    dropped_.emplace(entry, gone);
  return gone;
}

bool cache::is_there(uint64_t entry, uint32_t steps) const {
  const auto at = by_number_.find(entry);
  return at != by_number_.end() && at->second->part_of(steps) != nullptr;
}

std::vector<numbered_uses> cache::take_uses() {
  std::vector<numbered_uses> out;
  const std::lock_guard hold{*lock_};
  for (const auto x : unwritten_) {
    const auto& from = *shares_->find(x);
    numbered_uses uses{x, from.uses};
    for (const auto& part : from.parts)
      uses.parts.emplace_back(part.steps, part.uses);
    out.push_back(std::move(uses));
  }
  unwritten_.clear();
  return out;
}

void cache::put_back(std::span<const numbered_uses> failed) {
  const std::lock_guard hold{*lock_};
  for (const auto& x : failed)
    if (by_number_.contains(x.number))
      unwritten_.insert(x.number);
}

core::result<uint64_t> cache::load() {
  const std::lock_guard turn{writing_};
  auto from = medium_->load([&](entry_row row) {
    last_use_ = std::max(last_use_, row.uses.last);
    const auto overhead = medium_->overhead(row.key, row.text);
    const auto uses = row.uses;
    // No search finds entries of another scope.
    const bool is_found = row.key.starts_with(rules_.scope);
    const std::lock_guard hold{*lock_};
    enter(known_of(std::move(row), is_found), overhead, uses);
  });
  if (!from)
    return from.why();
  last_number_ = from->last_number;
  counts_.dropped_torn = from->torn;
  std::map<std::string, std::vector<loaded_vector>, std::less<>> by_key;
  for (auto& [number, vector] : from->vectors) {
    const auto& of = *by_number_.at(number);
    by_key[of.key].push_back({number, std::move(vector), of.holds()});
  }
  for (auto& [key, all] : by_key)
    vectors_.fill(key, std::move(all));
  {
    const std::lock_guard hold{*lock_};
    for (const auto number : from->damaged)
      drop(number, &kept_counts::dropped_torn);
  }
  // The process before may have ended when payloads were struck.
  std::vector<entry_ptr> all;
  for (const auto& [number, x] : by_number_)
    all.push_back(x);
  for (const auto& x : all)
    thin(*x);
  remove_dropped();
  if (auto ok = evict(shares_->excess()); !ok)
    return ok.why();
  return from->strays;
}

} // namespace atelier::index
