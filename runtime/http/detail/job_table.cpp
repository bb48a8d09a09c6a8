// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/job_table.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

uint64_t weight_of(const picture& x) {
  return weight_of_file(x.bytes.size());
}

std::pair<core::time_point, uint64_t> end_of(const job_entry& x) {
  return {x.ended_at, x.number};
}

std::pair<core::time_point, uint64_t> use_of(const job_entry& x) {
  return {x.used_at, x.number};
}

} // namespace

uint64_t weight_of_file(uint64_t bytes) {
  constexpr uint64_t overhead = 1024;
  return bytes + overhead;
}

std::shared_ptr<job_entry> job_table::find(const job_name& name) const {
  const auto i = by_name_.find(name);
  return i == by_name_.end() ? nullptr : i->second;
}

std::vector<std::shared_ptr<job_entry>> job_table::find_all(
  const std::string& id) const {
  std::vector<std::shared_ptr<job_entry>> out;
  for (auto i = by_name_.lower_bound({id});
       i != by_name_.end() && i->first.id == id; ++i)
    out.push_back(i->second);
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a->number > b->number; });
  return out;
}

std::shared_ptr<job_entry> job_table::find(uint64_t number) const {
  const auto i = by_number_.find(number);
  return i == by_number_.end() ? nullptr : i->second;
}

std::shared_ptr<job_entry> job_table::find_twin(const std::string& owner,
                                                const std::string& key) const {
  const auto i = twins_.find({owner, key});
  return i == twins_.end() ? nullptr : i->second;
}

bool job_table::make_room() {
  // A server before may have had room for more.
  while (by_number_.size() >= within_.jobs && !ended_.empty()) {
    const auto oldest = ended_.begin()->second;
    remove(*oldest);
  }
  return by_number_.size() < within_.jobs;
}

job_table::place job_table::place_of(const job_entry& x) {
  return {UINT32_MAX - x.priority, x.number};
}

void job_table::enter(const std::shared_ptr<job_entry>& x) {
  ATELIER_EXPECTS(!by_name_.contains(name_of(x->known)),
                  "a job's name is free");
  by_name_.emplace(name_of(x->known), x);
  by_number_.emplace(x->number, x);
  if (!x->idempotency_key.empty())
    twins_.emplace(std::pair{x->known.owner, x->idempotency_key}, x);
}

void job_table::add(const std::shared_ptr<job_entry>& x) {
  enter(x);
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
  uint64_t bytes = 0;
  for (const auto& done : x->known.results)
    if (done)
      bytes += weight_of(*done) + done->prompt.size() + done->negative.size();
  if (bytes == 0)
    return;
  x->used_at = x->ended_at;
  put_on(in_memory_, x, x->kept_bytes, bytes);
  ++keeping_;
  unstored_.emplace(x->number, x);
  while (in_memory_.held > in_memory_.most)
    drop_pictures(*in_memory_.jobs.begin()->second);
}

void job_table::restore(const std::shared_ptr<job_entry>& x,
                        uint64_t disk_bytes) {
  enter(x);
  ended_.emplace(end_of(*x), x);
  if (disk_bytes == 0)
    return;
  x->used_at = x->ended_at;
  put_on(on_disk_, x, x->kept_disk_bytes, disk_bytes);
  ++keeping_;
  while (on_disk_.held > on_disk_.most)
    drop_pictures(*on_disk_.jobs.begin()->second);
}

void job_table::put_on(shelf& to, const std::shared_ptr<job_entry>& x,
                       uint64_t& share, uint64_t bytes) {
  share += bytes;
  to.held += bytes;
  to.jobs.try_emplace(use_of(*x), x);
}

void job_table::take_from(shelf& from, const job_entry& x, uint64_t& share,
                          uint64_t bytes) {
  share -= bytes;
  from.held -= bytes;
  if (share == 0)
    from.jobs.erase(use_of(x));
}

bool job_table::keeps(const job_entry& x) const {
  return in_memory_.jobs.contains(use_of(x))
      || on_disk_.jobs.contains(use_of(x));
}

void job_table::use(job_entry& x, core::time_point now) {
  auto in_memory = in_memory_.jobs.extract(use_of(x));
  auto on_disk = on_disk_.jobs.extract(use_of(x));
  x.used_at = now;
  for (auto [node, to] : {std::pair{&in_memory, &in_memory_.jobs},
                          std::pair{&on_disk, &on_disk_.jobs}})
    if (!node->empty()) {
      node->key() = use_of(x);
      to->insert(std::move(*node));
    }
}

std::vector<std::shared_ptr<job_entry>> job_table::unstored() const {
  std::vector<std::shared_ptr<job_entry>> out;
  for (const auto& [number, x] : unstored_)
    out.push_back(x);
  return out;
}

bool job_table::make_disk_room(const job_entry& x, const picture& more) {
  const auto bytes = weight_of(more);
  if (!keeps(x) || x.kept_disk_bytes + bytes > on_disk_.most)
    return false;
  while (on_disk_.held + bytes > on_disk_.most) {
    auto oldest = on_disk_.jobs.begin();
    // It is not alone there, else there would be room.
    if (oldest->second.get() == &x)
      ++oldest;
    drop_pictures(*oldest->second);
  }
  return true;
}

bool job_table::stored(job_entry& x, uint32_t index) {
  if (!keeps(x))
    return false;
  auto& one = x.known.results[index];
  const auto held = by_number_.at(x.number);
  const auto bytes = weight_of(*one);
  take_from(in_memory_, x, x.kept_bytes,
            bytes + one->prompt.size() + one->negative.size());
  put_on(on_disk_, held, x.kept_disk_bytes, bytes);
  auto small = std::make_shared<picture>(*one);
  small->bytes = {};
  small->prompt = {};
  small->negative = {};
  one = std::move(small);
  return true;
}

void job_table::store_no_more(const job_entry& x) {
  unstored_.erase(x.number);
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

void job_table::forget_pictures(job_entry& x) {
  if (!keeps(x))
    return;
  for (uint32_t i = 0; i < x.known.results.size(); ++i)
    // What has its bytes still is in no file.
    if (x.known.results[i] && x.known.results[i]->bytes.empty())
      dropped_.emplace_back(x.number, i);
  take_from(in_memory_, x, x.kept_bytes, x.kept_bytes);
  take_from(on_disk_, x, x.kept_disk_bytes, x.kept_disk_bytes);
  unstored_.erase(x.number);
  --keeping_;
}

void job_table::drop_pictures(job_entry& x) {
  forget_pictures(x);
  x.known.expired = true;
  for (auto& done : x.known.results)
    done.reset();
  if (x.journalled)
    expired_.push_back(by_number_.at(x.number));
}

void job_table::remove(const job_entry& x) {
  const auto i = by_number_.find(x.number);
  if (i == by_number_.end())
    return;
  const auto held = i->second;
  begin(*held);
  by_number_.erase(i);
  by_name_.erase(name_of(held->known));
  if (!held->idempotency_key.empty())
    twins_.erase({held->known.owner, held->idempotency_key});
  if (held->journalled && held->has_ended_for_good())
    removed_.push_back(held->number);
  if (ended_.erase(end_of(*held)) == 0)
    return;
  forget_pictures(*held);
  // Names that no client knows are not worth a place.
  if (held->keeps || held->named)
    remember(name_of(held->known));
}

void job_table::remember(const job_name& name) {
  if (!forgotten_.insert(name).second)
    return;
  forgotten_order_.push_back(name);
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
