// SPDX-License-Identifier: Apache-2.0
// What is asked of jobs that are there: the other half of jobs_impl.cpp.
#include <atelier/core/error.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/detail/jobs_impl.hpp>

#include <utility>

namespace atelier::runtime::http {

using core::ec;
using detail::job_news;

uint64_t jobs::impl::listen(const std::string& id, job_listener news) {
  entry x;
  uint64_t me = 0;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(id);
    if (!x)
      return 0;
    me = add_listener(*x, std::move(news));
    if (x->has_ended())
      push(*x, job_news::kind::ended, 0, me);
  }
  tell(x);
  return me;
}

void jobs::impl::leave(const std::string& id, uint64_t listener) {
  std::shared_ptr<const job_listener> gone;
  const std::lock_guard guard{mutex_};
  const auto x = table_.find(id);
  if (!x)
    return;
  if (const auto i = x->listeners.find(listener); i != x->listeners.end()) {
    gone = std::move(i->second);
    x->listeners.erase(i);
  }
}

std::optional<job_view> jobs::impl::find(const std::string& id) const {
  const std::lock_guard guard{mutex_};
  const auto x = table_.find(id);
  if (!x)
    return std::nullopt;
  return view(*x);
}

bool jobs::impl::forgotten(const std::string& id) const {
  const std::lock_guard guard{mutex_};
  return table_.forgotten(id);
}

std::vector<job_view> jobs::impl::list(const std::optional<std::string>& owner,
                                       size_t most) const {
  std::vector<job_view> found;
  const std::lock_guard guard{mutex_};
  for (const auto& [number, x] : table_.all()) {
    if (found.size() == most)
      break;
    if (!owner || x->known.owner == *owner)
      found.push_back(view(*x));
  }
  return found;
}

jobs::cancelled jobs::impl::cancel(const std::string& id) {
  entry x;
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(id);
    if (!x)
      return cancelled::unknown;
    if (x->has_ended())
      return cancelled::ended;
    requests =
      end(x, job_state::cancelled,
          to_failure(core::fail(ec::cancelled, "job {} was taken back", id)));
  }
  take_back(requests);
  tell(x);
  return cancelled::yes;
}

jobs::kept_pictures jobs::impl::kept() const {
  const std::lock_guard guard{mutex_};
  return {table_.keeping(), table_.kept_bytes(), table_.kept_disk_bytes()};
}

size_t jobs::impl::open() const {
  const std::lock_guard guard{mutex_};
  return table_.open();
}

void jobs::impl::close() {
  if (journal_)
    store_all();
  tell_journal();
  std::vector<uint64_t> requests;
  std::vector<entry> held;
  {
    const std::lock_guard guard{mutex_};
    closed_ = true;
    for (const auto& [number, x] : table_.all()) {
      held.push_back(x);
      if (x->has_ended())
        continue;
      for (const auto& row : x->rows)
        if (row.handed_in && !row.ended)
          requests.push_back(row.request);
    }
    for (const auto& x : held) {
      x->outbox.clear();
      x->twins.clear();
      // The next server has its pictures.
      if (!x->journalled)
        table_.remove(*x);
    }
  }
  take_back(requests);
  remove_dropped();
}

} // namespace atelier::runtime::http
