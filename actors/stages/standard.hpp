// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/planning/pipeline.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::actors {

/// A stage of a host program, and the name of the stage after which it is put;
/// empty: at the end.
struct added_stage {
  planning::stage_ptr stage;
  std::string after;
};

/// The parts of the list of stages. A null part is left out. Servers and
/// simulations have different stages under the same name.
struct standard_stages {
  /// Bounds on the files of requests.
  image::decode_limits sources = {};
  core::timespan longest_decoding = core::limits{}.decode;
  /// A request with this seed kills the process that prepares, or encodes, it;
  /// 0: none.
  uint32_t test_crash_preparing = 0;
  uint32_t test_crash_finishing = 0;
  /// These find facts before a route is chosen.
  planning::stage_ptr classify = nullptr;
  planning::stage_ptr mask = nullptr;
  planning::stage_ptr search = nullptr;
  /// Provides earlier work in place of preparing, in each leg.
  planning::stage_ptr fetch = nullptr;
  /// Checks of the image before it is encoded, in their order. Stages that a
  /// host puts behind `denoise` run before these.
  std::vector<planning::stage_ptr> checks = {};
  /// Follows the answer.
  planning::stage_ptr remember = nullptr;
};

/// The names of all parts, in their order.
inline constexpr std::array<std::string_view, 8> standard_names{
  "classify", "mask",    "search", "fetch",
  "prepare",  "denoise", "finish", "remember"};

/// Checks that a profile measures only stages that exist: those of the list,
/// whether or not a server has them, and `more`.
/// Errors: ec::bad_config with the first name of another one.
core::result<void> check_stages(const planning::profile& costs,
                                const std::vector<added_stage>& more = {});

/// Returns the stages of a request's path, the host's among them. This is the
/// only list: it has the order for servers, simulations and tests.
/// Errors: those of pipeline::add.
core::result<std::shared_ptr<const planning::pipeline>> standard_pipeline(
  const standard_stages& parts = {}, const std::vector<added_stage>& more = {});

} // namespace atelier::actors
