// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/warm_run.hpp>

namespace atelier::runtime::cli {

warm_run::warm_run(const std::vector<warm_request>& list, const draw_pace& pace,
                   service& draws, interruption& interrupted,
                   const console& terminal)
  : grace_(pace.grace),
    service_(draws),
    interrupted_(interrupted),
    routes_(list.size()),
    list_(
      {list.size(), [&list](uint64_t i) { return list[i].wanted; },
       [&list](uint64_t i) {
         return fmt::format("{}: {}", list[i].place,
                            show_value(list[i].wanted.prompt));
       },
       [this](uint64_t i, const generated_image& x) { routes_[i] = x.route; },
       [](const generated_image& x) {
         generated_image drawn;
         drawn.route = x.route;
         return drawn;
       }},
      pace, draws, interrupted, terminal) {}

exit_status warm_run::run() {
  const auto status = list_.run();
  if (interrupted_.count() <= 1)
    service_.settle(grace_);
  return status;
}

} // namespace atelier::runtime::cli
