// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/stages/standard.hpp>

#include <utility>

namespace atelier::actors {

namespace {

std::shared_ptr<const planning::pipeline> pipeline_of(
  const scheduler_config& x) {
  return x.stages ? x.stages : *standard_pipeline();
}

} // namespace

parts::parts(scheduler_config from, scheduler_ports to)
  : config(std::move(from)),
    ports(std::move(to)),
    path(pipeline_of(config)),
    slots(config.arena, config.slots, ports.slots),
    records(config.profile->variants.size(), ports.drawing),
    rules(config.policy, config.initial_plan, path.stages(), config.seed),
    requests(config.limits),
    queues(config.pace.ageing),
    hosting(config.profile, config.join),
    forecast(config.profile),
    views(workers, orders, queues, requests, forecast),
    shares(slots, requests, orders, workers, suspicions),
    matching({path, rules, requests, orders, workers, queues, suspicions,
              hosting, shares, forecast, views},
             *config.profile) {}

} // namespace atelier::actors
