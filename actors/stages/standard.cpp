// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/denoise.hpp>
#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/stages/standard.hpp>

#include <utility>

namespace atelier::actors {

core::result<void> check_stages(const planning::profile& costs,
                                const std::vector<added_stage>& more) {
  std::vector<std::string_view> names(standard_names.begin(),
                                      standard_names.end());
  for (const auto& x : more)
    names.push_back(x.stage->row().name);
  return planning::check_stages(costs, names);
}

core::result<std::shared_ptr<const planning::pipeline>> standard_pipeline(
  const standard_stages& parts, const std::vector<added_stage>& more) {
  std::vector all{
    parts.classify,
    parts.mask,
    parts.search,
    parts.fetch,
    planning::make_stage(prepare_stage{parts.sources, parts.longest_decoding,
                                       parts.test_crash_preparing}),
    denoise_stage(),
  };
  all.insert(all.end(), parts.checks.begin(), parts.checks.end());
  all.push_back(planning::make_stage(finish_stage{parts.test_crash_finishing}));
  all.push_back(parts.remember);
  auto out = std::make_shared<planning::pipeline>();
  for (auto& x : all)
    if (x != nullptr)
      if (auto added = out->add(std::move(x)); !added)
        return added.why();
  for (const auto& x : more)
    if (auto added = out->add(x.stage, x.after); !added)
      return added.why();
  return std::shared_ptr<const planning::pipeline>{std::move(out)};
}

} // namespace atelier::actors
