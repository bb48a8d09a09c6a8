// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/train.hpp>

namespace atelier::runtime::cli {

/// Trains one network of the shipped family, or all in sequence, or continues
/// an interrupted training. Also exports trained networks as models, and
/// imports models to begin with. SIGINT and SIGTERM leave a checkpoint.
exit_status train(const train_arguments& arguments,
                  const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
