// SPDX-License-Identifier: Apache-2.0
// Calls about existing jobs, and what time does to them.
#include <atelier/runtime/http/detail/jobs/jobs_impl.hpp>

#include <utility>

namespace atelier::runtime::http {

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

bool jobs::impl::forget(const job_name& name) {
  {
    const std::lock_guard guard{mutex_};
    const auto x = table_.find(name);
    if (!x || !x->has_ended() || x->journal.is_in_doubt())
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

jobs::cancelled jobs::impl::cancel_image(const job_name& name, uint32_t index) {
  entry x;
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(name);
    if (!x || index >= x->rows.size())
      return cancelled::unknown;
    if (x->has_ended() || !x->rows.cancel(index))
      return cancelled::ended;
    if (const auto& row = x->rows[index]; row.handed_in)
      requests.push_back(row.request);
    if (x->known.seen_of == index)
      x->known.seen.reset();
    notes_.cancel_image(*x, index);
    end_if_settled(x);
    if (!x->has_ended())
      push(*x, job_news::kind::progressed, index);
  }
  take_back(requests);
  tell(x);
  return cancelled::yes;
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

job_view jobs::impl::with_bytes(job_view x) {
  uint64_t number = 0;
  {
    const std::lock_guard guard{mutex_};
    if (const auto known = table_.find(name_of(x))) {
      number = known->number;
      table_.use(*known, when_.steady());
    }
  }
  return storage_.with_bytes(number, std::move(x));
}

std::vector<uint64_t> jobs::impl::file_sizes(const job_view& x) const {
  uint64_t number = 0;
  {
    const std::lock_guard guard{mutex_};
    if (const auto known = table_.find(name_of(x)))
      number = known->number;
  }
  return storage_.sizes(number, x);
}

void jobs::impl::tick() {
  std::vector<uint64_t> restored;
  {
    const std::lock_guard guard{mutex_};
    table_.expire(when_.steady());
  }
  call_off_abandoned();
  {
    const std::lock_guard guard{mutex_};
    restored = restored_.all();
  }
  for (const auto number : restored)
    if (!hand_in_again(number))
      break;
  note_forgotten();
}

void jobs::impl::put_away() {
  storage_.remove_dropped();
  storage_.store();
  note_expired();
}

void jobs::impl::close() {
  if (notes_)
    storage_.store();
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
      const auto its = x->rows.open();
      requests.insert(requests.end(), its.begin(), its.end());
    }
    for (const auto& x : held) {
      x->listeners.drop_news();
      x->journal.drop_waiting();
      listeners.push_back(x->listeners.remove_all());
      // The images of a journalled job stay for the next server.
      if (!x->journal.is_kept())
        table_.remove(*x);
    }
  }
  take_back(requests);
  storage_.remove_dropped();
}

} // namespace atelier::runtime::http
