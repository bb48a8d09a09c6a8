// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/request.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/jobs_impl.hpp>

#include <fmt/format.h>

#include <exception>
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

} // namespace

jobs::impl::impl(std::shared_ptr<image_service> from, job_limits within,
                 clocks when, std::shared_ptr<const result_files> files,
                 std::shared_ptr<job_journal> journal)
  : from_(std::move(from)),
    within_(std::move(within)),
    when_(std::move(when)),
    files_(std::move(files)),
    journal_(std::move(journal)),
    table_(within) {}

std::variant<job_view, failure> jobs::impl::submit(job_request what,
                                                   job_listener news) {
  auto got = submit(std::move(what), std::move(news), false);
  if (auto* why = std::get_if<failure>(&got))
    return std::move(*why);
  return std::get<attendance>(std::move(got)).job;
}

std::variant<jobs::attendance, failure> jobs::impl::submit(job_request what,
                                                           job_listener news,
                                                           bool waits) {
  auto got = enter(what, news, waits);
  if (auto* why = std::get_if<failure>(&got))
    return std::move(*why);
  const auto x = std::get<entered>(got).job;
  if (!std::get<entered>(got).twin) {
    std::optional<failure> refused;
    hand_in(x, what.images, refused);
    if (refused)
      return std::move(*refused);
  }
  auto seen = [&] {
    const std::lock_guard guard{mutex_};
    return view(*x);
  }();
  tell(x);
  return attendance{std::move(seen), x->number};
}

core::result<void> jobs::impl::check(const job_request& what) const {
  if (what.images.empty() || what.images.size() > within_.images)
    return core::fail(ec::invalid_argument, "n {} is outside 1..{}",
                      what.images.size(), within_.images);
  if (!what.id.empty() && !detail::is_client_name(what.id))
    return core::fail(ec::invalid_argument,
                      "id '{}' must have 1..128 characters of "
                      "[A-Za-z0-9_.()-], must not begin with 'job_' and must "
                      "not be '.' or '..'",
                      what.id.substr(0, 128));
  return {};
}

uint64_t jobs::impl::steps_of(const job_request& what) const {
  if (!within_.allowance.take)
    return 0;
  const auto known = from_->variants();
  uint64_t steps = 0;
  for (const auto& image : what.images)
    steps += detail::steps_that_run(known, image);
  return steps;
}

uint32_t jobs::impl::share_of(const std::string& owner) const {
  return within_.allowance.share ? within_.allowance.share(owner) : 1;
}

std::variant<jobs::impl::entered, failure> jobs::impl::enter(job_request& what,
                                                             job_listener& news,
                                                             bool waits) {
  if (auto good = check(what); !good)
    return to_failure(good.why());
  const auto steps = steps_of(what);
  const std::lock_guard guard{mutex_};
  if (closed_)
    return to_failure(core::fail(ec::stopping, "the server is stopping"));
  // An earlier job of this key that the new one replaces.
  entry useless;
  if (!what.idempotency_key.empty())
    if (auto known = table_.find_twin(what.owner, what.idempotency_key)) {
      if (known->fingerprint != what.fingerprint)
        return failure{
          std::string{key_reused},
          fmt::format(
            "Idempotency-Key belongs to job {}, which has another body",
            known->known.id),
          {}};
      const bool is_useless =
        known->has_ended()
        && (known->known.state != job_state::completed || known->known.expired);
      if (!waits || !is_useless) {
        const auto me = known->listeners.add(std::move(news));
        if (known->has_ended())
          push(*known, job_news::kind::ended, 0, me);
        else if (waits)
          attendances_.come(known->number);
        return entered{known, true};
      }
      useless = std::move(known);
    }
  if (!what.id.empty())
    if (const auto taken = table_.find({what.id, what.owner});
        taken && taken != useless)
      return to_failure(
        core::fail(ec::invalid_argument, "id '{}' is taken", what.id));
  // A call that its caller's allowance refuses makes no earlier job forgotten.
  if (within_.allowance.take)
    if (auto why =
          within_.allowance.take(what.owner, what.images.size(), steps))
      return std::move(*why);
  if (useless)
    table_.remove(*useless);
  if (!table_.make_room(what.owner)) {
    if (within_.allowance.give_back)
      within_.allowance.give_back(what.owner, what.images.size(), steps);
    return to_failure(
      core::fail(ec::overloaded,
                 "{} jobs are open, the limit (http.jobs) is {}",
                 table_.all().size(), within_.jobs),
      std::chrono::seconds{1});
  }
  auto x = std::make_shared<job_entry>();
  x->number = ++last_number_;
  x->steps_taken = steps;
  x->named = !what.id.empty();
  x->keeps = what.keeps;
  x->idempotency_key = std::move(what.idempotency_key);
  x->fingerprint = std::move(what.fingerprint);
  x->priority =
    static_cast<uint32_t>(core::parse_priority(what.images.front().priority)
                            .value_or(core::priority::normal));
  x->known.id = x->named ? std::move(what.id) : draw_name();
  x->known.kind = std::move(what.kind);
  x->known.owner = std::move(what.owner);
  const auto share = share_of(x->known.owner);
  for (auto& image : what.images) {
    image.trace = what.trace;
    image.tenant = x->known.owner;
    image.share = share;
  }
  x->known.trace = std::move(what.trace);
  x->known.request_id = std::move(what.request_id);
  x->known.created = when_.wall();
  x->known.results.resize(what.images.size());
  x->rows.resize(what.images.size());
  for (size_t i = 0; i < x->rows.size(); ++i)
    if (what.images[i].image.empty())
      x->rows[i].steps = what.images[i].steps.value_or(0);
  x->listeners.add(std::move(news));
  table_.add(x);
  if (waits)
    attendances_.come(x->number);
  return entered{std::move(x), false};
}

std::string jobs::impl::draw_name() {
  const auto high = when_.draw();
  return fmt::format("job_{:016x}{:016x}", high, when_.draw());
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
  if (journal_)
    calls.suspected = [me = weak_from_this(), x, index](
                        const suspicion& how, std::function<void()> go_on) {
      if (const auto alive = me.lock())
        alive->suspected(x, index, how, std::move(go_on));
    };
  return calls;
}

void jobs::impl::hand_in(const entry& x, const std::vector<generation>& images,
                         std::optional<failure>& refused) {
  for (uint32_t i = 0; i < images.size(); ++i) {
    {
      // A client may have cancelled the job, or its first image failed.
      const std::lock_guard guard{mutex_};
      if (x->has_ended())
        break;
      if (x->rows[i].cancelled)
        continue;
    }
    const auto got = from_->submit(images[i], calls_for(x, i));
    if (const auto* why = std::get_if<failure>(&got)) {
      refused = *why;
      refuse(x, *why);
      return;
    }
    const auto request = std::get<uint64_t>(got);
    bool unwanted = false;
    {
      const std::lock_guard guard{mutex_};
      auto& row = x->rows[i];
      row.request = request;
      row.handed_in = true;
      unwanted = row.cancelled || (x->has_ended() && !row.ended);
    }
    if (unwanted)
      take_back({request});
  }
  const std::lock_guard guard{mutex_};
  x->handed_in = true;
}

void jobs::impl::refuse(const entry& x, const failure& why) {
  std::vector<uint64_t> requests;
  std::vector<std::function<void()>> twins;
  std::shared_ptr<const job_listener> who_asked;
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
    x->named = x->keeps = x->journalled = false;
    x->untaken = why;
    twins = std::exchange(x->twins, {});
    table_.remove(*x);
  }
  take_back(requests);
  if (within_.allowance.give_back)
    within_.allowance.give_back(x->known.owner, x->rows.size(), x->steps_taken);
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
    auto& row = x->rows[index];
    if (closed_ || row.ended || x->has_ended())
      return;
    begin(*x);
    row.steps_done = p.steps_done;
    row.steps = p.steps;
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
    auto& row = x->rows[index];
    const bool full = is_full(a) && !x->restored.empty();
    if (full && !closed_ && !row.ended && !x->has_ended()) {
      row.handed_in = false;
      row.again = true;
      return;
    }
    if (closed_ || std::exchange(row.ended, true) || x->has_ended())
      return;
    if (done) {
      begin(*x);
      row.steps = row.steps_done = row.steps > 0 ? row.steps : done->steps_run;
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

job_view jobs::impl::view(const job_entry& x) const {
  return detail::view_of(x, table_.position(x), when_.steady());
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
  std::vector<uint64_t> requests;
  for (const auto& row : x->rows)
    if (row.handed_in && !row.ended)
      requests.push_back(row.request);
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
  std::vector<generation>{}.swap(x->restored);
  restored_.erase(x->number);
  attendances_.end(x->number);
  note_end(*x);
  return requests;
}

void jobs::impl::push(job_entry& x, job_news::kind what, uint32_t index,
                      uint64_t first) {
  if (!x.listeners.empty())
    x.listeners.push(what, std::make_shared<const job_view>(view(x)), index,
                     first);
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
