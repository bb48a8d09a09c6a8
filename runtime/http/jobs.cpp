// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/jobs_impl.hpp>
#include <atelier/runtime/http/job_journal.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http {

std::string_view to_string(job_state x) {
  switch (x) {
    case job_state::queued:
      return "queued";
    case job_state::running:
      return "running";
    case job_state::completed:
      return "completed";
    case job_state::failed:
      return "failed";
    case job_state::cancelled:
      return "cancelled";
  }
  return "unknown";
}

job_name name_of(const job_view& x) {
  return {x.id, x.owner};
}

bool lacks_bytes(const job_view& x) {
  return std::any_of(x.results.begin(), x.results.end(),
                     [](const auto& p) { return p && p->bytes.empty(); });
}

jobs::jobs(std::shared_ptr<image_service> from, job_limits within, clocks when,
           std::shared_ptr<const result_files> files,
           std::shared_ptr<job_journal> journal)
  : impl_(std::make_shared<impl>(std::move(from), within, std::move(when),
                                 std::move(files), std::move(journal))) {}

jobs::~jobs() {
  impl_->close();
}

std::variant<job_view, failure> jobs::submit(job_request what,
                                             job_listener news) {
  auto got = impl_->submit(std::move(what), std::move(news), false);
  if (auto* why = std::get_if<failure>(&got))
    return std::move(*why);
  return std::get<attendance>(std::move(got)).job;
}

std::variant<jobs::attendance, failure> jobs::attend(job_request what,
                                                     job_listener news) {
  // A client that calls again after the last reply was lost finds the images.
  what.keeps = what.keeps || !what.idempotency_key.empty();
  return impl_->submit(std::move(what), std::move(news), true);
}

void jobs::abandon(uint64_t number) {
  impl_->abandon(number);
}

void jobs::take_on(job_request what,
                   std::function<void(std::variant<job_view, failure>)> then) {
  impl_->take_on(std::move(what), std::move(then));
}

void jobs::restore(journal_contents from) {
  impl_->restore(std::move(from));
}

uint64_t jobs::listen(const job_name& name, job_listener news) {
  return impl_->listen(name, std::move(news));
}

void jobs::leave(const job_name& name, uint64_t listener) {
  impl_->leave(name, listener);
}

std::optional<job_view> jobs::find(const job_name& name) const {
  return impl_->ask([&](const auto& all) { return all.find(name); });
}

std::vector<job_view> jobs::find_all(const std::string& id) const {
  return impl_->ask([&](const auto& all) { return all.find_all(id); });
}

bool jobs::forgotten(const job_name& name) const {
  return impl_->ask([&](const auto& all) { return all.forgotten(name); });
}

bool jobs::forgotten_of_anyone(const std::string& id) const {
  return impl_->ask(
    [&](const auto& all) { return all.forgotten_of_anyone(id); });
}

std::vector<job_view> jobs::list(const std::optional<std::string>& owner,
                                 size_t most) const {
  return impl_->ask([&](const auto& all) { return all.list(owner, most); });
}

std::optional<std::vector<job_view>> jobs::list_after(
  const job_name& name, const std::optional<std::string>& owner,
  size_t most) const {
  return impl_->ask(
    [&](const auto& all) { return all.list_after(name, owner, most); });
}

std::optional<job_view> jobs::find_open(
  const std::string& owner, std::span<const std::string_view> kinds) const {
  return impl_->ask(
    [&](const auto& all) { return all.find_open(owner, kinds); });
}

jobs::cancelled jobs::cancel(const job_name& name) {
  return impl_->cancel(name);
}

jobs::cancelled jobs::cancel_image(const job_name& name, uint32_t index) {
  return impl_->cancel_image(name, index);
}

bool jobs::forget(const job_name& name) {
  return impl_->forget(name);
}

job_view jobs::with_bytes(job_view x) {
  return impl_->with_bytes(std::move(x));
}

std::vector<uint64_t> jobs::file_sizes(const job_view& x) const {
  return impl_->file_sizes(x);
}

void jobs::tick() {
  impl_->tick();
}

void jobs::put_away() {
  impl_->put_away();
}

jobs::kept_images jobs::kept() const {
  return impl_->ask([&](const auto& all) { return all.kept(); });
}

size_t jobs::open() const {
  return impl_->ask([&](const auto& all) { return all.open(); });
}

} // namespace atelier::runtime::http
