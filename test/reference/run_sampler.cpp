// SPDX-License-Identifier: Apache-2.0
// run_sampler INPUTS OUTPUTS
//   reads cases as lines of JSON: {"file": text of a scheduler_config.json,
//   "sampler", "steps", "strength", "eta", "karras", "from_clean", "row": the
//   first of its rows, "rows": their number}. INPUTS and OUTPUTS are
//   safetensors.
//   In: x, out, noise [rows, c, h, w]; clean, first_noise [cases, c, h, w].
//   Out: next, x0, scaled, kept and chained [rows, c, h, w], timestep [rows],
//   start [cases, c, h, w]. `next` is each step from the given x; `chained` are
//   the steps of a whole run from `start`. The steps i of all cases share one
//   batch. Writes a line for each case: the number of steps, or "error" and the
//   reason.
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/samplers/step.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

namespace {

struct sampler_case {
  sampler_plan plan;
  int64_t row = 0;
  int64_t number = 0;
};

core::result<sampler_plan> plan_of(const nlohmann::json& line) {
  const auto file = line.at("file").get<std::string>();
  const auto config = parse_scheduler(file, "case");
  if (!config)
    return config.why();
  sampler_choice choice;
  choice.sampler = *core::parse_sampler(line.at("sampler").get<std::string>());
  choice.steps = line.at("steps").get<uint32_t>();
  choice.strength = line.at("strength").get<float>();
  choice.eta = line.at("eta").get<float>();
  choice.karras = line.at("karras").get<bool>();
  choice.from_clean = line.at("from_clean").get<bool>();
  return plan_sampler(*config, choice);
}

std::vector<sampler_case> read_cases() {
  std::vector<sampler_case> out;
  std::string text;
  for (int64_t number = 0; std::getline(std::cin, text); ++number) {
    const auto line = nlohmann::json::parse(text);
    const auto plan = plan_of(line);
    if (!plan) {
      std::printf("error %s\n", plan.why().text.c_str());
      continue;
    }
    std::printf("%zu\n", plan->steps.size());
    if (static_cast<int64_t>(plan->steps.size()) == line.at("rows"))
      out.push_back({*plan, line.at("row").get<int64_t>(), number});
  }
  return out;
}

torch::Tensor read(const safetensors_file& file, std::string_view name) {
  const auto view = file.find(name);
  auto* data = const_cast<std::byte*>(view->bytes.data());
  return torch::from_blob(data, view->shape, torch::kFloat32);
}

named_tensor named(std::string name, const torch::Tensor& x) {
  const std::span values{x.const_data_ptr<float>(),
                         static_cast<size_t>(x.numel())};
  return {std::move(name),
          {tensor_type::float32, x.sizes().vec(), std::as_bytes(values)}};
}

/// The rows of one step index, of all cases that have it.
struct batch {
  std::vector<step_rule> rules;
  std::vector<int64_t> rows;
  std::vector<int64_t> cases;

  torch::Tensor rows_of(const torch::Tensor& all) const {
    return all.index_select(0, torch::tensor(rows));
  }

  torch::Tensor cases_of(const torch::Tensor& all) const {
    return all.index_select(0, torch::tensor(cases));
  }

  torch::Tensor column(float step_rule::*of) const {
    std::vector<float> out;
    for (const auto& x : rules)
      out.push_back(x.*of);
    return torch::tensor(out).view({-1, 1, 1, 1});
  }
};

batch batch_at(const std::vector<sampler_case>& all, size_t i) {
  batch out;
  for (const auto& x : all) {
    if (i >= x.plan.steps.size())
      continue;
    out.rules.push_back(x.plan.steps[i]);
    out.rows.push_back(x.row + static_cast<int64_t>(i));
    out.cases.push_back(x.number);
  }
  return out;
}

} // namespace

int main(int, char** argv) {
  const auto cases = read_cases();
  const auto in = *safetensors_file::open(argv[1]);
  const auto x = read(*in, "x");
  const auto out = read(*in, "out");
  const auto noise = read(*in, "noise");
  const auto clean = read(*in, "clean");
  const auto first = read(*in, "first_noise");
  auto next = torch::zeros_like(x);
  auto x0 = torch::zeros_like(x);
  auto scaled = torch::zeros_like(x);
  auto kept = torch::zeros_like(x);
  auto chained = torch::zeros_like(x);
  auto timestep = torch::zeros({x.size(0)});
  auto start = torch::zeros_like(clean);
  for (const auto& c : cases)
    start[c.number].copy_(clean[c.number] * c.plan.start_clean
                          + first[c.number] * c.plan.start_noise);
  // For each case, the part of the previous step that the next step needs.
  auto last = torch::zeros_like(clean);
  auto chain = start.clone();
  auto chain_last = torch::zeros_like(clean);
  for (size_t i = 0;; ++i) {
    const auto at = batch_at(cases, i);
    if (at.rules.empty())
      break;
    const auto rows = torch::tensor(at.rows);
    const auto numbers = torch::tensor(at.cases);
    const auto given = at.rows_of(x);
    const auto drawn = at.rows_of(noise);
    const auto said = at.rows_of(out);
    const auto done = step(given, said, at.cases_of(last), drawn, at.rules);
    next.index_copy_(0, rows, done.next);
    x0.index_copy_(0, rows, done.x0);
    last.index_copy_(0, numbers, done.x0);
    scaled.index_copy_(0, rows, scale_input(given, at.rules));
    kept.index_copy_(0, rows,
                     at.cases_of(clean) * at.column(&step_rule::keep_clean)
                       + at.cases_of(first)
                           * at.column(&step_rule::keep_noise));
    timestep.index_copy_(0, rows, at.column(&step_rule::timestep).flatten());
    const auto whole =
      step(at.cases_of(chain), said, at.cases_of(chain_last), drawn, at.rules);
    chain.index_copy_(0, numbers, whole.next);
    chain_last.index_copy_(0, numbers, whole.x0);
    chained.index_copy_(0, rows, whole.next);
  }
  const auto ok = write_safetensors(
    argv[2], {named("next", next), named("x0", x0), named("scaled", scaled),
              named("kept", kept), named("chained", chained),
              named("timestep", timestep), named("start", start)});
  if (!ok)
    std::fprintf(stderr, "%s\n", ok.why().text.c_str());
  return ok ? 0 : 1;
}
