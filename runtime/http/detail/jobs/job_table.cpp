// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/fair_shares.hpp>
#include <atelier/runtime/http/detail/jobs/job_table.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

uint64_t weight_of(const generated_image& x) {
  return weight_of_file(x.bytes.size());
}

/// Returns the bytes that an image counts as in memory.
uint64_t whole_weight_of(const generated_image& x) {
  return weight_of(x) + x.prompt.size() + x.negative.size();
}

std::pair<core::time_point, uint64_t> end_of(const job_entry& x) {
  return {x.ended_at, x.number};
}

/// Returns whether nothing can be fetched of an ended job, whose client knows
/// its end.
bool is_spent(const job_entry& x) {
  return x.known.expired
      || (x.known.state == job_state::cancelled
          && std::ranges::none_of(x.known.results,
                                  [](const auto& p) { return p != nullptr; }));
}

/// Returns an image that is in a file: its texts and bytes take no memory.
std::shared_ptr<const generated_image> without_content(
  const generated_image& x) {
  auto out = std::make_shared<generated_image>(x);
  // An empty list that is assigned would leave their memory to them.
  std::vector<uint8_t>{}.swap(out->bytes);
  std::string{}.swap(out->prompt);
  std::string{}.swap(out->negative);
  return out;
}

} // namespace

uint64_t weight_of_file(uint64_t bytes) {
  constexpr uint64_t overhead = 1024;
  return bytes + overhead;
}

std::shared_ptr<job_entry> job_table::oldest_of(const ended_jobs& in) {
  const auto at = std::ranges::find_if(
    in, [](const auto& x) { return !x.second->journal.is_in_doubt(); });
  return at == in.end() ? nullptr : at->second;
}

std::shared_ptr<job_entry> job_table::next_to_go(
  const std::string& owner) const {
  if (const auto own = of_owner_.find(owner); own != of_owner_.end())
    if (auto x = oldest_of(own->second.spent))
      return x;
  std::shared_ptr<job_entry> next;
  size_t most = 0;
  for (const auto& [name, held] : of_owner_) {
    const auto jobs =
      held.open.size() + held.ended.size() + (name == owner ? 1 : 0);
    if (jobs <= most)
      continue;
    auto x = oldest_of(held.spent);
    if (!x)
      x = oldest_of(held.ended);
    if (!x)
      continue;
    next = std::move(x);
    most = jobs;
  }
  return next;
}

bool job_table::make_room(const std::string& owner) {
  // An earlier server may have had room for more jobs.
  while (index_.size() >= within_.jobs) {
    const auto next = next_to_go(owner);
    if (!next)
      break;
    remove(*next);
  }
  const auto own = of_owner_.find(owner);
  const auto held = own == of_owner_.end()
                    ? size_t{0}
                    : own->second.open.size() + own->second.ended.size();
  return planning::is_granted({within_.jobs, index_.size(), held, 1,
                               of_owner_.size() + (held == 0 ? 1 : 0)});
}

std::vector<std::shared_ptr<job_entry>> job_table::open_of(
  const std::string& owner) const {
  std::vector<std::shared_ptr<job_entry>> out;
  if (const auto own = of_owner_.find(owner); own != of_owner_.end())
    for (const auto number : own->second.open)
      out.push_back(index_.find(number));
  return out;
}

void job_table::enter_end(const std::shared_ptr<job_entry>& x) {
  auto& own = of_owner_[x->known.owner];
  own.open.erase(x->number);
  own.ended.emplace(end_of(*x), x);
  ended_.emplace(end_of(*x), x);
  if (is_spent(*x))
    own.spent.emplace(end_of(*x), x);
}

void job_table::add(const std::shared_ptr<job_entry>& x) {
  index_.add(x);
  of_owner_[x->known.owner].open.insert(x->number);
  waiting_.enter(waiting_of(*x));
}

void job_table::end(const std::shared_ptr<job_entry>& x) {
  begin(*x);
  enter_end(x);
  if (!x->keeps)
    return;
  uint64_t bytes = 0;
  for (const auto& done : x->known.results)
    if (done)
      bytes += whole_weight_of(*done);
  if (bytes == 0)
    return;
  shelves_.keep(x->number, bytes, x->ended_at, x->known.owner);
  while (const auto next = shelves_.over_memory())
    drop_images(*next);
}

void job_table::restore(const std::shared_ptr<job_entry>& x,
                        uint64_t disk_bytes) {
  index_.add(x);
  enter_end(x);
  if (disk_bytes == 0)
    return;
  shelves_.keep_in_files(x->number, disk_bytes, x->ended_at, x->known.owner);
  while (const auto next = shelves_.over_disk())
    drop_images(*next);
}

std::vector<std::shared_ptr<job_entry>> job_table::unstored() const {
  std::vector<std::shared_ptr<job_entry>> out;
  for (const auto number : shelves_.unstored())
    out.push_back(index_.find(number));
  return out;
}

bool job_table::make_disk_room(const job_entry& x,
                               const generated_image& more) {
  const auto bytes = weight_of(more);
  if (!shelves_.could_store(x.number, bytes))
    return false;
  while (const auto next = shelves_.over_disk(bytes, x.number))
    drop_images(*next);
  return true;
}

bool job_table::stored(job_entry& x, uint32_t index) {
  if (!shelves_.keeps(x.number))
    return false;
  auto& one = x.known.results[index];
  shelves_.move_into_file(x.number, whole_weight_of(*one), weight_of(*one));
  one = without_content(*one);
  return true;
}

std::vector<std::pair<uint64_t, uint32_t>> job_table::take_dropped() {
  return std::exchange(dropped_, {});
}

std::vector<uint64_t> job_table::take_forgotten() {
  return std::exchange(removed_, {});
}

std::vector<std::shared_ptr<job_entry>> job_table::take_expired() {
  return std::exchange(expired_, {});
}

void job_table::forget_images(const job_entry& x) {
  if (!shelves_.forget(x.number))
    return;
  for (uint32_t i = 0; i < x.known.results.size(); ++i)
    // An image that still has its bytes is not in a file.
    if (x.known.results[i] && x.known.results[i]->bytes.empty())
      dropped_.emplace_back(x.number, i);
}

void job_table::drop_images(uint64_t number) {
  const auto x = index_.find(number);
  ATELIER_EXPECTS(x, "a job that keeps images is known");
  forget_images(*x);
  x->known.expired = true;
  for (auto& done : x->known.results)
    done.reset();
  of_owner_[x->known.owner].spent.emplace(end_of(*x), x);
  if (x->journal.is_kept())
    expired_.push_back(x);
}

void job_table::remove(const job_entry& x) {
  const auto held = index_.remove(x.number);
  if (!held)
    return;
  begin(*held);
  auto& own = of_owner_[held->known.owner];
  own.open.erase(held->number);
  own.ended.erase(end_of(*held));
  own.spent.erase(end_of(*held));
  if (own.open.empty() && own.ended.empty())
    of_owner_.erase(held->known.owner);
  if (held->journal.is_kept() && held->has_ended_for_good())
    removed_.push_back(held->number);
  if (ended_.erase(end_of(*held)) == 0)
    return;
  forget_images(*held);
  // A name that no client knows need not be remembered.
  if (held->keeps || held->named)
    remember(name_of(held->known));
}

void job_table::expire(core::time_point now) {
  while (const auto oldest = oldest_of(ended_)) {
    if (now < core::after(oldest->ended_at, within_.kept))
      break;
    remove(*oldest);
  }
}

std::string job_table::check() const {
  size_t waiting = 0;
  size_t keeping = 0;
  for (const auto& [number, x] : index_.all()) {
    const auto name = fmt::format("job {} ({})", number, x->known.id);
    const auto waits = position(*x) > 0;
    const auto over = ended_.contains(end_of(*x));
    waiting += waits ? 1u : 0u;
    keeping += shelves_.keeps(number) ? 1u : 0u;
    if (over != x->has_ended())
      return name + ": its state does not match the list of ended jobs";
    if (waits != (x->known.state == job_state::queued))
      return name + ": its place in the queue does not match its state";
    if (shelves_.keeps(number) && !over)
      return name + ": it keeps images and has not ended";
    if (shelves_.is_unstored(number) && !shelves_.keeps(number))
      return name + ": it is to be stored and keeps no images";
    if (x->known.expired && shelves_.keeps(number))
      return name + ": its images expired and are still kept";
    const auto own = of_owner_.find(x->known.owner);
    if (own == of_owner_.end()
        || own->second.open.contains(number) == x->has_ended()
        || own->second.ended.contains(end_of(*x)) != x->has_ended())
      return name + ": its owner does not hold it";
    if (own->second.spent.contains(end_of(*x))
        != (x->has_ended() && is_spent(*x)))
      return name + ": what can be fetched of it does not match its images";
  }
  if (waiting != waiting_.size())
    return "an unknown job waits";
  if (ended_.size() > index_.size())
    return "an unknown job ended";
  if (keeping != shelves_.jobs())
    return "images of an unknown job are kept";
  return {};
}

} // namespace atelier::runtime::http::detail
