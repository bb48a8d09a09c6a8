// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/denoise.hpp>
#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/stages/standard.hpp>

#include <utility>

namespace atelier::actors {

core::result<std::shared_ptr<const planning::pipeline>> standard_pipeline(
  const standard_stages& from, const std::vector<added_stage>& more) {
  auto all = from.facts;
  all.insert(all.end(), from.earlier.begin(), from.earlier.end());
  all.push_back(planning::make_stage(prepare_stage{
    from.sources, from.longest_decoding, from.test_crash_preparing}));
  all.push_back(denoise_stage());
  all.push_back(planning::make_stage(finish_stage{from.test_crash_finishing}));
  all.insert(all.end(), from.afterwards.begin(), from.afterwards.end());
  auto out = std::make_shared<planning::pipeline>();
  for (auto& x : all)
    if (auto added = out->add(std::move(x)); !added)
      return added.why();
  for (const auto& x : more)
    if (auto added = out->add(x.stage, x.after); !added)
      return added.why();
  return std::shared_ptr<const planning::pipeline>{std::move(out)};
}

} // namespace atelier::actors
