// SPDX-License-Identifier: Apache-2.0
// Images of a job that are cancelled alone, and how their job ends.
#include <atelier/core/error.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/detail/jobs_impl.hpp>

#include <fmt/ranges.h>

#include <utility>

namespace atelier::runtime::http {

using core::ec;
using detail::job_entry;
using detail::job_news;

namespace {

failure failure_of(const job_entry& x, const std::vector<uint32_t>& images) {
  return to_failure(core::fail(ec::cancelled, "{} {} of job {} {} cancelled",
                               images.size() == 1 ? "image" : "images",
                               fmt::join(images, ", "), x.known.id,
                               images.size() == 1 ? "was" : "were"));
}

} // namespace

jobs::cancelled jobs::impl::cancel_image(const job_name& name, uint32_t index) {
  entry x;
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(name);
    if (!x || index >= x->rows.size())
      return cancelled::unknown;
    auto& row = x->rows[index];
    if (x->has_ended() || row.ended)
      return cancelled::ended;
    row.ended = row.cancelled = true;
    if (row.handed_in)
      requests.push_back(row.request);
    if (x->known.seen_of == index)
      x->known.seen.reset();
    note_cancelled(*x, index);
    end_if_settled(x);
    if (!x->has_ended())
      push(*x, job_news::kind::progressed, index);
  }
  take_back(requests);
  tell(x);
  return cancelled::yes;
}

void jobs::impl::end_if_settled(const entry& x) {
  if (!detail::is_settled(*x))
    return;
  // No request of it is open.
  if (const auto images = detail::cancelled_images(*x); images.empty())
    end(x, job_state::completed);
  else
    end(x, job_state::cancelled, failure_of(*x, images));
}

void jobs::impl::note_cancelled(const job_entry& x, uint32_t index) {
  if (x.journalled)
    journal_->cancel_image({x.number, index});
}

} // namespace atelier::runtime::http
