// SPDX-License-Identifier: Apache-2.0

//  scheduler      denoise_step              executor (the device's thread)
//     |  denoise       |                         |
//     |--------------->|  open, run              |
//     |   stepping     |------------------------>|
//     |<---------------|                         |  step, publish
//     |   stepped      |        ran              |
//     |<---------------|<------------------------|
//     |                |  run (rows join, leave) |
//     |                |------------------------>|
//     |                |  decode                 |
//     |                |------------------------>|
//     |   denoised     |       decoded           |
//     |<---------------|<------------------------|
//
// A cancelled row that waits ends at once, a running one at the next boundary,
// and a decoding one after its decoding. A cancellation that arrives before its
// row leaves a tombstone. A failed row ends alone. The scheduler handles the
// death of the process.

#include <atelier/actors/denoise_step.hpp>
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/inline_unit.hpp>
#include <atelier/planning/opening_share.hpp>

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

constexpr size_t most_tombstones = 1024;

core::error cancelled_error() {
  return core::fail(core::ec::cancelled, "the work was cancelled");
}

core::error out_of_batch_error() {
  return core::fail(core::ec::internal,
                    "the row left its worker's batch before its last step");
}

bool contains(const std::vector<core::ticket>& all, core::ticket who) {
  return std::find(all.begin(), all.end(), who) != all.end();
}

} // namespace

void denoise_step_state::admit(const denoise& x) {
  const bool idle = running.empty();
  take_in(x);
  if (!idle) {
    if (batch->wants_boundary())
      config.device_executor->interrupt();
  } else if (join != planning::joining::whole_batch || !x.more) {
    start_next_run();
  }
}

planning::batch_shape denoise_step_state::shape_of(
  const core::recipe& how) const {
  const auto v = how.variant;
  return {v.value < config.weights.size() ? config.weights[v.value] : v,
          how.px};
}

void denoise_step_state::take_in(const denoise& x) {
  if (tombstones.erase(x.ticket) != 0) {
    std::erase(tombstone_order, x.ticket);
    denoised reply;
    reply.ticket = x.ticket;
    reply.failure = cancelled_error();
    config.scheduler->send(std::move(reply));
    return;
  }
  const auto [at, fresh] = rows.try_emplace(x.ticket);
  if (!fresh)
    return;
  auto& e = at->second;
  e.order = x;
  e.steps = core::steps_to_run(x.recipe);
  planning::batch_row row;
  row.ticket = x.ticket;
  row.shape = shape_of(x.recipe);
  row.variant = x.recipe.variant;
  row.steps_left = std::max(1u, e.steps - std::min(e.steps, x.steps_done));
  row.prio = x.prio;
  row.tenant = x.tenant;
  row.share = x.share;
  row.deadline = core::time_point{core::timespan{x.deadline_ns}};
  batch->add(row);
}

void denoise_step_state::adopt_hosting(const adopt& x) {
  const auto rows_per_step = std::max(1u, std::min(x.batch, config.max_batch));
  join = x.join;
  batch->change(rows_per_step, x.join);
  adopting = x.number;
  for (const auto v : x.hosting)
    leaving.erase(v);
  leaving.insert(x.leaving.begin(), x.leaving.end());
  let_go();
  if (!x.hosting.empty() && !config.device_executor->load(x.hosting, x.keep))
    ++loadings;
  else if (loadings == 0)
    complete_loading({});
}

void denoise_step_state::complete_loading(gpu::load_report x) {
  if (!adopting)
    return;
  config.scheduler->send(
    adopted{config.self, *adopting, std::move(x.failure), std::move(x.failed)});
  adopting.reset();
}

void denoise_step_state::let_go() {
  std::vector<core::variant_id> unused;
  for (const auto v : leaving)
    if (std::none_of(rows.begin(), rows.end(), [&](const auto& x) {
          return x.second.order.recipe.variant == v;
        }))
      unused.push_back(v);
  for (const auto v : unused)
    leaving.erase(v);
  if (!unused.empty())
    config.device_executor->forget(unused);
}

void denoise_step_state::cancel(core::ticket who) {
  const auto i = rows.find(who);
  if (i == rows.end()) {
    if (!tombstones.insert(who).second)
      return;
    tombstone_order.push_back(who);
    if (tombstone_order.size() > most_tombstones) {
      tombstones.erase(tombstone_order.front());
      tombstone_order.pop_front();
    }
    return;
  }
  i->second.cancelled = true;
  if (i->second.decoding)
    return;
  if (contains(running, who))
    return config.device_executor->interrupt();
  batch->remove(who);
  conclude(who, cancelled_error());
}

void denoise_step_state::conclude(core::ticket who, core::error why,
                                  const gpu::decode_report* decoded) {
  const auto i = rows.find(who);
  auto& e = i->second;
  if (e.opened)
    config.device_executor->close(who);
  denoised reply;
  reply.ticket = who;
  reply.failure = std::move(why);
  reply.steps_done = e.steps_done;
  reply.steps_run = e.steps_run;
  reply.text = e.opening;
  reply.encode = e.encoding;
  reply.denoise = e.denoising;
  reply.first_step_ns = e.first_step_ns;
  reply.notes = std::move(e.notes);
  reply.captured = std::move(e.captured);
  if (decoded != nullptr) {
    reply.decode = decoded->took;
    reply.bytes = decoded->bytes;
    reply.score = decoded->score;
    if (decoded->ended != core::never)
      reply.decoded_ns = decoded->ended.time_since_epoch().count();
  }
  rows.erase(i);
  let_go();
  config.scheduler->send(std::move(reply));
}

void denoise_step_state::give_back(const core::error& why) {
  std::vector<core::ticket> all;
  for (const auto& [who, e] : rows)
    if (!contains(running, who))
      all.push_back(who);
  std::sort(all.begin(), all.end());
  for (const auto who : all) {
    batch->remove(who);
    std::erase(decoding, who);
    conclude(who, why);
  }
}

void denoise_step_state::tell_of(core::ticket who) {
  const bool works = batch->find(who) != nullptr || contains(running, who)
                  || contains(decoding, who);
  // It would wait here forever.
  if (!works && rows.count(who) != 0)
    conclude(who, out_of_batch_error());
  config.scheduler->send(has_order{who, works});
}

bool denoise_step_state::hold_back(std::vector<core::ticket>& next) const {
  const auto open = static_cast<size_t>(std::count_if(
    next.begin(), next.end(), [&](auto who) { return rows.at(who).opened; }));
  auto left =
    planning::rows_to_open(next.size() - open, open, opening_each, step_each);
  const auto before = next.size();
  std::erase_if(next, [&](auto who) {
    if (rows.at(who).opened)
      return false;
    if (left == 0)
      return true;
    --left;
    return false;
  });
  return next.size() < before;
}

void denoise_step_state::start_next_run() {
  auto next = batch->next();
  if (next.rows.empty())
    return;
  if (hold_back(next.rows))
    next.steps = 1;
  opens = 0;
  auto& device = *config.device_executor;
  // A row in decoding can kill the device as well.
  auto there = decoding;
  there.insert(there.end(), next.rows.begin(), next.rows.end());
  if (there != told) {
    told = std::move(there);
    config.scheduler->send_quietly(stepping{config.self, told});
  }
  for (const auto who : next.rows) {
    auto& e = rows.at(who);
    if (e.opened)
      continue;
    e.opened = true;
    ++opens;
    gpu::open_job job;
    job.ticket = who;
    job.recipe = e.order.recipe;
    job.text = e.order.text;
    job.from = e.order.from;
    job.state = e.order.state;
    job.image = e.order.image;
    job.source = e.order.source;
    job.publish_every = config.publish_every;
    job.preview_every = e.order.preview_every;
    job.judge = e.order.judge;
    job.tenant = e.order.tenant;
    job.share = e.order.share;
    job.captures = e.order.captures;
    device.open(job);
  }
  running = next.rows;
  try {
    device.run({running, std::min(next.steps, config.run_steps)});
  } catch (...) {
    running.clear();
    throw;
  }
  config.scheduler->nudge();
}

void denoise_step_state::complete_run(const gpu::run_report& x) {
  const auto ran = std::move(running);
  running.clear();
  stepped sign;
  sign.worker = config.self;
  sign.batch = static_cast<uint32_t>(x.rows.size());
  sign.steps = x.steps;
  if (x.ended != core::never)
    sign.ended_ns = x.ended.time_since_epoch().count();
  sign.took = x.took - x.opening;
  sign.opening = x.opening;
  core::timespan texts = x.opening;
  for (const auto& r : x.rows)
    texts -= r.encoding;
  texts = std::max(texts, core::timespan{0});
  if (opens > 0)
    opening_each = x.opening / opens;
  if (x.steps > 0)
    step_each = sign.took / x.steps;
  std::vector<core::ticket> stepped_on;
  std::vector<core::ticket> over;
  for (const auto& r : x.rows) {
    const auto i = rows.find(r.ticket);
    if (i == rows.end())
      continue;
    auto& e = i->second;
    e.captured.insert(e.captured.end(), r.captured.begin(), r.captured.end());
    if (r.failure.code != core::ec::none) {
      batch->remove(r.ticket);
      conclude(r.ticket, r.failure);
      continue;
    }
    const auto first = e.steps_run == 0 && e.steps_done == 0;
    if (first) {
      // A report of a row that was opened before may begin it.
      if (opens > 0 || e.opening.count() == 0)
        e.opening = opens > 0 ? texts / opens : opening_each;
      e.encoding += r.encoding;
      if (x.first_step != core::never)
        e.first_step_ns = x.first_step.time_since_epoch().count();
    }
    e.denoising += x.took - (first ? x.opening : core::timespan{0});
    e.notes.insert(e.notes.end(), r.notes.begin(), r.notes.end());
    e.steps_run += x.steps;
    e.steps_done = r.steps_done;
    if (e.order.wants_progress || r.published != e.told_published)
      sign.rows.push_back({r.ticket, r.steps_done, r.published});
    e.told_published = r.published;
    stepped_on.push_back(r.ticket);
    const bool ends = e.cancelled || r.steps_done >= e.steps;
    if (ends)
      over.push_back(r.ticket);
    // The order only guesses how many steps its state has.
    batch->set_left(r.ticket, x.steps + (ends ? 0 : e.steps - r.steps_done));
  }
  config.scheduler->send(std::move(sign));
  for (const auto who : batch->ran(stepped_on, x.steps, x.took - x.opening))
    if (!contains(over, who))
      conclude(who, out_of_batch_error());
  for (const auto who : over) {
    batch->remove(who);
    auto& e = rows.at(who);
    if (e.cancelled) {
      conclude(who, cancelled_error());
    } else {
      e.decoding = true;
      decoding.push_back(who);
      config.device_executor->decode(who);
    }
  }
  start_next_run();
}

void denoise_step_state::complete_decoding(const gpu::decode_report& x) {
  const auto i = rows.find(x.ticket);
  if (i == rows.end())
    return;
  std::erase(decoding, x.ticket);
  if (i->second.cancelled)
    conclude(x.ticket, cancelled_error());
  else
    conclude(x.ticket, x.failure, &x);
}

namespace {

using pointer = self_of<denoise_step_actor, denoise_step_state>;

/// Calls f with the state. If it throws, the rows are tried again: the actor
/// must answer for them, and in the control process it cannot be replaced.
template <class F>
void guarded_by_rows(pointer self, const F& f) {
  try {
    f(self->state);
  } catch (...) {
    const auto why =
      core::fail(core::ec::unavailable, "{} threw: {}", self->name(),
                 text_of(std::current_exception()));
    core::log_error("{}", why.text);
    self->state.give_back(why);
  }
}

} // namespace

denoise_step_actor::behavior_type denoise_step(
  self_of<denoise_step_actor, denoise_step_state> self,
  denoise_step_config config) {
  install_exception_border(self);
  auto& st = self->state;
  st.config = std::move(config);
  st.batch.emplace(st.config.max_batch);
  // The executor outlives the actor if another handle holds it. It keeps a weak
  // reference, so that neither keeps the other alive. Its events are handled on
  // its own thread, which waits for them anyway.
  const caf::actor_addr me{self->address()};
  auto here = st.config.on_executor_thread
              ? std::make_shared<inline_unit>(self->home_system())
              : nullptr;
  auto post = [me, here](auto message) {
    auto strong = caf::actor_cast<caf::strong_actor_ptr>(me);
    if (!strong)
      return;
    const auto to = caf::actor_cast<denoise_step_actor>(strong);
    if (here)
      here->deliver(to, std::move(message));
    else
      caf::anon_send(to, std::move(message));
  };
  st.config.device_executor->connect(
    {[post](gpu::run_report x) { post(steps_ran{std::move(x)}); },
     [post](gpu::decode_report x) { post(image_decoded{std::move(x)}); },
     [post](gpu::load_report x) { post(variants_loaded{std::move(x)}); }});
  worker_ready ready;
  ready.worker = st.config.self;
  ready.seats = st.config.seats;
  ready.device = st.config.device;
  ready.kind = st.config.kind;
  ready.variants = st.config.variants;
  ready.may_host = st.config.may_host;
  ready.failed = st.config.failed;
  ready.memory_bytes = st.config.memory_bytes;
  ready.loads_beside = st.config.device_executor->loads_beside();
  ready.max_batch = st.config.max_batch;
  ready.run_steps = st.config.run_steps;
  st.config.scheduler->send(std::move(ready));
  return {
    [self](const denoise& x) {
      guarded_by_rows(self, [&](auto& state) { state.admit(x); });
    },
    [self](const cancel_work& x) {
      guarded_by_rows(self, [&](auto& state) { state.cancel(x.ticket); });
    },
    [self](const adopt& x) { self->state.adopt_hosting(x); },
    [self](const ask_order& x) { self->state.tell_of(x.ticket); },
    [self](const variants_loaded& x) {
      // The last load answers for the earlier ones, which it overtook.
      auto& state = self->state;
      if (state.loadings > 0 && --state.loadings == 0)
        state.complete_loading(x.report);
    },
    [self](const steps_ran& x) {
      guarded_by_rows(self, [&](auto& state) { state.complete_run(x.report); });
    },
    [self](const image_decoded& x) {
      guarded_by_rows(self,
                      [&](auto& state) { state.complete_decoding(x.report); });
    },
  };
}

} // namespace atelier::actors
