// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/hosting.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/not_loaded.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace atelier::actors {

namespace {

using variants = std::vector<core::variant_id>;

bool has(const variants& all, core::variant_id v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

variants without(variants all, std::span<const gpu::load_failure> failed) {
  std::erase_if(all, [&](auto v) {
    return std::any_of(failed.begin(), failed.end(),
                       [&](const auto& x) { return x.variant == v; });
  });
  return all;
}

// Returns the variants that a device did not load.
std::vector<gpu::load_failure> failures_of(const adopted& x, const hosted& h) {
  auto out = x.failed;
  // A report that names none is about all that the worker was to load.
  if (x.failure.code != core::ec::none && x.failure.code != core::ec::cancelled)
    for (const auto v : h.becoming())
      if (!h.loading_beside() || !h.hosts(v))
        out.push_back({v, x.failure});
  return out;
}

} // namespace

device_place device_at(const worker& w) {
  return {w.address.process.process, w.address.index};
}

hosting::hosting(std::shared_ptr<const planning::profile> known,
                 std::optional<planning::joining> join)
  : known_(std::move(known)), join_(join) {}

// -- changes of a worker ------------------------------------------------------

hosting::change hosting::joined(worker& w,
                                std::span<const gpu::load_failure> failed,
                                core::time_point now) {
  change out;
  note_loads(w, failed, now, out);
  return out;
}

hosting::change hosting::apply(worker& w, const planning::assignment& x,
                               std::span<const core::variant_id> running,
                               core::time_point now) {
  change out;
  auto& h = w.host;
  h.level_ = x.level;
  ++h.version_;
  h.also_serves_ = x.also_serves;
  if (!x.leaving.empty())
    send_away(w, x.leaving, out);
  const auto batch = std::clamp(x.batch, 1u, w.max_batch());
  const auto join = join_.value_or(x.join);
  const bool batches = batch != h.most_rows_ || join != h.join_;
  h.most_rows_ = batch;
  h.join_ = join;
  // A worker to which the plan assigns no variants keeps its own.
  auto assigned = loadable(w, x.hosting);
  if (!assigned.empty() && assigned != h.becoming_) {
    host(w, std::move(assigned), running, now, out);
  } else {
    serve(w);
    if (batches && !h.changes())
      out.orders.push_back(order_for(h, {}));
  }
  unload(w, out);
  return out;
}

std::optional<hosting::change> hosting::adopted(worker& w,
                                                const actors::adopted& x,
                                                core::time_point now) {
  change out;
  auto& h = w.host;
  if (h.beside_) {
    adopted_beside(w, x, now, out);
    return out;
  }
  if (!h.loading_)
    return std::nullopt;
  h.loading_ = false;
  if (h.next_) {
    begin_load(w, now, out);
    return out;
  }
  note_time(w, x, now, out);
  const auto before = h.hosting_;
  const auto failed = failures_of(x, h);
  h.hosting_ = x.failure.code == core::ec::none ? without(h.becoming_, x.failed)
                                                : variants{};
  h.becoming_ = h.hosting_;
  ++h.version_;
  note_loads(w, failed, now, out);
  serve(w);
  unload(w, out);
  out.report = h.hosting_ != before || !failed.empty();
  return out;
}

void hosting::adopted_beside(worker& w, const actors::adopted& x,
                             core::time_point now, change& into) {
  auto& h = w.host;
  auto failed = failures_of(x, h);
  h.beside_ = false;
  note_time(w, x, now, into);
  // What does not fit beside the running rows is loaded without them.
  const auto crowded = std::erase_if(failed, [](const auto& f) {
    return f.why.code == core::ec::out_of_resources;
  });
  auto loaded = without(h.becoming_, failed);
  if (crowded > 0) {
    // The load is counted when it begins again.
    h.becoming_ = std::move(loaded);
    note_loads(w, failed, now, into);
    drain_and_load(w, true, now, into);
  } else {
    ++into.loads;
    if (x.failure.code == core::ec::none && !loaded.empty())
      h.hosting_ = std::move(loaded);
    h.becoming_ = h.hosting_;
    note_loads(w, failed, now, into);
    serve(w);
    into.members = into.rehome = into.report = true;
    // Sends the batch settings that plans changed since then.
    into.orders.push_back(order_for(h, {}));
  }
  ++h.version_;
  unload(w, into);
}

hosting::change hosting::row_ended(worker& w, core::time_point now) {
  change out;
  begin_load(w, now, out);
  return out;
}

void hosting::died(worker& w, death cause, core::time_point now) {
  if (!blames_load(w, cause))
    return;
  const auto at = device_at(w);
  auto loaded = w.host.becoming_;
  std::erase_if(loaded, [&](auto v) { return w.host.hosts(v); });
  // A variant that failed before is loaded again only when the others are
  // there.
  auto tried = loaded;
  std::erase_if(tried, [&](auto v) { return !failed_.knows({at, v}); });
  const auto& suspects = tried.empty() ? loaded : tried;
  const auto why =
    core::fail(core::ec::unavailable, "the process {} while it loaded models",
               to_string(cause));
  if (suspects.size() == 1)
    return load_failed(w, suspects.front(), why, now);
  for (const auto v : suspects)
    if (failed_.doubted({at, v}, why, now))
      core::log_warn("device {} loads {} alone: {}", w.device,
                     known_->variants[v.value].name, why.text);
}

adopt hosting::order_for(hosted& h, variants what) const {
  adopt x;
  x.number = ++h.orders_;
  x.hosting = std::move(what);
  x.batch = h.most_rows_;
  x.join = h.join_;
  return x;
}

void hosting::serve(worker& w) const {
  auto& h = w.host;
  ++h.version_;
  h.queues_ = planning::queues_of(w.view());
  for (const auto queue : h.also_serves_)
    if (!h.serves(queue))
      h.queues_.push_back(queue);
}

void hosting::send_away(worker& w, const variants& leaving,
                        change& into) const {
  auto& h = w.host;
  const auto drop = [&](variants& from) {
    return std::erase_if(from, [&](auto v) { return has(leaving, v); });
  };
  drop(h.leaving_);
  h.leaving_.insert(h.leaving_.end(), leaving.begin(), leaving.end());
  if (h.next_)
    drop(*h.next_);
  if (drop(h.becoming_) + drop(h.hosting_) == 0)
    return;
  ++h.version_;
  serve(w);
  into.members = into.rehome = true;
}

void hosting::unload(worker& w, change& into) const {
  auto& h = w.host;
  if (h.leaving_.empty() || h.changes())
    return;
  auto order = order_for(h, {});
  order.leaving = std::exchange(h.leaving_, {});
  // Variants that it hosts again by now stay.
  std::erase_if(order.leaving, [&](auto v) { return h.hosts(v); });
  into.orders.push_back(std::move(order));
}

void hosting::host(worker& w, variants what,
                   std::span<const core::variant_id> running,
                   core::time_point now, change& into) const {
  auto& h = w.host;
  h.becoming_ = std::move(what);
  ++h.version_;
  into.ends_drain = true;
  // If nothing must be loaded the variants count as hosted: its rows end soon.
  const bool loads =
    std::any_of(h.becoming_.begin(), h.becoming_.end(), [&](const auto v) {
      return (h.loads_beside_ || load_on(*known_, v, w.kind()).count() > 0)
          && !h.hosts(v);
    });
  h.beside_ = loads && h.loads_beside_ && !h.loading_ && !h.next_;
  if (!h.beside_)
    return drain_and_load(w, loads, now, into);
  h.load_began_ = now;
  into.members = true;
  serve(w);
  auto order = order_for(h, h.becoming_);
  order.keep = h.hosting_;
  for (const auto v : running)
    if (!has(order.keep, v))
      order.keep.push_back(v);
  into.orders.push_back(std::move(order));
}

void hosting::drain_and_load(worker& w, bool loads, core::time_point now,
                             change& into) const {
  auto& h = w.host;
  h.next_ = h.becoming_;
  h.hosting_ = loads ? variants{} : h.becoming_;
  ++h.version_;
  serve(w);
  into.members = into.rehome = true;
  begin_load(w, now, into);
}

void hosting::begin_load(worker& w, core::time_point now, change& into) const {
  auto& h = w.host;
  if (!h.next_ || h.loading_ || w.seat.taken() != 0)
    return;
  h.loading_ = true;
  h.load_began_ = now;
  // A loading worker hosts nothing meanwhile.
  if (h.hosting_ != *h.next_)
    ++into.loads;
  into.orders.push_back(order_for(h, *h.next_));
  h.next_.reset();
}

void hosting::note_time(const worker& w, const actors::adopted& x,
                        core::time_point now, change& into) const {
  if (x.failure.code != core::ec::none || !x.failed.empty())
    return;
  // Hosted variants load nothing, and a joint load does not show each one's
  // time.
  const auto& h = w.host;
  variants come;
  std::copy_if(h.becoming_.begin(), h.becoming_.end(), std::back_inserter(come),
               [&](const auto v) { return !h.hosts(v); });
  if (come.size() == 1)
    into.loaded.emplace(come.front(), now - h.load_began_);
}

// -- loads that failed --------------------------------------------------------

void hosting::load_failed(const worker& w, core::variant_id v, core::error why,
                          core::time_point now) {
  if (v.value >= known_->variants.size())
    return;
  const auto text = core::to_string(why);
  if (failed_.failed({device_at(w), v}, std::move(why), now))
    core::log_error("device {} cannot load {}: {}", w.device,
                    known_->variants[v.value].name, text);
}

void hosting::note_loads(worker& w, std::span<const gpu::load_failure> failed,
                         core::time_point now, change& into) {
  for (const auto& x : failed)
    load_failed(w, x.variant, x.why, now);
  for (const auto v : w.host.hosting_)
    if (failed_.loaded({device_at(w), v}))
      core::log_info("device {} has loaded {}", w.device,
                     known_->variants[v.value].name);
  show_unloadable(w, into);
}

void hosting::show_unloadable(worker& w, change& into) const {
  auto& h = w.host;
  h.unloadable_.clear();
  for (const auto& [which, x] : failed_.all())
    if (which.first == device_at(w) && x.due != core::never)
      h.unloadable_.push_back(which.second);
  ++h.version_;
  into.members = true;
}

bool hosting::blames_load(const worker& w, death cause) {
  return (w.host.loading_ || w.host.beside_)
      && (cause == death::crash || cause == death::memory);
}

std::vector<gpu::load_failure> hosting::failures_at(const worker& w) const {
  std::vector<gpu::load_failure> out;
  for (const auto& [which, x] : failed_.all())
    if (which.first == device_at(w))
      out.push_back({which.second, x.why});
  return out;
}

variants hosting::loadable(const worker& w, const variants& what) const {
  const auto at = device_at(w);
  const auto& h = w.host;
  std::optional<core::variant_id> next;
  const auto first = [&](auto v) {
    return !has(h.unloadable_, v)
        && (h.will_host(v) || !failed_.knows({at, v}));
  };
  if (!h.changes() && std::all_of(what.begin(), what.end(), [&](auto v) {
        return h.will_host(v) || !first(v);
      }))
    next = failed_.next_try(at, what);
  auto out = what;
  std::erase_if(out, [&](auto v) { return !first(v) && v != next; });
  return out;
}

void hosting::hurry(core::variant_id variant, core::time_point now) {
  failed_.hurry(variant, now);
}

std::vector<failed_loads::key> hosting::retries(core::time_point now) {
  return failed_.due(now);
}

bool hosting::retry(worker& w, change& into) {
  const auto before = w.host.unloadable_.size();
  show_unloadable(w, into);
  return w.host.unloadable_.size() != before;
}

bool hosting::waits() const {
  return failed_.waits();
}

std::optional<core::time_point> hosting::retried_at(core::variant_id v) const {
  const auto* paused = failed_.paused_anywhere(v);
  return paused == nullptr ? std::nullopt : std::optional{paused->due};
}

core::error hosting::why_not_loaded(core::variant_id v) const {
  const auto* paused = failed_.paused_anywhere(v);
  ATELIER_EXPECTS(paused != nullptr, "the variant failed somewhere");
  return core::fail(core::ec::unavailable, "{}{}{}",
                    known_->variants[v.value].name, core::not_loaded,
                    paused->why.text);
}

// -- variants without a host --------------------------------------------------

void hosting::changed() {
  changed_ = true;
}

bool hosting::take_change() {
  if (!std::exchange(changed_, false))
    return false;
  sought_.clear();
  return true;
}

bool hosting::begin_search(core::queue_id queue) {
  return sought_.insert(queue).second;
}

void hosting::missing(core::variant_id v) {
  unhosted_.push_back(v);
}

void hosting::crowded() {
  crowded_ = true;
}

std::optional<variants> hosting::tell(size_t waiting, bool grouped) {
  const bool crowd =
    std::exchange(crowded_, false) && waiting != reported_waiting_;
  if (unhosted_.empty() && !crowd)
    return std::nullopt;
  if (grouped)
    reported_waiting_ = waiting;
  return std::exchange(unhosted_, {});
}

} // namespace atelier::actors
