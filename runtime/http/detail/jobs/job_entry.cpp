// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/request.hpp>
#include <atelier/runtime/http/detail/jobs/job_entry.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

/// The images of a job are alike: an image that has not begun is expected to
/// take as many steps as one that has. An image that was cancelled alone takes
/// no more.
uint32_t expected_steps(const job_entry& x, uint32_t of_one) {
  uint64_t all = 0;
  for (const auto& row : x.rows)
    all += row.cancelled ? row.steps_done : row.steps > 0 ? row.steps : of_one;
  return static_cast<uint32_t>(std::min<uint64_t>(all, UINT32_MAX));
}

std::optional<core::timespan> remaining_of(const job_entry& x,
                                           const job_view& seen,
                                           core::time_point now) {
  if (seen.state != job_state::running || seen.steps_done == 0)
    return std::nullopt;
  const auto so_far = core::to_seconds(x.last_step - x.began);
  const auto left = seen.steps - std::min(seen.steps, seen.steps_done);
  const auto from_then = so_far / seen.steps_done * left;
  const auto since = core::to_seconds(now - x.last_step);
  return core::from_seconds(std::max(0.0, from_then - since));
}

} // namespace

std::shared_ptr<job_entry> new_entry(
  uint64_t number, const job_request& what,
  std::chrono::system_clock::time_point created) {
  auto x = std::make_shared<job_entry>();
  x->number = number;
  x->named = is_client_name(what.id);
  x->keeps = what.keeps;
  x->idempotency_key = what.idempotency_key;
  x->fingerprint = what.fingerprint;
  x->known.id = what.id;
  x->known.kind = what.kind;
  x->known.owner = what.owner;
  x->known.trace = what.trace;
  x->known.request_id = what.request_id;
  x->known.created = created;
  x->known.results.resize(what.images.size());
  x->rows = image_rows{what.images.size()};
  return x;
}

void expect_work(job_entry& x, const std::vector<generation>& images) {
  x.priority =
    static_cast<uint32_t>(core::parse_priority(images.front().priority)
                            .value_or(core::priority::normal));
  for (uint32_t i = 0; i < images.size(); ++i)
    if (images[i].image.empty())
      x.rows.expect(i, images[i].steps.value_or(0));
}

bool is_settled(const job_entry& x) {
  for (size_t i = 0; i < x.rows.size(); ++i)
    if (!x.rows[i].cancelled && !x.known.results[i])
      return false;
  return true;
}

job_view view_of(const job_entry& x, uint32_t position, core::time_point now) {
  auto v = x.known;
  v.queue_position = position;
  v.images = static_cast<uint32_t>(x.rows.size());
  for (const auto& row : x.rows) {
    v.steps_per_image = std::max(v.steps_per_image, row.steps);
    v.steps_done += row.steps_done;
    v.image_steps.push_back(row.steps_done);
  }
  v.steps = expected_steps(x, v.steps_per_image);
  for (const auto& done : v.results)
    v.images_done += done ? 1u : 0u;
  v.cancelled_images = x.rows.cancelled();
  v.remaining = remaining_of(x, v, now);
  return v;
}

bool is_client_name(std::string_view x) {
  constexpr size_t most = 128;
  const auto fine = [](char c) {
    return core::is_alphanumeric(c)
        || std::string_view{"_.()-"}.find(c) != std::string_view::npos;
  };
  // Clients and proxies drop the segments "." and ".." from an address.
  return !x.empty() && x.size() <= most && !x.starts_with("job_") && x != "."
      && x != ".." && std::all_of(x.begin(), x.end(), fine);
}

} // namespace atelier::runtime::http::detail
