// SPDX-License-Identifier: Apache-2.0
// How a job is submitted, drawn and ended. jobs_asked.cpp has the calls about
// existing jobs, jobs_journalled.cpp those that outlive the server.
#include <atelier/core/error.hpp>
#include <atelier/core/log.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/jobs/jobs_impl.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace atelier::runtime::http {

using core::ec;
using detail::job_entry;
using detail::job_news;

namespace {

bool is_full(const answer& x) {
  const auto* const why = std::get_if<failure>(&x);
  return why != nullptr && why->code == core::to_string(ec::overloaded);
}

core::result<void> check(const job_request& what, uint32_t most_images) {
  if (what.images.empty() || what.images.size() > most_images)
    return core::fail(ec::invalid_argument, "n {} is outside 1..{}",
                      what.images.size(), most_images);
  if (!what.id.empty() && !detail::is_client_name(what.id))
    return core::fail(ec::invalid_argument,
                      "id '{}' must have 1..128 characters of "
                      "[A-Za-z0-9_.()-], must not begin with 'job_' and must "
                      "not be '.' or '..'",
                      what.id.substr(0, 128));
  return {};
}

/// Returns whether a client that waits cannot get images from an ended job.
bool is_useless(const job_entry& x) {
  return x.has_ended()
      && (x.known.state != job_state::completed || x.known.expired);
}

std::string draw_name(const std::function<uint64_t()>& draw) {
  const auto high = draw();
  return fmt::format("job_{:016x}{:016x}", high, draw());
}

failure failure_of(const job_entry& x, const std::vector<uint32_t>& images) {
  return to_failure(core::fail(ec::cancelled, "{} {} of job {} {} cancelled",
                               images.size() == 1 ? "image" : "images",
                               fmt::join(images, ", "), x.known.id,
                               images.size() == 1 ? "was" : "were"));
}

} // namespace

jobs::impl::impl(std::shared_ptr<image_service> from, job_limits within,
                 clocks when, std::shared_ptr<const result_files> files,
                 std::shared_ptr<job_journal> journal)
  : from_(std::move(from)),
    within_(std::move(within)),
    when_(std::move(when)),
    accounts_(within_.allowance),
    notes_(std::move(journal)),
    table_(within_),
    storage_(mutex_, table_, std::move(files), [this](const job_entry& x) {
      notes_.end(x, table_.is_unstored(x));
    }) {}

std::variant<jobs::attendance, failure> jobs::impl::submit(job_request what,
                                                           job_listener news,
                                                           bool waits) {
  auto got = enter(what, news, waits);
  if (auto* why = std::get_if<failure>(&got))
    return std::move(*why);
  const auto x = std::get<entered>(got).job;
  if (!std::get<entered>(got).twin)
    if (auto refused = hand_in(x, what.images))
      return std::move(*refused);
  auto seen = ask([&](const auto& all) { return all.view(*x); });
  tell(x);
  return attendance{std::move(seen), x->number};
}

std::variant<jobs::impl::entered, failure> jobs::impl::enter(job_request& what,
                                                             job_listener& news,
                                                             bool waits) {
  if (auto good = check(what, within_.images); !good)
    return to_failure(good.why());
  const auto steps = accounts_.steps_of(what.images, *from_);
  const std::lock_guard guard{mutex_};
  if (closed_)
    return to_failure(core::fail(ec::stopping, "the server is stopping"));
  entry twin;
  if (!what.idempotency_key.empty())
    twin = table_.find_twin(what.owner, what.idempotency_key);
  if (twin && twin->fingerprint != what.fingerprint)
    return failure{
      std::string{key_reused},
      fmt::format("Idempotency-Key belongs to job {}, which has another body",
                  twin->known.id),
      {}};
  if (twin && !(waits && is_useless(*twin))) {
    join(*twin, news, waits);
    return entered{std::move(twin), true};
  }
  // From here on, the new job replaces a twin.
  if (!what.id.empty())
    if (const auto taken = table_.find({what.id, what.owner});
        taken && taken != twin)
      return to_failure(
        core::fail(ec::invalid_argument, "id '{}' is taken", what.id));
  // A call that its caller's allowance refuses makes no earlier job forgotten.
  auto charged = accounts_.take(what.owner, what.images.size(), steps);
  if (auto* why = std::get_if<failure>(&charged))
    return std::move(*why);
  auto& charge = std::get<detail::job_charge>(charged);
  if (twin)
    table_.remove(*twin);
  if (!table_.make_room(what.owner)) {
    accounts_.give_back(what.owner, charge);
    return to_failure(
      core::fail(ec::overloaded,
                 "{} jobs are open, the limit (http.jobs) is {}",
                 table_.all().size(), within_.jobs),
      std::chrono::seconds{1});
  }
  if (what.id.empty())
    what.id = draw_name(when_.draw);
  accounts_.sign(what.images, what.owner);
  for (auto& image : what.images)
    image.trace = what.trace;
  auto x = detail::new_entry(table_.next_number(), what, when_.wall());
  x->charge = charge;
  detail::expect_work(*x, what.images);
  x->listeners.add(std::move(news));
  table_.add(x);
  if (waits)
    attendances_.come(x->number);
  return entered{std::move(x), false};
}

void jobs::impl::join(job_entry& x, job_listener& news, bool waits) {
  const auto me = x.listeners.add(std::move(news));
  if (x.has_ended())
    push(x, job_news::kind::ended, 0, me);
  else if (waits)
    attendances_.come(x.number);
}

callbacks jobs::impl::calls_for(const entry& x, uint32_t index) {
  callbacks calls;
  calls.progressed = [me = weak_from_this(), x, index](const progress& p) {
    if (const auto alive = me.lock())
      alive->progressed(x, index, p);
  };
  calls.answered = [me = weak_from_this(), x, index](const answer& a) {
    if (const auto alive = me.lock())
      alive->answered(x, index, a);
  };
  if (notes_)
    calls.suspected = [me = weak_from_this(), x, index](
                        const suspicion& how, std::function<void()> go_on) {
      if (const auto alive = me.lock())
        alive->suspected(x, index, how, go_on);
    };
  return calls;
}

std::optional<failure> jobs::impl::hand_in(
  const entry& x, const std::vector<generation>& images) {
  for (uint32_t i = 0; i < images.size(); ++i) {
    {
      // A client may have cancelled the job, or its first image failed.
      const std::lock_guard guard{mutex_};
      if (x->has_ended())
        break;
      if (!x->rows.is_due(i))
        continue;
    }
    if (auto why = hand_in(x, i, images[i])) {
      refuse(x, *why);
      return why;
    }
  }
  const std::lock_guard guard{mutex_};
  x->handed_in = true;
  return std::nullopt;
}

std::optional<failure> jobs::impl::hand_in(const entry& x, uint32_t index,
                                           const generation& wanted) {
  const auto got = from_->submit(wanted, calls_for(x, index));
  if (const auto* why = std::get_if<failure>(&got))
    return *why;
  const auto request = std::get<uint64_t>(got);
  bool unwanted = false;
  {
    const std::lock_guard guard{mutex_};
    x->rows.submitted(index, request);
    const auto& row = x->rows[index];
    unwanted = row.cancelled || (x->has_ended() && !row.ended);
  }
  if (unwanted)
    from_->cancel(request);
  return std::nullopt;
}

void jobs::impl::refuse(const entry& x, const failure& why) {
  std::vector<uint64_t> requests;
  std::vector<std::function<void()>> twins;
  std::shared_ptr<const job_listener> who_asked;
  detail::job_charge charge;
  {
    const std::lock_guard guard{mutex_};
    // The caller gets the error as the reason why no job exists. Callers that
    // joined in the meantime by its name or key are notified of its end.
    who_asked = x->listeners.remove(1);
    x->listeners.drop_news();
    if (x->has_ended())
      push(*x, job_news::kind::ended);
    else
      requests = end(x, job_state::failed, why);
    x->handed_in = true;
    x->named = x->keeps = false;
    twins = x->journal.refuse(why);
    charge = std::exchange(x->charge, {});
    table_.remove(*x);
  }
  take_back(requests);
  accounts_.give_back(x->known.owner, charge);
  tell(x);
  for (const auto& twin : twins)
    twin();
}

void jobs::impl::progressed(const entry& x, uint32_t index, const progress& p) {
  std::shared_ptr<const preview> seen;
  if (!p.preview.rgb.empty())
    seen = std::make_shared<const preview>(p.preview);
  {
    const std::lock_guard guard{mutex_};
    if (closed_ || x->rows[index].ended || x->has_ended())
      return;
    begin(*x);
    x->rows.step(index, p.steps_done, p.steps);
    x->last_step = when_.steady();
    if (seen) {
      x->known.seen = std::move(seen);
      x->known.seen_of = index;
    }
    push(*x, job_news::kind::progressed, index);
  }
  tell(x);
}

void jobs::impl::answered(const entry& x, uint32_t index, const answer& a) {
  std::shared_ptr<const generated_image> done;
  if (const auto* p = std::get_if<generated_image>(&a))
    done = std::make_shared<const generated_image>(*p);
  std::vector<uint64_t> requests;
  {
    const std::lock_guard guard{mutex_};
    if (closed_)
      return;
    const bool open = !x->rows[index].ended && !x->has_ended();
    if (open && is_full(a) && restored_.contains(x->number))
      return x->rows.put_back(index);
    if (!x->rows.finish(index) || !open)
      return;
    if (done) {
      begin(*x);
      x->rows.drawn(index, done->steps_run);
      x->known.ready = x->last_step = when_.steady();
      x->known.results[index] = std::move(done);
      push(*x, job_news::kind::imaged, index);
      end_if_settled(x);
    } else {
      const auto& why = std::get<failure>(a);
      requests =
        end(x,
            why.code == core::to_string(ec::cancelled) ? job_state::cancelled
                                                       : job_state::failed,
            why);
    }
  }
  take_back(requests);
  tell(x);
}

void jobs::impl::suspected(const entry& x, uint32_t index, const suspicion& how,
                           const std::function<void()>& go_on) {
  {
    const std::lock_guard guard{mutex_};
    restored_.suspect(x->number, index, how);
    if (notes_.suspect(*x, index, how, go_on))
      return;
  }
  go_on();
}

void jobs::impl::begin(job_entry& x) {
  if (x.known.state != job_state::queued)
    return;
  table_.begin(x);
  x.known.state = job_state::running;
  x.known.started = when_.wall();
  x.began = x.last_step = when_.steady();
}

std::vector<uint64_t> jobs::impl::end(const entry& x, job_state how,
                                      failure why) {
  auto requests = x->rows.open();
  if (how == job_state::failed && !is_told(why))
    core::log_error("job {} failed: {}: {}", x->known.id, why.code, why.text);
  x->known.state = how;
  x->known.why = std::move(why);
  x->known.completed = when_.wall();
  x->ended_at = when_.steady();
  table_.begin(*x);
  // Listeners are notified before the table examines the bytes, so that they
  // get the images even if these cannot be kept.
  push(*x, job_news::kind::ended);
  // Ended jobs are many, and no limit counts their previews.
  x->known.seen.reset();
  table_.end(x);
  restored_.end(x->number);
  attendances_.end(x->number);
  notes_.end(*x, table_.is_unstored(*x));
  return requests;
}

void jobs::impl::push(job_entry& x, job_news::kind what, uint32_t index,
                      uint64_t first) {
  if (!x.listeners.empty())
    x.listeners.push(what, std::make_shared<const job_view>(look().view(x)),
                     index, first);
}

void jobs::impl::end_if_settled(const entry& x) {
  if (!detail::is_settled(*x))
    return;
  // No request of it is open.
  if (const auto images = x->rows.cancelled(); images.empty())
    end(x, job_state::completed);
  else
    end(x, job_state::cancelled, failure_of(*x, images));
}

std::vector<uint64_t> jobs::impl::call_off(const entry& x) {
  return end(
    x, job_state::cancelled,
    to_failure(core::fail(ec::cancelled, "job {} was cancelled", x->known.id)));
}

void jobs::impl::take_back(const std::vector<uint64_t>& requests) {
  for (const auto request : requests)
    from_->cancel(request);
}

void jobs::impl::tell(const entry& x) {
  std::unique_lock guard{mutex_};
  if (!x->handed_in || closed_ || !x->listeners.begin_telling())
    return;
  while (!closed_) {
    auto news = x->listeners.next();
    if (!news)
      break;
    guard.unlock();
    detail::deliver(*news);
    // This may be the last owner of images, or of callbacks.
    news.reset();
    guard.lock();
  }
  x->listeners.end_telling();
  if (x->has_ended() && !x->keeps)
    table_.remove(*x);
}

} // namespace atelier::runtime::http
