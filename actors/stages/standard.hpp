// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/planning/pipeline.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::actors {

/// A stage of a host program, and the name of the stage after which it is put;
/// empty: at the end.
struct added_stage {
  planning::stage_ptr stage;
  std::string after;
};

/// The parameters of the standard stages.
struct standard_stages {
  /// Bounds on the files of requests.
  image::decode_limits sources = {};
  core::timespan longest_decoding = core::limits{}.decode;
  /// A request with this seed kills the process that prepares, or encodes, it;
  /// 0: none.
  uint32_t test_crash_preparing = 0;
  uint32_t test_crash_finishing = 0;
  /// Stages that find facts before a route is chosen, in their order.
  std::vector<planning::stage_ptr> facts = {};
  /// Stages that provide earlier work in place of preparing, in each leg.
  std::vector<planning::stage_ptr> earlier = {};
  /// Stages that follow the answer.
  std::vector<planning::stage_ptr> afterwards = {};
};

/// Returns the stages of a request's path, in order: the facts, earlier work,
/// prepare, denoise, finish, what follows, and the host's among them.
/// Errors: those of pipeline::add.
core::result<std::shared_ptr<const planning::pipeline>> standard_pipeline(
  const standard_stages& from = {}, const std::vector<added_stage>& more = {});

} // namespace atelier::actors
