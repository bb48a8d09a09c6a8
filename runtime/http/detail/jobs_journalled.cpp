// SPDX-License-Identifier: Apache-2.0
// Jobs that outlive the server: how they are written to the journal, and how
// they continue after the next start.
#include <atelier/core/error.hpp>
#include <atelier/core/request.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/detail/jobs_impl.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace atelier::runtime::http {

using core::ec;
using detail::job_entry;

namespace {

/// Time after which a client may try again if the journal cannot be written.
constexpr auto pause = std::chrono::seconds{10};

/// Returns whether the engine's state is the reason, and not the request.
bool passes(const failure& x) {
  return x.code == core::to_string(ec::overloaded)
      || x.code == core::to_string(ec::unavailable)
      || x.code == core::to_string(ec::stopping);
}

core::timespan age_of(std::chrono::system_clock::time_point x,
                      std::chrono::system_clock::time_point now) {
  // The wall clock may have been set back.
  return std::max<core::timespan>(core::timespan{0}, now - x);
}

/// Marks the images that an earlier server cancelled alone.
void cancel_rows(job_entry& x, const std::vector<uint32_t>& indices) {
  for (const auto index : indices)
    if (index < x.rows.size())
      x.rows[index].ended = x.rows[index].cancelled = true;
}

} // namespace

void jobs::impl::take_on(
  job_request what, std::function<void(std::variant<job_view, failure>)> then) {
  if (journal_ && journal_->is_behind())
    return then(failure{std::string{not_journalled},
                        "the job was not accepted: the disk of the server's "
                        "journal, which would keep it, does not answer in time",
                        pause});
  job_listener nobody;
  auto got = enter(what, nobody, false);
  if (auto* why = std::get_if<failure>(&got))
    return then(std::move(*why));
  const auto x = std::get<entered>(got).job;
  if (std::get<entered>(got).twin) {
    tell(x);
    auto later = [me = weak_from_this(), x, then = std::move(then)] {
      if (const auto alive = me.lock())
        then(alive->outcome(x));
    };
    if (!journal_)
      return later();
    {
      // The repeated call is answered no sooner than the first one.
      const std::lock_guard guard{mutex_};
      if (!x->journalled && !x->untaken) {
        x->twins.emplace_back(std::move(later));
        return;
      }
    }
    return journal_->after_accepts(std::move(later));
  }
  std::optional<failure> refused;
  hand_in(x, what.images, refused);
  if (refused)
    return then(std::move(*refused));
  tell(x);
  if (!journal_)
    return then(outcome(x));
  write_down(x, std::move(what), std::move(then));
}

void jobs::impl::write_down(
  const entry& x, job_request what,
  std::function<void(std::variant<job_view, failure>)> then) {
  journalled_job record;
  // This is the job as it was accepted: it continues while the disk works.
  auto taken = outcome(x);
  {
    const std::lock_guard guard{mutex_};
    what.id = x->known.id;
    what.kind = x->known.kind;
    what.owner = x->known.owner;
    what.trace = x->known.trace;
    what.request_id = x->known.request_id;
    what.idempotency_key = x->idempotency_key;
    what.fingerprint = x->fingerprint;
    x->in_doubt = true;
    record = {x->number, std::move(what), x->known.created};
  }
  journal_->accept(
    std::move(record),
    [me = weak_from_this(), x, taken = std::move(taken),
     then = std::move(then)](const core::result<void>& done) {
      const auto alive = me.lock();
      if (!alive)
        return;
      {
        const std::lock_guard guard{alive->mutex_};
        x->in_doubt = false;
      }
      if (done)
        return then(taken);
      failure why{std::string{not_journalled},
                  "the job was not accepted: the server's journal, which would "
                  "keep it, cannot be written",
                  pause};
      alive->refuse(x, why);
      then(std::move(why));
    });
  std::vector<std::function<void()>> twins;
  {
    const std::lock_guard guard{mutex_};
    if (!x->untaken) {
      x->journalled = true;
      // Images may have been cancelled, and the job may have ended, before it
      // was marked as journalled.
      for (const auto index : detail::cancelled_images(*x))
        note_cancelled(*x, index);
      note_end(*x);
    }
    twins = std::exchange(x->twins, {});
  }
  for (auto& twin : twins)
    journal_->after_accepts(std::move(twin));
}

std::variant<job_view, failure> jobs::impl::outcome(const entry& x) const {
  const std::lock_guard guard{mutex_};
  if (x->untaken)
    return *x->untaken;
  return view(*x);
}

void jobs::impl::note_end(const job_entry& x) {
  if (!x.journalled || !x.has_ended_for_good())
    return;
  // Until its images are in files the job stays open in the journal: the next
  // server would have to draw them again.
  if (detail::is_settled(x) && table_.is_unstored(x))
    return;
  journalled_end end{x.number,
                     x.known.state,
                     x.known.why,
                     x.known.started,
                     *x.known.completed,
                     {},
                     detail::cancelled_images(x)};
  for (const auto& p : x.known.results)
    end.images.push_back(p && p->bytes.empty() ? p : nullptr);
  journal_->end(std::move(end));
}

void jobs::impl::suspected(const entry& x, uint32_t index, const suspicion& how,
                           std::function<void()> go_on) {
  {
    const std::lock_guard guard{mutex_};
    // The request stays as suspect when it is submitted again.
    if (index < x->restored.size())
      x->restored[index].suspected = how;
    if (x->journalled && !x->has_ended())
      return journal_->suspect({x->number, index, how}, std::move(go_on));
  }
  go_on();
}

void jobs::impl::note_forgotten() {
  if (!journal_)
    return;
  std::vector<uint64_t> forgotten;
  {
    const std::lock_guard guard{mutex_};
    forgotten = table_.take_forgotten();
  }
  // Files of a job that the journal has forgotten are removed at the next
  // start.
  for (const auto number : forgotten)
    journal_->forget(number);
}

void jobs::impl::note_expired() {
  if (!journal_)
    return;
  const std::lock_guard guard{mutex_};
  for (const auto& x : table_.take_expired())
    note_end(*x);
}

void jobs::impl::restore(journal_contents from) {
  const std::lock_guard guard{mutex_};
  for (const auto& name : from.forgotten)
    table_.remember(name);
  for (auto& job : from.jobs) {
    auto& was = job.was;
    auto x = std::make_shared<job_entry>();
    x->number = was.number;
    x->named = detail::is_client_name(was.wanted.id);
    x->keeps = x->journalled = x->handed_in = true;
    x->idempotency_key = std::move(was.wanted.idempotency_key);
    x->fingerprint = std::move(was.wanted.fingerprint);
    x->known.id = std::move(was.wanted.id);
    x->known.kind = std::move(was.wanted.kind);
    x->known.owner = std::move(was.wanted.owner);
    x->known.trace = std::move(was.wanted.trace);
    x->known.request_id = std::move(was.wanted.request_id);
    x->known.created = was.created;
    x->known.results.resize(was.wanted.images.size());
    x->rows.resize(was.wanted.images.size());
    last_number_ = std::max(last_number_, x->number);
    if (job.end)
      restore_ended(x, std::move(*job.end));
    else
      restore_open(x, std::move(was), job.cancelled_images);
  }
}

void jobs::impl::restore_open(const entry& x, journalled_job was,
                              const std::vector<uint32_t>& indices) {
  x->restored = std::move(was.wanted.images);
  const auto share = share_of(x->known.owner);
  for (auto& image : x->restored) {
    image.tenant = x->known.owner;
    image.share = share;
  }
  x->priority =
    static_cast<uint32_t>(core::parse_priority(x->restored.front().priority)
                            .value_or(core::priority::normal));
  for (size_t i = 0; i < x->rows.size(); ++i)
    if (x->restored[i].image.empty())
      x->rows[i].steps = x->restored[i].steps.value_or(0);
  cancel_rows(*x, indices);
  table_.add(x);
  restored_.emplace(x->number, x);
  // The earlier server may have been killed before it wrote the job's end.
  end_if_settled(x);
}

void jobs::impl::restore_ended(const entry& x, journalled_end end) {
  auto& known = x->known;
  known.state = end.state;
  known.why = std::move(end.why);
  known.started = end.started;
  known.completed = end.completed;
  x->ended_at = when_.steady() - age_of(end.completed, when_.wall());
  x->began = x->last_step = known.ready = x->ended_at;
  cancel_rows(*x, end.cancelled_images);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < end.images.size() && i < x->rows.size(); ++i) {
    const auto size = end.images[i] ? files_->size(x->number, i) : std::nullopt;
    if (size) {
      bytes += detail::weight_of_file(*size);
      known.results[i] = end.images[i];
      x->rows[i].steps = x->rows[i].steps_done = end.images[i]->steps_run;
      x->rows[i].ended = true;
    } else if (known.state == job_state::completed) {
      known.expired = true;
    }
  }
  if (known.expired) {
    for (uint32_t i = 0; i < known.results.size(); ++i)
      if (known.results[i])
        files_->remove(x->number, i);
    known.results.assign(known.results.size(), nullptr);
    bytes = 0;
  }
  table_.restore(x, bytes);
}

void jobs::impl::hand_in_again() {
  std::vector<entry> open;
  {
    const std::lock_guard guard{mutex_};
    for (const auto& [number, x] : restored_)
      open.push_back(x);
  }
  for (const auto& x : open)
    if (!hand_in_again(x))
      return;
}

bool jobs::impl::hand_in_again(const entry& x) {
  for (uint32_t i = 0; i < x->rows.size(); ++i) {
    generation wanted;
    {
      const std::lock_guard guard{mutex_};
      auto& row = x->rows[i];
      if (x->has_ended() || closed_)
        return true;
      if (row.handed_in || row.ended)
        continue;
      row.again = false;
      wanted = x->restored[i];
    }
    std::optional<failure> why;
    uint64_t request = 0;
    if (wanted.deadline)
      *wanted.deadline -= age_of(x->known.created, when_.wall());
    if (wanted.deadline && *wanted.deadline <= core::timespan{0}) {
      why = to_failure(core::fail(ec::deadline_missed,
                                  "deadline passed while the server was down"));
    } else {
      const auto got = from_->submit(wanted, calls_for(x, i));
      if (const auto* refused = std::get_if<failure>(&got))
        why = *refused;
      else
        request = std::get<uint64_t>(got);
    }
    if (why && passes(*why))
      return false;
    std::vector<uint64_t> unwanted;
    {
      const std::lock_guard guard{mutex_};
      auto& row = x->rows[i];
      if (!why) {
        row.request = request;
        row.handed_in = !row.again;
        if (row.cancelled || (x->has_ended() && !row.ended))
          unwanted.push_back(request);
      } else if (!x->has_ended() && !row.cancelled) {
        unwanted = end(x, job_state::failed, *why);
      }
    }
    take_back(unwanted);
    if (why)
      tell(x);
  }
  return true;
}

} // namespace atelier::runtime::http
