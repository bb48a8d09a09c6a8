// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/journal_notes.hpp>

namespace atelier::runtime::http::detail {

void journal_notes::end(const job_entry& x, bool unstored) const {
  if (!x.journal.is_kept() || !x.has_ended_for_good())
    return;
  if (unstored && is_settled(x))
    return;
  journalled_end end{x.number,          x.known.state,      x.known.why,
                     x.known.started,   *x.known.completed, {},
                     x.rows.cancelled()};
  for (const auto& p : x.known.results)
    end.images.push_back(p && p->bytes.empty() ? p : nullptr);
  journal_->end(std::move(end));
}

void journal_notes::catch_up(const job_entry& x, bool unstored) const {
  for (const auto index : x.rows.cancelled())
    cancel_image(x, index);
  end(x, unstored);
}

void journal_notes::cancel_image(const job_entry& x, uint32_t index) const {
  if (x.journal.is_kept())
    journal_->cancel_image({x.number, index});
}

bool journal_notes::suspect(const job_entry& x, uint32_t index,
                            const suspicion& how,
                            const std::function<void()>& then) const {
  if (!x.journal.is_kept() || x.has_ended())
    return false;
  journal_->suspect({x.number, index, how}, then);
  return true;
}

void journal_notes::forget(const std::vector<uint64_t>& numbers) const {
  if (journal_)
    for (const auto number : numbers)
      journal_->forget(number);
}

} // namespace atelier::runtime::http::detail
