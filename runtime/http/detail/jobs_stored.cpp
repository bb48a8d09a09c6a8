// SPDX-License-Identifier: Apache-2.0
// Keeps the images of ended jobs, first in memory and then in files.
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/detail/jobs_impl.hpp>

#include <utility>

namespace atelier::runtime::http {

job_view jobs::impl::with_bytes(job_view x) {
  uint64_t number = 0;
  {
    const std::lock_guard guard{mutex_};
    if (const auto known = table_.find(name_of(x))) {
      number = known->number;
      table_.use(*known, when_.steady());
    }
  }
  for (uint32_t i = 0; files_ && i < x.results.size(); ++i) {
    auto& one = x.results[i];
    if (!one || !one->bytes.empty())
      continue;
    auto bytes = files_->get(number, i);
    if (!bytes) {
      if (bytes.why().code != core::ec::not_found)
        core::log_error("job {}: {}", x.id, bytes.why().text);
      x.expired = true;
      x.results.assign(x.results.size(), nullptr);
      break;
    }
    auto whole = std::make_shared<generated_image>(*one);
    whole->bytes = std::move(*bytes);
    one = std::move(whole);
  }
  return x;
}

std::vector<uint64_t> jobs::impl::file_sizes(const job_view& x) const {
  uint64_t number = 0;
  {
    const std::lock_guard guard{mutex_};
    if (const auto known = table_.find(name_of(x)))
      number = known->number;
  }
  std::vector<uint64_t> out(x.results.size(), 0);
  for (uint32_t i = 0; i < x.results.size(); ++i)
    if (const auto& one = x.results[i]; one && !one->bytes.empty())
      out[i] = one->bytes.size();
    else if (one && files_)
      out[i] = files_->size(number, i).value_or(0);
  return out;
}

void jobs::impl::tick() {
  {
    const std::lock_guard guard{mutex_};
    table_.expire(when_.steady());
  }
  call_off_abandoned();
  hand_in_again();
  note_forgotten();
}

void jobs::impl::put_away() {
  remove_dropped();
  store_all();
  note_expired();
}

void jobs::impl::store_all() {
  std::vector<entry> ended;
  if (files_) {
    const std::lock_guard guard{mutex_};
    ended = table_.unstored();
  }
  for (const auto& x : ended)
    if (!store(x))
      break;
}

bool jobs::impl::store(const entry& x) {
  std::vector<std::shared_ptr<const generated_image>> images;
  {
    const std::lock_guard guard{mutex_};
    images = x->known.results;
  }
  for (uint32_t i = 0; i < images.size(); ++i)
    if (images[i] && !images[i]->bytes.empty() && !put(x, i, *images[i]))
      return false;
  const std::lock_guard guard{mutex_};
  table_.store_no_more(*x);
  note_end(*x);
  return true;
}

bool jobs::impl::put(const entry& x, uint32_t index,
                     const generated_image& what) {
  {
    const std::lock_guard guard{mutex_};
    // An image that is larger than the limit stays in memory.
    if (!table_.make_disk_room(*x, what))
      return true;
  }
  remove_dropped();
  if (auto done = files_->put(x->number, index, what.bytes); !done) {
    if (!std::exchange(disk_fails_, true))
      core::log_error("results of jobs stay in memory, and those not fetched "
                      "for the longest time are dropped first: {}",
                      done.why().text);
    return false;
  }
  if (std::exchange(disk_fails_, false))
    core::log_warn("results of jobs are written to files again");
  bool kept = false;
  {
    const std::lock_guard guard{mutex_};
    kept = table_.stored(*x, index);
  }
  // The job was forgotten in the meantime.
  if (!kept)
    files_->remove(x->number, index);
  return true;
}

void jobs::impl::remove_dropped() {
  std::vector<std::pair<uint64_t, uint32_t>> dropped;
  {
    const std::lock_guard guard{mutex_};
    dropped = table_.take_dropped();
  }
  if (files_)
    for (const auto& [number, index] : dropped)
      files_->remove(number, index);
}

} // namespace atelier::runtime::http
