// SPDX-License-Identifier: Apache-2.0
// Jobs that outlive the server: how they are written to the journal, and how
// they continue after the next start.
#include <atelier/core/error.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/detail/jobs/jobs_impl.hpp>

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
      x.rows.cancel(index);
}

} // namespace

void jobs::impl::take_on(
  job_request what, std::function<void(std::variant<job_view, failure>)> then) {
  if (notes_.is_behind())
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
        then(alive->ask([&](const auto& all) { return all.outcome(*x); }));
    };
    if (!notes_)
      return later();
    {
      // The repeated call is answered no sooner than the first one.
      const std::lock_guard guard{mutex_};
      if (x->journal.is_undecided())
        return x->journal.wait(std::move(later));
    }
    return notes_.after_accepts(std::move(later));
  }
  if (auto refused = hand_in(x, what.images))
    return then(std::move(*refused));
  tell(x);
  if (!notes_)
    return then(ask([&](const auto& all) { return all.outcome(*x); }));
  write_down(x, std::move(what), std::move(then));
}

void jobs::impl::write_down(
  const entry& x, job_request what,
  std::function<void(std::variant<job_view, failure>)> then) {
  // This is the job as it was accepted: it continues while the disk works.
  auto taken = ask([&](const auto& all) { return all.outcome(*x); });
  journalled_job record;
  {
    const std::lock_guard guard{mutex_};
    x->journal.doubt();
    record = {x->number, std::move(what), x->known.created};
  }
  notes_.accept(
    std::move(record),
    [me = weak_from_this(), x, taken = std::move(taken),
     then = std::move(then)](const core::result<void>& done) {
      const auto alive = me.lock();
      if (!alive)
        return;
      {
        const std::lock_guard guard{alive->mutex_};
        x->journal.answer();
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
    twins = x->journal.keep();
    // Images may have been cancelled, and the job may have ended, before.
    notes_.catch_up(*x, table_.is_unstored(*x));
  }
  for (auto& twin : twins)
    notes_.after_accepts(std::move(twin));
}

void jobs::impl::note_forgotten() {
  std::vector<uint64_t> forgotten;
  {
    const std::lock_guard guard{mutex_};
    forgotten = table_.take_forgotten();
  }
  notes_.forget(forgotten);
}

void jobs::impl::note_expired() {
  const std::lock_guard guard{mutex_};
  for (const auto& x : table_.take_expired())
    notes_.end(*x, table_.is_unstored(*x));
}

void jobs::impl::restore(journal_contents from) {
  const std::lock_guard guard{mutex_};
  for (const auto& name : from.forgotten)
    table_.remember(name);
  for (auto& job : from.jobs) {
    auto& was = job.was;
    const auto x = detail::new_entry(was.number, was.wanted, was.created);
    x->keeps = x->handed_in = true;
    x->journal.keep();
    if (job.end) {
      restore_ended(x, std::move(*job.end));
      continue;
    }
    cancel_rows(*x, job.cancelled_images);
    restore_open(x, std::move(was.wanted.images));
  }
}

void jobs::impl::restore_open(const entry& x, std::vector<generation> images) {
  accounts_.sign(images, x->known.owner);
  detail::expect_work(*x, images);
  table_.add(x);
  restored_.add(x->number, std::move(images));
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
  table_.restore(x, storage_.restore(*x, end.images));
}

bool jobs::impl::hand_in_again(uint64_t number) {
  entry x;
  {
    const std::lock_guard guard{mutex_};
    x = table_.find(number);
  }
  // It ended meanwhile, and was forgotten.
  if (!x)
    return true;
  for (uint32_t i = 0; i < x->rows.size(); ++i) {
    generation wanted;
    {
      const std::lock_guard guard{mutex_};
      if (x->has_ended() || closed_)
        return true;
      if (!x->rows.is_due(i))
        continue;
      wanted = restored_.request(number, i);
    }
    std::optional<failure> why;
    if (wanted.deadline)
      *wanted.deadline -= age_of(x->known.created, when_.wall());
    if (wanted.deadline && *wanted.deadline <= core::timespan{0})
      why = to_failure(core::fail(ec::deadline_missed,
                                  "deadline passed while the server was down"));
    else
      why = hand_in(x, i, wanted);
    if (!why)
      continue;
    if (passes(*why))
      return false;
    std::vector<uint64_t> unwanted;
    {
      const std::lock_guard guard{mutex_};
      if (!x->has_ended() && !x->rows[i].cancelled)
        unwanted = end(x, job_state::failed, *why);
    }
    take_back(unwanted);
    tell(x);
  }
  return true;
}

} // namespace atelier::runtime::http
