// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/job_table.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

/// What a kept picture takes besides its file.
constexpr uint64_t picture_overhead = 1024;

std::pair<core::time_point, uint64_t> end_of(const job_entry& x) {
  return {x.ended_at, x.number};
}

} // namespace

std::shared_ptr<job_entry> job_table::find(const std::string& id) const {
  const auto i = by_id_.find(id);
  return i == by_id_.end() ? nullptr : i->second;
}

std::shared_ptr<job_entry> job_table::find_twin(const std::string& owner,
                                                const std::string& key) const {
  const auto i = twins_.find({owner, key});
  return i == twins_.end() ? nullptr : i->second;
}

bool job_table::make_room() {
  if (by_number_.size() < within_.jobs)
    return true;
  if (ended_.empty())
    return false;
  const auto oldest = ended_.begin()->second;
  remove(*oldest);
  return true;
}

job_table::place job_table::place_of(const job_entry& x) {
  return {UINT32_MAX - x.priority, x.number};
}

void job_table::add(const std::shared_ptr<job_entry>& x) {
  ATELIER_EXPECTS(!by_id_.contains(x->known.id), "a job's name is free");
  by_id_.emplace(x->known.id, x);
  by_number_.emplace(x->number, x);
  if (!x->idempotency_key.empty())
    twins_.emplace(std::pair{x->known.owner, x->idempotency_key}, x);
  const auto at = place_of(*x);
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), at), at);
}

uint32_t job_table::position(const job_entry& x) const {
  const auto at = place_of(x);
  const auto i = std::lower_bound(waiting_.begin(), waiting_.end(), at);
  return i == waiting_.end() || *i != at
         ? 0
         : static_cast<uint32_t>(i - waiting_.begin()) + 1;
}

void job_table::begin(const job_entry& x) {
  const auto at = place_of(x);
  const auto i = std::lower_bound(waiting_.begin(), waiting_.end(), at);
  if (i != waiting_.end() && *i == at)
    waiting_.erase(i);
}

void job_table::end(const std::shared_ptr<job_entry>& x) {
  begin(*x);
  ended_.emplace(end_of(*x), x);
  if (!x->keeps)
    return;
  for (const auto& done : x->known.results)
    if (done)
      x->kept_bytes += done->bytes.size() + picture_overhead;
  if (x->kept_bytes == 0)
    return;
  kept_bytes_ += x->kept_bytes;
  keeping_.emplace(end_of(*x), x);
  while (kept_bytes_ > within_.kept_bytes)
    drop_pictures(*keeping_.begin()->second);
}

void job_table::drop_pictures(job_entry& x) {
  kept_bytes_ -= x.kept_bytes;
  x.kept_bytes = 0;
  x.known.expired = true;
  for (auto& done : x.known.results)
    done.reset();
  keeping_.erase(end_of(x));
}

void job_table::remove(const job_entry& x) {
  const auto i = by_number_.find(x.number);
  if (i == by_number_.end())
    return;
  const auto held = i->second;
  begin(*held);
  by_number_.erase(i);
  by_id_.erase(held->known.id);
  if (!held->idempotency_key.empty())
    twins_.erase({held->known.owner, held->idempotency_key});
  if (ended_.erase(end_of(*held)) == 0)
    return;
  if (keeping_.erase(end_of(*held)) != 0)
    kept_bytes_ -= held->kept_bytes;
  // Names that no client knows are not worth a place.
  if (held->keeps || held->named)
    remember(held->known.id);
}

void job_table::remember(const std::string& id) {
  if (!forgotten_.insert(id).second)
    return;
  forgotten_order_.push_back(id);
  while (forgotten_order_.size() > within_.jobs) {
    forgotten_.erase(forgotten_order_.front());
    forgotten_order_.pop_front();
  }
}

void job_table::expire(core::time_point now) {
  while (!ended_.empty()) {
    const auto oldest = ended_.begin()->second;
    if (now < core::after(oldest->ended_at, within_.kept))
      break;
    remove(*oldest);
  }
}

} // namespace atelier::runtime::http::detail
