// SPDX-License-Identifier: Apache-2.0
// Calls about existing jobs; jobs_impl.cpp has the rest of the class.
#include <atelier/core/error.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/detail/jobs_impl.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http {

using core::ec;
using detail::job_news;

uint64_t jobs::impl::listen(const job_name& name, job_listener news) {
  entry x;
  uint64_t me = 0;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(name);
    if (!x)
      return 0;
    me = x->listeners.add(std::move(news));
    if (x->has_ended())
      push(*x, job_news::kind::ended, 0, me);
  }
  tell(x);
  return me;
}

void jobs::impl::leave(const job_name& name, uint64_t listener) {
  std::shared_ptr<const job_listener> gone;
  const std::lock_guard guard{mutex_};
  const auto x = table_.find(name);
  if (x)
    gone = x->listeners.remove(listener);
}

std::optional<job_view> jobs::impl::find(const job_name& name) const {
  const std::lock_guard guard{mutex_};
  const auto x = table_.find(name);
  if (!x)
    return std::nullopt;
  return view(*x);
}

std::vector<job_view> jobs::impl::find_all(const std::string& id) const {
  std::vector<job_view> found;
  const std::lock_guard guard{mutex_};
  for (const auto& x : table_.find_all(id))
    found.push_back(view(*x));
  return found;
}

bool jobs::impl::forgotten(const job_name& name) const {
  const std::lock_guard guard{mutex_};
  return table_.forgotten(name);
}

bool jobs::impl::forgotten_of_anyone(const std::string& id) const {
  const std::lock_guard guard{mutex_};
  return table_.forgotten_of_anyone(id);
}

std::vector<job_view> jobs::impl::list(const std::optional<std::string>& owner,
                                       size_t most) const {
  const std::lock_guard guard{mutex_};
  return list_from(table_.all().begin(), owner, most);
}

std::optional<std::vector<job_view>> jobs::impl::list_after(
  const job_name& name, const std::optional<std::string>& owner,
  size_t most) const {
  const std::lock_guard guard{mutex_};
  const auto x = table_.find(name);
  if (!x)
    return std::nullopt;
  return list_from(table_.all().upper_bound(x->number), owner, most);
}

std::vector<job_view> jobs::impl::list_from(
  by_age::const_iterator i, const std::optional<std::string>& owner,
  size_t most) const {
  std::vector<job_view> found;
  for (; i != table_.all().end() && found.size() != most; ++i)
    if (!owner || i->second->known.owner == *owner)
      found.push_back(view(*i->second));
  return found;
}

std::optional<job_view> jobs::impl::find_open(
  const std::string& owner, std::span<const std::string_view> kinds) const {
  const std::lock_guard guard{mutex_};
  entry waiting;
  for (const auto& x : table_.open_of(owner)) {
    if (std::ranges::find(kinds, x->known.kind) == kinds.end())
      continue;
    if (x->known.state == job_state::running)
      return view(*x);
    if (!waiting)
      waiting = x;
  }
  if (!waiting)
    return std::nullopt;
  return view(*waiting);
}

bool jobs::impl::forget(const job_name& name) {
  {
    const std::lock_guard guard{mutex_};
    const auto x = table_.find(name);
    if (!x || !x->has_ended() || x->in_doubt)
      return false;
    table_.remove(*x);
  }
  note_forgotten();
  return true;
}

jobs::cancelled jobs::impl::cancel(const job_name& name) {
  entry x;
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(name);
    if (!x)
      return cancelled::unknown;
    if (x->has_ended())
      return cancelled::ended;
    requests = call_off(x);
  }
  take_back(requests);
  tell(x);
  return cancelled::yes;
}

std::vector<uint64_t> jobs::impl::call_off(const entry& x) {
  return end(
    x, job_state::cancelled,
    to_failure(core::fail(ec::cancelled, "job {} was cancelled", x->known.id)));
}

std::variant<jobs::attendance, failure> jobs::impl::attend(job_request what,
                                                           job_listener news) {
  // A client that calls again after the last reply was lost finds the images.
  what.keeps = what.keeps || !what.idempotency_key.empty();
  return submit(std::move(what), std::move(news), true);
}

void jobs::impl::abandon(uint64_t number) {
  entry x;
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(number);
    if (!x || !attendances_.leave(number))
      return;
    if (!x->idempotency_key.empty() && within_.retry > core::timespan{0}) {
      attendances_.may_return(number, when_.steady());
      return;
    }
    requests = call_off(x);
  }
  take_back(requests);
  tell(x);
}

void jobs::impl::call_off_abandoned() {
  std::vector<entry> late;
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    for (const auto number :
         attendances_.given_up(when_.steady(), within_.retry))
      if (auto x = table_.find(number))
        late.push_back(std::move(x));
    for (const auto& x : late) {
      const auto more = call_off(x);
      requests.insert(requests.end(), more.begin(), more.end());
    }
  }
  take_back(requests);
  for (const auto& x : late)
    tell(x);
}

jobs::kept_images jobs::impl::kept() const {
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
  note_expired();
  note_forgotten();
  std::vector<uint64_t> requests;
  std::vector<entry> held;
  // The listeners' objects, the engine included, may hold these jobs' images
  // in turn.
  std::vector<std::vector<std::shared_ptr<const job_listener>>> listeners;
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
      x->listeners.drop_news();
      x->twins.clear();
      listeners.push_back(x->listeners.remove_all());
      // The images of a journalled job stay for the next server.
      if (!x->journalled)
        table_.remove(*x);
    }
  }
  take_back(requests);
  remove_dropped();
}

} // namespace atelier::runtime::http
