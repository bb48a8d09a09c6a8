// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/models/weights.hpp>
#include <atelier/gpu/samplers/step.hpp>
#include <atelier/planning/route.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu::detail {

namespace {

core::error not_open(core::ticket who) {
  return core::fail(core::ec::not_found, "request {}, attempt {}: no open row",
                    who.id.value, who.attempt);
}

bool share_a_pass(const torch_row& a, const torch_row& b) {
  return &a.model() == &b.model() && a.latent().sizes() == b.latent().sizes()
      && !a.how().deterministic && !b.how().deterministic;
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

// The places of one forward pass: every row's own, then those without the
// prompt of the guided ones.
class pass {
public:
  explicit pass(const std::vector<torch_row*>& rows) : rows_(rows) {
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i]->guided())
        guided_.push_back(static_cast<int64_t>(i));
  }

  // Returns [n, c, h, w]: the prediction of every row, guided where it is.
  torch::Tensor predict(const torch::Tensor& scaled) {
    const auto& model = rows_.front()->model();
    auto where = index();
    unet_input in;
    in.sample = with_guided(scaled.to(model.where().dtype), where);
    in.timestep = with_guided(timesteps(), where);
    add_conditions(model, in);
    auto out = model.denoiser().forward(in).to(torch::kFloat32);
    if (guided_.empty())
      return out;
    const auto n = static_cast<int64_t>(rows_.size());
    auto own = out.slice(0, 0, n);
    const auto unguided = out.slice(0, n);
    std::vector<float> scales;
    std::vector<float> rescales;
    for (const auto i : guided_) {
      const auto& how = rows_[static_cast<size_t>(i)]->how();
      scales.push_back(how.guidance);
      rescales.push_back(how.guidance_rescale);
    }
    if (guided_.size() == rows_.size())
      return guide(unguided, own, scales, rescales);
    own = own.clone();
    own.index_copy_(
      0, where, guide(unguided, own.index_select(0, where), scales, rescales));
    return own;
  }

private:
  torch::Tensor index() const {
    return torch::tensor(guided_, torch::kInt64)
      .to(rows_.front()->latent().device());
  }

  torch::Tensor with_guided(const torch::Tensor& x,
                            const torch::Tensor& where) const {
    if (guided_.empty())
      return x;
    if (guided_.size() == rows_.size())
      return torch::cat({x, x});
    return torch::cat({x, x.index_select(0, where)});
  }

  torch::Tensor timesteps() const {
    std::vector<float> out;
    for (const auto* row : rows_)
      out.push_back(row->rule().timestep);
    return torch::tensor(out).to(rows_.front()->latent().device());
  }

  void add_conditions(const diffusion_model& model, unet_input& in) const {
    std::vector<torch::Tensor> context;
    std::vector<torch::Tensor> pooled;
    std::vector<torch::Tensor> ids;
    const auto add = [&](const torch_row& row, bool negative) {
      const auto& said = negative ? row.negative() : row.positive();
      context.push_back(said.context);
      if (said.pooled.defined())
        pooled.push_back(said.pooled);
      if (auto x = model.time_ids(row.how().px, negative); x.defined())
        ids.push_back(std::move(x));
    };
    for (const auto* row : rows_)
      add(*row, false);
    for (const auto i : guided_)
      add(*rows_[static_cast<size_t>(i)], true);
    in.context = torch::cat(context);
    if (!pooled.empty())
      in.pooled = torch::cat(pooled);
    if (!ids.empty())
      in.time_ids = torch::cat(ids);
    if (model.embeds_guidance()) {
      std::vector<float> scales;
      for (const auto* row : rows_)
        scales.push_back(row->how().guidance);
      in.guidance_embedding =
        embed_guidance(torch::tensor(scales).to(model.where().device),
                       *model.denoiser().config().time_cond_proj_dim)
          .to(model.where().dtype);
    }
  }

  const std::vector<torch_row*>& rows_;
  std::vector<int64_t> guided_;
};

// Returns [n, c, h, w] of what `of` gives for each row, zeros where it gives
// nothing; undefined where it gives nothing for any.
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

void step_group(const std::vector<torch_row*>& rows) {
  const c10::InferenceMode guard;
  std::vector<step_rule> rules;
  rules.reserve(rows.size());
  for (const auto* row : rows)
    rules.push_back(row->rule());
  const auto x = stacked(rows, [](auto& row) { return row.latent(); });
  const auto out = pass{rows}.predict(scale_input(x, rules));
  const auto last = stacked(rows, [](auto& row) { return row.last(); });
  const auto noise = stacked(rows, [](auto& row) {
    return row.rule().from_noise != 0 ? row.draw() : torch::Tensor{};
  });
  const auto made = step(x, out, last, noise, rules);
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
                       std::shared_ptr<ipc::slot_store> slots, uint32_t threads)
  : models_(std::move(models)),
    judges_(std::move(judges)),
    slots_(std::move(slots)),
    threads_(threads) {}

void torch_rows::begin() {
  // The setting is the calling thread's own.
  if (threads_ > 0)
    at::set_num_threads(static_cast<int>(threads_));
}

void torch_rows::open(const open_job& job) {
  auto [at, fresh] = rows_.try_emplace(job.who);
  if (fresh)
    at->second = std::make_unique<torch_row>(
      job, models_->find(job.how.variant), *slots_, prompts_);
  else
    at->second->fail(core::fail(core::ec::internal,
                                "request {}, attempt {}: opened twice",
                                job.who.id.value, job.who.attempt));
}

void torch_rows::close(core::ticket who) {
  rows_.erase(who);
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
  for (const auto& group : groups_of(sound(who))) {
    auto done = with_model_border("a step", [&] {
      step_group(group);
      return true;
    });
    if (!done)
      for (auto* row : group)
        row->fail(done.why());
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
  out.who = who;
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
      core::log_error("there is no judge '{}' on this device", asked);
      out.score = planning::unjudged;
    }
  } else
    out.failure = made->why();
  return out;
}

} // namespace atelier::gpu::detail
