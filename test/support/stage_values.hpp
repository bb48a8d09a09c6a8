// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/prepare.hpp>

namespace atelier::test {

/// Calls f with a value of every stage's order and outcome.
template <class F>
void each_stage_value(F f) {
  core::recipe how;
  how.px = {48, 32};
  how.steps = 7;
  how.guidance = 2.5f;
  how.seed = 11;
  f(actors::prepare_stage::work{how, {4, 8, 8}, {64, 64}, {48, 32}});
  f(actors::prepare_stage::done{});
  f(actors::finish_stage::work{
    how,
    {"a red ball", "blur"},
    "card",
    "card@4",
    {core::image_format::jpeg, 90},
    {96, 64},
    {{core::note_code::prompt_cut, "the prompt was cut"}}});
  f(actors::finish_stage::done{17, "sum"});
}

} // namespace atelier::test
