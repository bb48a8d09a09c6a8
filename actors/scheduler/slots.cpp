// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/shares.hpp>
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/source_files.hpp>
#include <atelier/core/log.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::actors {

namespace {

constexpr ipc::process_life control_life{};

/// Returns the ticket by which a client reads an ended request's image.
core::ticket client_ticket(core::request_id id) {
  return {id, 0xFFFFFFFF};
}

template <class F>
void each(const planning::slot_set& x, F f) {
  for (const auto& slot : x.slots)
    if (slot)
      f(slot);
  for (const auto& slot : x.captures)
    f(slot);
}

core::result<void> write_files(ipc::slot_store& store,
                               const ipc::slot_ref& slot,
                               const core::source_images& files) {
  if (store.capacity(ipc::slot_kind::image) == 0)
    return store.publish(slot, 1, 0);
  const auto buffer = store.buffer(slot);
  if (!buffer)
    return buffer.why();
  if (auto written = write_source_files(*buffer, files); !written)
    return written;
  return store.publish(slot, 1, source_files_bytes(files));
}

} // namespace

slots::slots(uint32_t arena, slot_counts counts,
             std::shared_ptr<ipc::slot_store> store)
  : counts_(counts),
    store_(std::move(store)),
    keeper_(arena, counts),
    begun_(images_count()) {}

// -- slots that must stay free ------------------------------------------------

slot_counts slots::left_for_others(core::phase at, size_t active) const {
  // A prepared request can continue, so it leaves less.
  const uint32_t parts = at == core::phase::preparing ? 2 : 1;
  slot_counts out{};
  // A request is prepared only while one slot more than it takes is free.
  const size_t wanted = active > 0 ? active + 1 : 0;
  for (size_t kind = 0; kind < out.size(); ++kind)
    out[kind] = std::max(parts * (counts_[kind] / (2 * share_for_others)),
                         static_cast<uint32_t>(std::min<size_t>(
                           wanted, counts_[kind] / most_for_active)));
  return out;
}

void slots::wait_for_images(core::request_id request, uint32_t images) {
  if (waiting_ ? *waiting_ != request : begun_ < images_count() / 2)
    return;
  if (!waiting_)
    begun_ = 0;
  waiting_ = request;
  images_ = images;
}

bool slots::waits_long() const {
  return waiting_ && begun_ >= images_count();
}

uint32_t slots::images_left_for_waiting() const {
  return waiting_ ? images_ : 0;
}

std::optional<core::request_id> slots::waiting_for_images() const {
  return waiting_;
}

void slots::drawing_begins() {
  begun_ = std::min(begun_ + 1, images_count());
}

uint32_t slots::images_count() const {
  return counts_[static_cast<size_t>(ipc::slot_kind::image)];
}

void slots::waits_no_more(core::request_id request) {
  if (waiting_ != request)
    return;
  waiting_.reset();
  begun_ = 0;
}

std::optional<core::error> slots::too_few_for_source() const {
  const auto there = keeper_.count(ipc::slot_kind::image);
  if (there >= image_slots_for_source)
    return std::nullopt;
  return core::fail(core::ec::invalid_argument,
                    "a source image needs {} image slots, but only {} exist "
                    "(arena.image_slots)",
                    image_slots_for_source, there);
}

std::optional<core::error> slots::too_few_for(std::string_view route,
                                              const slot_counts& least) const {
  for (const auto kind : {ipc::slot_kind::image, ipc::slot_kind::state})
    if (const auto needs = least[static_cast<size_t>(kind)];
        needs > keeper_.count(kind))
      return core::fail(core::ec::out_of_resources,
                        "route '{}' needs {} {} slots, but only {} exist "
                        "(arena.{}_slots)",
                        route, needs, to_string(kind), keeper_.count(kind),
                        to_string(kind));
  return std::nullopt;
}

// -- dispatches ---------------------------------------------------------------

std::optional<ipc::granted_slots> slots::open(
  core::ticket dispatch, ipc::process_life writer,
  std::span<const ipc::slot_kind> kinds, const slot_counts& reserve) {
  auto out = keeper_.grant(dispatch, writer, kinds, reserve);
  if (out)
    for (const auto& slot : *out)
      store_->open(slot);
  return out;
}

const held_slots* slots::grant(core::ticket dispatch, ipc::process_life writer,
                               std::span<const planning::held> names,
                               const slot_counts& reserve) {
  std::array<ipc::slot_kind, planning::held_names> kinds{};
  for (size_t i = 0; i < names.size(); ++i)
    kinds[i] = planning::kind_of(names[i]);
  const auto granted =
    open(dispatch, writer, std::span(kinds).first(names.size()), reserve);
  if (!granted)
    return nullptr;
  waits_no_more(dispatch.id);
  auto& held = held_[dispatch];
  for (size_t i = 0; i < names.size(); ++i)
    held.granted[names[i]] = (*granted)[i];
  return &held;
}

const held_slots* slots::grant_with_files(core::ticket dispatch,
                                          ipc::process_life writer,
                                          std::span<const planning::held> names,
                                          const core::source_images& files,
                                          slot_counts reserve) {
  using ipc::slot_kind;
  if (grant(dispatch, writer, names, reserve) == nullptr)
    return nullptr;
  // The control process writes this slot and is done with it at once. The slot
  // is freed when the files are decoded.
  constexpr std::array kinds{slot_kind::image};
  --reserve[static_cast<size_t>(slot_kind::image)];
  const auto opened = open(dispatch, control_life, kinds, reserve);
  if (!opened) {
    ATELIER_EXPECTS(names.empty(), "the grant before left slots for this");
    held_.erase(dispatch);
    return nullptr;
  }
  const auto slot = opened->front();
  // The worker finds nothing there and reports that; the API lets no such
  // request through.
  if (auto written = write_files(*store_, slot, files); !written)
    core::log_error("the source of request {}: {}", dispatch.id.value,
                    core::to_string(written.why()));
  auto& held = held_.at(dispatch);
  held.reading[planning::held::files] = slot;
  held.reads_files = true;
  keeper_.begin_read(slot, dispatch, writer);
  keeper_.release(slot, dispatch);
  return &held;
}

std::vector<gpu::state_capture> slots::grant_captures(
  holding& of, core::ticket dispatch, ipc::process_life writer,
  std::span<const uint32_t> wanted) {
  constexpr std::array kinds{ipc::slot_kind::capture};
  auto& given = held_.at(dispatch).granted.captures;
  while (given.size() < wanted.size())
    if (const auto opened = open(dispatch, writer, kinds, {}))
      given.push_back(opened->front());
    else
      break;
  const auto left_out = wanted.size() - given.size();
  // An order after a death may find slots for what the last one left out.
  std::erase_if(of.left_out_,
                [&](uint32_t steps) { return steps > of.steps_; });
  of.left_out_.insert(of.left_out_.end(), wanted.begin(),
                      wanted.begin() + static_cast<ptrdiff_t>(left_out));
  std::vector<gpu::state_capture> out;
  for (size_t i = 0; i < given.size(); ++i)
    out.push_back({wanted[left_out + i], given[i]});
  return out;
}

void slots::read(core::ticket dispatch, ipc::process_life reader,
                 planning::held name, const ipc::slot_ref& slot) {
  held_.at(dispatch).reading[name] = slot;
  keeper_.begin_read(slot, dispatch, reader);
}

const held_slots* slots::read_alone(core::ticket dispatch,
                                    ipc::process_life reader,
                                    const planning::slot_set& what) {
  auto& held = held_[dispatch];
  held.reading = what;
  each(what, [&](const ipc::slot_ref& slot) {
    keeper_.begin_read(slot, dispatch, reader);
  });
  return &held;
}

void slots::published(core::ticket dispatch) {
  auto& held = held_.at(dispatch);
  if (std::exchange(held.published, true))
    return;
  const auto& from = held.reading[planning::held::state];
  keeper_.end_read(from, dispatch);
  keeper_.supersede(from);
}

held_slots slots::conclude(core::ticket dispatch) {
  auto out = orphan(dispatch);
  each(out.granted,
       [&](const ipc::slot_ref& slot) { keeper_.release(slot, dispatch); });
  // The read of a state ended with the publication: ending it again does
  // nothing.
  each(out.reading,
       [&](const ipc::slot_ref& slot) { keeper_.end_read(slot, dispatch); });
  return out;
}

held_slots slots::orphan(core::ticket dispatch) {
  const auto i = held_.find(dispatch);
  ATELIER_EXPECTS(i != held_.end(), "the dispatch was granted slots");
  auto out = std::move(i->second);
  held_.erase(i);
  return out;
}

void slots::discard(const held_slots& what) {
  each(what.granted,
       [&](const ipc::slot_ref& slot) { keeper_.supersede(slot); });
  if (what.reads_files)
    keeper_.supersede(what.reading[planning::held::files]);
}

const held_slots& slots::of(core::ticket dispatch) const {
  return held_.at(dispatch);
}

size_t slots::dispatches() const {
  return held_.size();
}

// -- what requests hold -------------------------------------------------------

ipc::slot_ref holding::operator[](planning::held name) const {
  using planning::held;
  switch (name) {
    case held::source:
      return source_;
    case held::state:
      return state_;
    case held::pixels:
      return found_ ? found_ : image_;
    case held::encoded:
      return encoded_;
    case held::files:
    case held::capture:
      break;
  }
  return {};
}

void slots::begin_with(holding& of, uint32_t steps) {
  of.steps_ = steps;
}

core::result<void> slots::keep(holding& of, const held_slots& wrote,
                               core::phase at, std::string_view stage,
                               uint32_t most_steps, core::extent px) {
  using planning::held;
  const auto& given = wrote.granted;
  uint64_t steps = 0;
  for (size_t i = 0; i < given.slots.size(); ++i) {
    if (!given.slots[i])
      continue;
    const auto name = static_cast<held>(i);
    const auto seq = last_published(given.slots[i]);
    if (!seq || *seq == 0)
      return core::fail(core::ec::internal, "stage '{}' left nothing as '{}'",
                        stage, to_string(name));
    if (name != held::state)
      continue;
    steps = *seq - 1;
    if (steps > most_steps)
      return core::fail(core::ec::internal,
                        "stage '{}' left a state after {} of {} steps", stage,
                        steps, most_steps);
  }
  const auto take = [&](held name, ipc::slot_ref& into) {
    const auto& slot = given[name];
    if (!slot)
      return;
    // The newest image stays while its leg's start is made of it.
    if (wrote.reading[name] != of.image_ || &into == &of.image_)
      drop(wrote.reading[name]);
    into = slot;
  };
  if (given[held::state])
    of.steps_ = static_cast<uint32_t>(steps);
  take(held::state, of.state_);
  take(held::source, of.source_);
  take(held::encoded, of.encoded_);
  if (given[held::pixels]) {
    // Before a leg ended with an image, pixels are those that it starts from,
    // or that answer a route without legs.
    const bool newest = at == core::phase::finishing && of.image_;
    const bool redrawn = static_cast<bool>(wrote.reading[held::pixels]);
    if (redrawn && px == core::extent{})
      px = of.px();
    take(held::pixels, newest ? of.image_ : of.found_);
    (newest ? of.image_px_ : of.found_px_) = px;
    of.redrawn_ = of.redrawn_ || (redrawn && !newest);
  }
  if (wrote.reads_files)
    drop(wrote.reading[held::files]);
  return {};
}

void slots::keep_captures(holding& of, const held_slots& wrote) {
  for (const auto& slot : wrote.granted.captures) {
    const auto seq = last_published(slot);
    if (seq && *seq > 0)
      of.captures_.push_back(slot);
    else
      drop(slot);
  }
}

slots::resumption slots::resume(holding& of, const held_slots& wrote,
                                uint32_t most_steps, bool unreadable) {
  using planning::held;
  const auto& state = wrote.granted[held::state];
  const auto seq = last_published(state);
  resumption out;
  out.holds = seq && *seq > 0 && *seq - 1 <= most_steps;
  if (out.holds) {
    out.steps = static_cast<uint32_t>(*seq - 1);
    of.steps_ = out.steps;
    of.state_ = state;
    drop(wrote.reading[held::state]);
  } else {
    drop(state);
    if (unreadable)
      drop(wrote.reading[held::state]);
    out.lost = unreadable || wrote.published;
  }
  drop(wrote.granted[held::pixels]);
  keep_captures(of, wrote);
  return out;
}

void slots::end_leg(holding& of, const held_slots& wrote, bool with_image) {
  using planning::held;
  drop(wrote.reading[held::state]);
  drop(wrote.granted[held::state]);
  keep_captures(of, wrote);
  of.state_ = {};
  if (with_image) {
    of.image_ = wrote.granted[held::pixels];
    of.image_px_ = {};
  } else {
    drop(wrote.granted[held::pixels]);
  }
  drop_source(of);
  drop_found(of);
}

void slots::begin_leg(holding& of) {
  drop_and_forget(of.state_);
  of.steps_ = 0;
  of.left_out_.clear();
  drop_source(of);
  if (of.redrawn_)
    drop_found(of);
}

void slots::drop_start(holding& of) {
  drop_and_forget(of.state_);
  drop_found(of);
  drop_source(of);
}

void slots::drop_source(holding& of) {
  drop_and_forget(of.source_);
}

void slots::drop_found(holding& of) {
  drop_and_forget(of.found_);
  of.found_px_ = {};
  of.redrawn_ = false;
}

void slots::drop_captures(holding& of) {
  for (const auto& slot : std::exchange(of.captures_, {}))
    drop(slot);
}

void slots::take_found(holding& of) {
  ATELIER_EXPECTS(of.found_, "the request holds pixels of earlier work");
  of.image_ = std::exchange(of.found_, {});
  of.image_px_ = std::exchange(of.found_px_, {});
  of.redrawn_ = false;
}

void slots::drop(const ipc::slot_ref& slot) {
  keeper_.supersede(slot);
}

void slots::drop_and_forget(ipc::slot_ref& slot) {
  drop(std::exchange(slot, {}));
}

void slots::end(core::request_id request) {
  waits_no_more(request);
  keeper_.end_request(request);
}

void slots::answer(core::request_id request, const holding& of) {
  waits_no_more(request);
  keeper_.begin_read(of.encoded_, client_ticket(request), control_life);
  keeper_.end_request(request);
}

void slots::taken(core::request_id request, const holding& of) {
  keeper_.end_read(of.encoded_, client_ticket(request));
}

core::result<uint64_t> slots::last_published(const ipc::slot_ref& slot) const {
  return store_->published(slot);
}

// -- processes ----------------------------------------------------------------

void slots::suspect(ipc::process_life who) {
  keeper_.suspect(who);
}

void slots::lost(ipc::process_life who, bool confirmed) {
  if (confirmed)
    keeper_.confirm_exit(who);
  else
    keeper_.suspect(who);
}

// -- inspection ---------------------------------------------------------------

uint32_t slots::free(ipc::slot_kind kind) const {
  return keeper_.census(kind).free;
}

uint32_t slots::all() const {
  uint32_t out = 0;
  for (const auto count : counts_)
    out += count;
  return out;
}

uint32_t slots::in_use() const {
  uint32_t out = all();
  for (size_t kind = 0; kind < counts_.size(); ++kind)
    out -= free(static_cast<ipc::slot_kind>(kind));
  return out;
}

bool slots::holds(const ipc::slot_ref& slot) const {
  return keeper_.state_of(slot).has_value();
}

const ipc::keeper& slots::keeper() const {
  return keeper_;
}

std::string slots::check() const {
  if (auto broken = keeper_.check(); !broken.empty())
    return broken;
  for (const auto& [dispatch, held] : held_) {
    bool lost = false;
    each(held.granted, [&](const ipc::slot_ref& slot) {
      const auto s = keeper_.state_of(slot);
      lost = lost || !s || *s == ipc::slot_state::free
          || *s == ipc::slot_state::held;
    });
    if (lost)
      return fmt::format("request {} lost a granted slot", dispatch.id.value);
  }
  return {};
}

} // namespace atelier::actors
