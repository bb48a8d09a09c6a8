// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/nirvana/nirvana.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/training/program/reuse_study/study_engine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <variant>

namespace atelier::runtime::reuse_study {

namespace {

using namespace std::chrono_literals;
using core::ec;
using core::fail;
using core::result;

constexpr auto end_patience = 30s;
constexpr auto plan_patience = 60s;
constexpr auto look_every = 200ms;

/// The policy that fills the cache for all systems.
constexpr auto keeps_everything = "keep-everything";

/// Draws each request from noise, and keeps its states and its image.
class keeping_policy final : public planning::nirvana_policy {
public:
  keeping_policy() : nirvana_policy(rules()) {}

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    auto next = nirvana_policy::replan(asked, known, there, previous);
    for (auto& x : next.routes)
      x.store.image = x.store.image || x.store.latents;
    return next;
  }

private:
  static planning::nirvana_rules rules() {
    planning::nirvana_rules x;
    x.name = keeps_everything;
    x.predicts = planning::predicted_from::nothing;
    x.fresh = 1;
    return x;
  }
};

core::error to_error(const failure& x) {
  return fail(ec::unavailable, "{}: {}", x.code, x.text);
}

bool is_planned(const engine_status& x, const std::string& variant) {
  return std::ranges::any_of(x.routes, [&](const route_status& route) {
    return route.name == "scratch" && !route.stages.empty()
        && std::ranges::find(route.stages.front(), variant)
             != route.stages.front().end();
  });
}

} // namespace

study_engine::~study_engine() {
  if (engine_)
    static_cast<void>(engine_->stop(end_patience));
}

result<std::unique_ptr<study_engine>> study_engine::start(
  const engine_start& with) {
  const auto& setup = with.setup;
  const auto& system = with.system;
  std::unique_ptr<study_engine> out{new study_engine};
  engine_options options;
  options.config_file = with.plan.config_file;
  options.set = setup.set;
  auto& set = options.set;
  const auto text = [&](std::string_view key, std::string_view value) {
    set.push_back(fmt::format("{}={}", key, cli::toml_string(value)));
  };
  text("policy.name", with.keeps_everything ? keeps_everything : system.policy);
  text("planner.profile", with.profile.string());
  if (system.found == found_entries::none) {
    set.emplace_back("cache.memory_mib=0");
  } else {
    set.emplace_back("cache.memory_mib=256");
    text("cache.folder", with.cache.string());
    const bool by_image = system.found == found_entries::by_image;
    text("cache.compares", by_image ? "images" : "prompts");
    text("cache.encoder", by_image ? setup.scorer.string()
                          : system.encoder == compared_by::tower ? setup.tower
                                                                 : "");
  }
  if (with.keeps_everything)
    options.extend.policies = {std::make_shared<keeping_policy>()};
  options.extend.cache = [&](std::shared_ptr<index::kept_work> inner) {
    if (system.found == found_entries::any) {
      out->any_entry_ = std::make_shared<any_entry_cache>(
        std::move(inner), with.texts, with.plan.seed);
      out->cache_ = out->any_entry_;
    } else {
      out->cache_ = std::make_shared<study_cache>(std::move(inner));
    }
    return out->cache_;
  };
  auto started = engine::start(options);
  if (const auto* why = std::get_if<failure>(&started))
    return to_error(*why);
  out->engine_ = std::move(std::get<0>(started));
  // A policy's draws follow from a request's number, and a refused request
  // takes one: an engine that continues draws as one that was not stopped.
  generation refused;
  refused.width = refused.height = 7;
  for (uint64_t i = 0; i < with.answered; ++i)
    if (out->engine_->submit(refused))
      return fail(ec::internal, "an image of 7x7 pixels was accepted");
  // `small-model` runs the full variant until its own is hosted.
  if (system.name == "small-model") {
    const auto until = std::chrono::steady_clock::now() + plan_patience;
    while (!is_planned(out->engine_->status(), with.plan.small)) {
      if (std::chrono::steady_clock::now() > until)
        return fail(ec::unavailable, "{}: {} is not hosted after {} s",
                    system.name, with.plan.small, plan_patience.count());
      std::this_thread::sleep_for(look_every);
    }
  }
  return out;
}

result<generated_image> study_engine::draw(
  const generation& wanted, const std::function<bool()>& goes_on) {
  auto got = engine_->submit(wanted);
  if (const auto* why = std::get_if<failure>(&got))
    return to_error(*why);
  auto& accepted = std::get<submission>(got);
  while (accepted.result.wait_for(look_every) != std::future_status::ready)
    if (!goes_on()) {
      static_cast<void>(engine_->cancel(accepted.request));
      return fail(ec::cancelled, "interrupted");
    }
  auto answered = accepted.result.get();
  if (const auto* why = std::get_if<failure>(&answered))
    return to_error(*why);
  return std::move(std::get<generated_image>(answered));
}

uint64_t study_engine::entries() const {
  return cache_ ? cache_->counts().entries : 0;
}

} // namespace atelier::runtime::reuse_study
