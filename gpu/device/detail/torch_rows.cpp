// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/free_memory.hpp>
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/samplers/step.hpp>
#include <atelier/planning/route.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace atelier::gpu::detail {

namespace {

core::error not_open(core::ticket who) {
  return core::fail(core::ec::not_found, "request {}, attempt {}: no open row",
                    who.id.value, who.attempt);
}

bool share_a_pass(const torch_row& a, const torch_row& b) {
  const auto must_not_mix = [](const torch_row& x) {
    return x.how().deterministic && !x.model().net().is_batch_invariant();
  };
  return &a.model() == &b.model() && a.latent().sizes() == b.latent().sizes()
      && a.positive().tokens == b.positive().tokens
      && a.predicts_apart() == b.predicts_apart()
      && (!a.predicts_apart() || a.negative().tokens == b.negative().tokens)
      && !must_not_mix(a) && !must_not_mix(b);
}

// Splits rows into groups that share a forward pass.
std::vector<std::vector<torch_row*>> groups_of(
  const std::vector<torch_row*>& rows) {
  std::vector<std::vector<torch_row*>> out;
  for (auto* row : rows) {
    const auto at = std::find_if(out.begin(), out.end(), [&](const auto& x) {
      return share_a_pass(*x.front(), *row);
    });
    if (at != out.end())
      at->push_back(row);
    else
      out.push_back({row});
  }
  return out;
}

// The key of a pass of one row.
pass_key key_of(const torch_row& x) {
  const auto& latent = x.latent();
  return {x.places(), latent.size(0), latent.size(1), latent.size(2),
          x.positive().tokens};
}

// Returns the number by which a pass knows a row's condition.
uint64_t condition_number(uint64_t row, bool negative) {
  return 2 * row + (negative ? 1 : 0);
}

// The places of one forward pass: one for every row, then one without the
// prompt for each guided row. These have a pass of their own if their texts are
// of another length.
class row_pass {
public:
  row_pass(const std::vector<torch_row*>& rows, pass_cache& passes)
    : rows_(rows), passes_(passes), apart_(rows.front()->predicts_apart()) {
    for (auto* row : rows)
      if (row->guided())
        guided_.push_back(row);
    auto key = key_of(*rows.front());
    key.places =
      static_cast<int64_t>(rows.size() + (apart_ ? 0 : guided_.size()));
    kept_ = &passes.find(rows.front()->held_model(), key);
  }

  kept_pass& kept() {
    return *kept_;
  }

  // Returns [n, c, h, w]: each row's prediction, guided if the row is.
  torch::Tensor predict(const torch::Tensor& scaled) {
    write(scaled);
    auto out = gpu::predict(model().net(), kept_->inputs).to(torch::kFloat32);
    if (guided_.empty())
      return out;
    const auto n = static_cast<int64_t>(rows_.size());
    auto own = out.slice(0, 0, n);
    const auto unguided = apart_ ? predict_negatives(scaled) : out.slice(0, n);
    std::vector<float> scales;
    std::vector<float> rescales;
    for (const auto* row : guided_) {
      scales.push_back(row->how().guidance);
      rescales.push_back(row->how().guidance_rescale);
    }
    if (guided_.size() == rows_.size())
      return guide(unguided, own, scales, rescales, kept_->guidance);
    own = own.clone();
    int64_t place = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (!rows_[static_cast<size_t>(i)]->guided())
        continue;
      const auto j = static_cast<size_t>(place);
      const auto row = own.narrow(0, i, 1);
      row.copy_(guide(unguided.narrow(0, place, 1), row, {&scales[j], 1},
                      {&rescales[j], 1}, kept_->guidance));
      ++place;
    }
    return own;
  }

private:
  const gpu::model& model() const {
    return rows_.front()->model();
  }

  // Returns [n, c, h, w]: the predictions without the prompts, where all rows
  // are guided.
  torch::Tensor predict_negatives(const torch::Tensor& scaled) {
    auto key = key_of(*rows_.front());
    key.places = static_cast<int64_t>(rows_.size());
    key.tokens = rows_.front()->negative().tokens;
    // The cache keeps several passes, so that `kept_` stays.
    auto& beside = passes_.find(rows_.front()->held_model(), key);
    auto& in = beside.inputs;
    in.sample.copy_(scaled);
    std::vector<float> timesteps;
    for (size_t i = 0; i < rows_.size(); ++i) {
      timesteps.push_back(rows_[i]->rule().timestep);
      put(beside, *rows_[i], true, static_cast<int64_t>(i));
    }
    in.timestep.copy_(beside.timesteps.bring(timesteps, in.timestep.device()));
    return gpu::predict(model().net(), in).to(torch::kFloat32);
  }

  // Writes the inputs of the pass. Conditions that are already in place stay.
  void write(const torch::Tensor& scaled) {
    auto& in = kept_->inputs;
    const auto n = static_cast<int64_t>(rows_.size());
    in.sample.narrow(0, 0, n).copy_(scaled);
    std::vector<float> timesteps;
    for (const auto* row : rows_)
      timesteps.push_back(row->rule().timestep);
    int64_t place = n;
    for (int64_t i = 0; i < n; ++i) {
      const auto* row = rows_[static_cast<size_t>(i)];
      put(*kept_, *row, false, i);
      if (!row->guided() || apart_)
        continue;
      in.sample.select(0, place).copy_(scaled.select(0, i));
      timesteps.push_back(row->rule().timestep);
      put(*kept_, *row, true, place++);
    }
    in.timestep.copy_(kept_->timesteps.bring(timesteps, in.timestep.device()));
  }

  void put(kept_pass& into, const torch_row& row, bool negative,
           int64_t place) {
    auto& there = into.conditions[static_cast<size_t>(place)];
    const auto wanted = condition_number(row.number(), negative);
    if (there == wanted)
      return;
    // A partly written place belongs to no row.
    there = 0;
    into.results.clear();
    model().write(negative ? row.negative() : row.positive(), row.how(),
                  negative, place, into.inputs);
    there = wanted;
  }

  const std::vector<torch_row*>& rows_;
  pass_cache& passes_;
  const bool apart_;
  std::vector<const torch_row*> guided_;
  kept_pass* kept_ = nullptr;
};

// Returns [n, c, h, w] of the results of `of`, with zeros for undefined ones;
// undefined if all are.
template <class F>
torch::Tensor stacked(const std::vector<torch_row*>& rows, F of) {
  std::vector<torch::Tensor> parts;
  bool any = false;
  for (auto* row : rows) {
    parts.push_back(of(*row));
    any = any || parts.back().defined();
  }
  if (!any)
    return {};
  for (size_t i = 0; i < rows.size(); ++i)
    if (!parts[i].defined())
      parts[i] = torch::zeros_like(rows[i]->latent());
  return torch::stack(parts);
}

uint64_t places_of(std::span<torch_row* const> rows) {
  uint64_t out = 0;
  for (const auto* row : rows)
    out += static_cast<uint64_t>(row->places());
  return out;
}

// Returns the first rows whose places are at most `most` together, at least one
// row; 0: all of them.
std::vector<torch_row*> first_rows(std::span<torch_row* const> rows,
                                   uint64_t most) {
  size_t count = rows.size();
  while (most > 0 && count > 1 && places_of(rows.first(count)) > most)
    --count;
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)};
}

core::error too_large(const torch_row& x, const core::error& why,
                      const memory_probe& memory) {
  const auto& px = x.how().px;
  const auto free = memory(x.model().where().device);
  return core::fail(core::ec::out_of_resources,
                    "a step of one image of {}x{} pixels does not fit the "
                    "device's memory, of which {} MiB are free: {}",
                    px.width, px.height, free.value_or(0) >> 20, why.text);
}

void step_group(const std::vector<torch_row*>& rows, pass_cache& passes) {
  const c10::InferenceMode guard;
  std::vector<step_rule> rules;
  rules.reserve(rows.size());
  for (const auto* row : rows)
    rules.push_back(row->rule());
  const auto x = stacked(rows, [](auto& row) { return row.latent(); });
  row_pass pass{rows, passes};
  auto& numbers = pass.kept();
  const auto out = pass.predict(scale_input(x, rules, numbers.scales));
  const auto last = stacked(rows, [](auto& row) { return row.last(); });
  const auto noise = stacked(rows, [](auto& row) {
    return row.rule().from_noise != 0 ? row.draw() : torch::Tensor{};
  });
  const auto made = step(x, out, last, noise, rules, numbers.rules);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    auto kept = with_model_border("a row", [&] {
      rows[i]->accept(made.next[at], made.x0[at]);
      return true;
    });
    if (!kept)
      rows[i]->fail(std::move(kept).why());
  }
}

} // namespace

torch_rows::torch_rows(std::shared_ptr<hosted_models> models,
                       hosted_judges judges,
                       std::shared_ptr<ipc::slot_store> slots,
                       torch_threads threads, memory_probe memory)
  : models_(std::move(models)),
    judges_(std::move(judges)),
    slots_(std::move(slots)),
    threads_(threads),
    memory_(std::move(memory)) {}

void torch_rows::begin() {
  apply(threads_);
}

void torch_rows::open(const open_job& job) {
  if (const auto at = rows_.find(job.ticket); at != rows_.end()) {
    at->second->fail(core::fail(core::ec::internal,
                                "request {}, attempt {}: opened twice",
                                job.ticket.id.value, job.ticket.attempt));
    return;
  }
  auto model = models_->find(job.recipe.variant);
  const auto free =
    model ? free_when_idle(model->where().device) : std::nullopt;
  rows_.emplace(job.ticket, std::make_unique<torch_row>(
                              job, std::move(model), *slots_, prompts_,
                              sources_, memory_, free, ++opened_));
}

std::optional<uint64_t> torch_rows::free_when_idle(
  const torch::Device& of) const {
  auto free = memory_(of);
  for (const auto& [who, row] : rows_)
    if (const auto* open = row->decoding_memory())
      free = std::max(free, open->free_before);
  return free;
}

bool torch_rows::may_begin(core::ticket who) {
  const auto at = rows_.find(who);
  // Its decoding fails at once.
  if (at == rows_.end() || at->second->failure().code != core::ec::none)
    return true;
  const auto free = memory_(at->second->model().where().device);
  uint64_t others = 0;
  for (const auto& [ticket, row] : rows_)
    if (const auto* open = row->decoding_memory())
      others += open->bytes;
  return free && fits_beside(at->second->need(), others, *free);
}

void torch_rows::close(core::ticket who) {
  const auto at = rows_.find(who);
  if (at == rows_.end())
    return;
  const auto number = at->second->number();
  rows_.erase(at);
  passes_.forget_results(std::array{condition_number(number, false),
                                    condition_number(number, true)});
}

std::vector<torch_row*> torch_rows::sound(
  const std::vector<core::ticket>& who) {
  std::vector<torch_row*> out;
  for (const auto x : who)
    if (const auto at = rows_.find(x);
        at != rows_.end() && at->second->failure().code == core::ec::none)
      out.push_back(at->second.get());
  return out;
}

uint32_t torch_rows::steps_left(const std::vector<core::ticket>& who,
                                uint32_t most) {
  const auto rows = sound(who);
  if (rows.empty())
    return 0;
  for (const auto* row : rows)
    most = std::min(most, row->steps_left());
  return most;
}

void torch_rows::step(const std::vector<core::ticket>& who) {
  for (const auto& group : groups_of(sound(who)))
    step_in_parts(group);
}

void torch_rows::step_in_parts(const std::vector<torch_row*>& rows) {
  auto& size = limits_.find(rows.front()->held_model(), key_of(*rows.front()));
  for (size_t at = 0; at < rows.size();) {
    const auto part =
      first_rows({rows.begin() + static_cast<std::ptrdiff_t>(at), rows.end()},
                 size.most());
    const auto places = places_of(part);
    auto done = with_model_border("a step", [&] {
      step_group(part, passes_);
      return true;
    });
    if (done) {
      at += part.size();
      size.fitted(places, at < rows.size()
                            ? static_cast<uint64_t>(rows[at]->places())
                            : 0);
      continue;
    }
    const bool full = done.why().code == core::ec::out_of_resources;
    if (full) {
      size.failed(places);
      passes_.clear();
    }
    if (full && part.size() > 1) {
      core::log_warn("a step of {} rows did not fit the memory; it continues "
                     "with at most {} places",
                     part.size(), size.most());
      continue;
    }
    for (auto* row : part)
      row->fail(full ? too_large(*row, done.why(), memory_) : done.why());
    at += part.size();
  }
}

std::vector<row_report> torch_rows::report(
  const std::vector<core::ticket>& who) {
  std::vector<row_report> out;
  for (const auto x : who)
    if (const auto at = rows_.find(x); at != rows_.end())
      out.push_back(at->second->report());
    else
      out.push_back({x, 0, false, not_open(x), {}});
  return out;
}

std::optional<decode_report> torch_rows::decode_part(core::ticket who) {
  decode_report out;
  out.ticket = who;
  const auto at = rows_.find(who);
  if (at == rows_.end()) {
    out.failure = not_open(who);
    return out;
  }
  const auto& asked = at->second->judge();
  const auto judge = judges_.find(asked);
  const auto made = at->second->decode_part(
    judge != judges_.end() ? judge->second.get() : nullptr);
  if (!made)
    return std::nullopt;
  if (*made) {
    out.bytes = (*made)->bytes;
    out.score = (*made)->score;
    if (judge == judges_.end() && !asked.empty()) {
      core::log_error("judge '{}' was not found on this device", asked);
      out.score = planning::unjudged;
    }
  } else
    out.failure = made->why();
  return out;
}

} // namespace atelier::gpu::detail
