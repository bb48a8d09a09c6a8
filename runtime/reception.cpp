// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/public_parameters.hpp>
#include <atelier/runtime/reception.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace atelier::runtime {

namespace {

/// A host's callback may throw; its exception ends here.
template <class F, class T>
void call(const F& f, const T& x) {
  if (!f)
    return;
  try {
    f(x);
  } catch (const std::exception& e) {
    core::log_error("a callback of the host threw: {}", e.what());
  } catch (...) {
    core::log_error("a callback of the host threw");
  }
}

timings to_timings(const actors::row_timings& x) {
  timings t;
  t.queue = x.queue;
  t.classify = x.classify;
  t.retrieve = x.retrieve;
  t.preprocess = x.preprocess;
  t.text = x.text;
  t.denoise = x.denoise;
  t.decode = x.decode;
  t.postprocess = x.postprocess;
  t.first_step = x.first_step;
  t.total = x.total;
  return t;
}

/// Names the level of each ladder; without ladders that the profile does not
/// have.
std::vector<ladder_level> to_levels(const std::vector<uint32_t>& tolerated,
                                    const planning::profile& known) {
  std::vector<ladder_level> out;
  const auto ladders = std::min(tolerated.size(), known.ladders.size());
  for (size_t i = 0; i < ladders; ++i) {
    const auto& ladder = known.ladders[i];
    if (tolerated[i] >= ladder.levels.size())
      continue;
    const auto variant = ladder.levels[tolerated[i]].variant.value;
    if (variant < known.variants.size())
      out.push_back({std::string{planning::name_of(ladder.kind)}, tolerated[i],
                     known.variants[variant].name});
  }
  return out;
}

} // namespace

reception::reception(std::shared_ptr<ipc::slot_store> slots,
                     std::function<void(core::request_id)> taken,
                     std::function<void(core::request_id)> noted,
                     std::shared_ptr<const planning::profile> known)
  : slots_(std::move(slots)),
    taken_(std::move(taken)),
    noted_(std::move(noted)),
    known_(std::move(known)),
    thread_([this] { loop(); }) {}

reception::~reception() {
  close();
}

void reception::close() {
  std::unordered_map<uint64_t, std::shared_ptr<client>> left;
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    news_.clear();
  }
  wake_.notify_all();
  if (thread_.joinable())
    thread_.join();
  {
    const std::lock_guard guard{mutex_};
    left.swap(clients_);
  }
  slots_.reset();
  for (auto& [id, c] : left) {
    const answer a = failure{"stopping", "the engine is stopping", {}};
    c->result.set_value(a);
    call(c->calls.answered, a);
  }
}

bool reception::knows(core::request_id id) const {
  const std::lock_guard guard{mutex_};
  return clients_.count(id.value) != 0;
}

std::future<answer> reception::expect(core::request_id id, callbacks calls) {
  return *expect(id, std::move(calls), std::numeric_limits<size_t>::max());
}

std::optional<std::future<answer>> reception::expect(core::request_id id,
                                                     callbacks calls,
                                                     size_t most) {
  auto c = std::make_shared<client>();
  c->calls = std::move(calls);
  auto result = c->result.get_future();
  const std::lock_guard guard{mutex_};
  if (clients_.size() >= most)
    return std::nullopt;
  clients_.emplace(id.value, std::move(c));
  return result;
}

size_t reception::open() const {
  const std::lock_guard guard{mutex_};
  return clients_.size();
}

double reception::seconds_per_answer() const {
  const std::lock_guard guard{mutex_};
  return seconds_per_answer_;
}

bool reception::wait_until_empty(core::timespan most) {
  const auto until = core::after(std::chrono::steady_clock::now(), most);
  std::unique_lock guard{mutex_};
  return emptied_.wait_until(guard, until,
                             [this] { return clients_.empty() && !calling_; });
}

void reception::tell(news x) {
  {
    const std::lock_guard guard{mutex_};
    if (stopping_)
      return;
    news_.push_back(std::move(x));
  }
  wake_.notify_one();
}

void reception::answered(actors::answer what) {
  const auto id = what.request->id.value;
  tell({id, std::move(what)});
}

void reception::progressed(core::request_id id, uint32_t steps_done,
                           uint32_t steps, ipc::slot_ref state) {
  progress x;
  x.request = id.value;
  x.steps_done = steps_done;
  x.steps = steps;
  tell({id.value, std::move(x), state});
}

void reception::suspected(core::request_id id, core::suspicion how,
                          bool waits) {
  held_against x;
  x.details = {std::string{core::to_string(how.phase)}, how.leg, how.steps,
               how.trials};
  x.waits = waits;
  tell({id.value, std::move(x)});
}

void reception::tell_suspicion(uint64_t request, const callbacks& calls,
                               const held_against& x) {
  auto go_on = x.waits
               ? std::function<void()>{[weak = weak_from_this(), request] {
                   if (const auto me = weak.lock())
                     me->noted(request);
                 }}
               : std::function<void()>{[] {}};
  try {
    calls.suspected(x.details, go_on);
  } catch (const std::exception& e) {
    core::log_error("a callback of the host threw: {}", e.what());
    go_on();
  }
}

void reception::noted(uint64_t request) {
  // Under the lock: a caller that closes this may end the scheduler after it.
  const std::lock_guard guard{mutex_};
  if (!stopping_ && noted_)
    noted_(core::request_id{request});
}

void reception::add_preview(const ipc::slot_ref& from, progress& to) const {
  // The publisher does not wait: the state may be newer, or gone.
  std::vector<std::byte> bytes;
  if (!from || !slots_->read(from, bytes))
    return;
  const auto state = gpu::parse_state(bytes);
  if (!state || state->preview.rgb.empty())
    return;
  to.preview.step = state->head.steps_done;
  to.preview.width = state->preview.px.width;
  to.preview.height = state->preview.px.height;
  to.preview.rgb.assign(state->preview.rgb.begin(), state->preview.rgb.end());
}

answer reception::to_answer(actors::answer& x) {
  if (x.failure.code != core::ec::none)
    return to_failure(x.failure, x.retry_after);
  generated_image p;
  p.request = x.request->id.value;
  const auto bytes = slots_->view(x.image);
  if (bytes)
    p.bytes.assign(reinterpret_cast<const uint8_t*>(bytes->data()),
                   reinterpret_cast<const uint8_t*>(bytes->data())
                     + bytes->size());
  taken_(x.request->id);
  if (!bytes)
    return to_failure(bytes.why());
  p.format = core::to_string(x.request->output.format);
  p.seed = x.recipe.seed;
  p.prompt = x.request->text.positive;
  p.negative = x.request->text.negative;
  p.model = std::move(x.model);
  p.variant = std::move(x.variant);
  p.route = std::move(x.route);
  each_told([&](const core::parameter&, auto at, auto member) {
    if constexpr (std::is_enum_v<typename decltype(at)::type>)
      p.*member = to_string(x.recipe.*at.used);
    else
      p.*member = x.recipe.*at.used;
  });
  p.steps_run = x.steps_run;
  const auto px = core::answered_px(x.recipe);
  p.width = px.width;
  p.height = px.height;
  p.drawn_width = x.recipe.px.width;
  p.drawn_height = x.recipe.px.height;
  p.sha256 = std::move(x.sha256);
  for (auto& one : x.notes)
    p.notes.push_back(
      {std::string{core::to_string(one.code)}, std::move(one.text)});
  if (x.tolerated && known_)
    p.prompt_class = to_levels(*x.tolerated, *known_);
  if (x.reused)
    p.reused =
      reuse{x.reused->from == planning::origin::image ? "image" : "latent",
            x.reused->entry, x.reused->similarity, x.reused->steps};
  p.trace = x.request->trace;
  p.took = to_timings(x.took);
  return p;
}

void reception::loop() {
  for (;;) {
    news x;
    std::shared_ptr<client> c;
    {
      std::unique_lock guard{mutex_};
      wake_.wait(guard, [this] { return stopping_ || !news_.empty(); });
      if (stopping_)
        return;
      x = std::move(news_.front());
      news_.pop_front();
      if (const auto i = clients_.find(x.request); i != clients_.end())
        c = i->second;
      calling_ = c != nullptr;
    }
    if (auto* p = std::get_if<progress>(&x.content)) {
      if (c) {
        add_preview(x.state, *p);
        call(c->calls.progressed, *p);
      }
    } else if (const auto* held = std::get_if<held_against>(&x.content)) {
      if (c && c->calls.suspected)
        tell_suspicion(x.request, c->calls, *held);
      else if (held->waits)
        noted(x.request);
    } else {
      const auto a = to_answer(std::get<actors::answer>(x.content));
      if (c)
        deliver(x.request, *c, a);
    }
    const std::lock_guard guard{mutex_};
    calling_ = false;
    if (clients_.empty())
      emptied_.notify_all();
  }
}

void reception::deliver(uint64_t request, client& to, const answer& a) {
  {
    // First: a client that has its answer may submit the next request at once.
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard guard{mutex_};
    if (last_answer_ != core::time_point{})
      seconds_per_answer_ +=
        (core::to_seconds(now - last_answer_) - seconds_per_answer_) / 16;
    last_answer_ = now;
    clients_.erase(request);
  }
  to.result.set_value(a);
  call(to.calls.answered, a);
}

} // namespace atelier::runtime
