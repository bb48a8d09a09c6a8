// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/detail/jobs/image_storage.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

image_storage::image_storage(std::mutex& lock, job_table& table,
                             std::shared_ptr<const result_files> files,
                             std::function<void(const job_entry&)> stored)
  : lock_(lock),
    table_(table),
    files_(std::move(files)),
    stored_(std::move(stored)) {}

void image_storage::store() {
  std::vector<std::shared_ptr<job_entry>> ended;
  if (files_) {
    const std::lock_guard guard{lock_};
    ended = table_.unstored();
  }
  for (const auto& x : ended)
    if (!store(x))
      break;
}

bool image_storage::store(const std::shared_ptr<job_entry>& x) {
  std::vector<std::shared_ptr<const generated_image>> images;
  {
    const std::lock_guard guard{lock_};
    images = x->known.results;
  }
  for (uint32_t i = 0; i < images.size(); ++i) {
    if (!images[i] || images[i]->bytes.empty())
      continue;
    {
      const std::lock_guard guard{lock_};
      // An image that is larger than the limit stays in memory.
      if (!table_.make_disk_room(*x, *images[i]))
        continue;
    }
    remove_dropped();
    if (!write(x->number, i, *images[i]))
      return false;
    bool kept = false;
    {
      const std::lock_guard guard{lock_};
      kept = table_.stored(*x, i);
    }
    // The job was forgotten in the meantime.
    if (!kept)
      files_->remove(x->number, i);
  }
  const std::lock_guard guard{lock_};
  table_.store_no_more(*x);
  stored_(*x);
  return true;
}

bool image_storage::write(uint64_t job, uint32_t index,
                          const generated_image& what) {
  const auto done = files_->put(job, index, what.bytes);
  const bool failed_before = std::exchange(disk_fails_, !done);
  if (!done && !failed_before)
    core::log_error("results of jobs stay in memory, and those not fetched "
                    "for the longest time are dropped first: {}",
                    done.why().text);
  if (done && failed_before)
    core::log_warn("results of jobs are written to files again");
  return bool{done};
}

void image_storage::remove_dropped() {
  std::vector<std::pair<uint64_t, uint32_t>> dropped;
  {
    const std::lock_guard guard{lock_};
    dropped = table_.take_dropped();
  }
  if (files_)
    for (const auto& [job, index] : dropped)
      files_->remove(job, index);
}

job_view image_storage::with_bytes(uint64_t job, job_view x) const {
  for (uint32_t i = 0; files_ && i < x.results.size(); ++i) {
    auto& one = x.results[i];
    if (!one || !one->bytes.empty())
      continue;
    auto bytes = files_->get(job, i);
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

std::vector<uint64_t> image_storage::sizes(uint64_t job,
                                           const job_view& x) const {
  std::vector<uint64_t> out(x.results.size(), 0);
  for (uint32_t i = 0; i < x.results.size(); ++i)
    if (const auto& one = x.results[i]; one && !one->bytes.empty())
      out[i] = one->bytes.size();
    else if (one && files_)
      out[i] = files_->size(job, i).value_or(0);
  return out;
}

uint64_t image_storage::restore(
  job_entry& x,
  const std::vector<std::shared_ptr<const generated_image>>& images) const {
  auto& known = x.known;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < images.size() && i < x.rows.size(); ++i) {
    const auto size =
      images[i] && files_ ? files_->size(x.number, i) : std::nullopt;
    if (size) {
      bytes += weight_of_file(*size);
      known.results[i] = images[i];
      x.rows.drawn(i, images[i]->steps_run);
      x.rows.finish(i);
    } else if (known.state == job_state::completed) {
      known.expired = true;
    }
  }
  if (!known.expired)
    return bytes;
  for (uint32_t i = 0; i < known.results.size(); ++i)
    if (known.results[i])
      files_->remove(x.number, i);
  known.results.assign(known.results.size(), nullptr);
  return 0;
}

} // namespace atelier::runtime::http::detail
