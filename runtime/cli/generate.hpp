// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// Adds `generate` and its options to `app` and reads them into `into`. The
/// prompts are not an option: they are the remaining arguments.
CLI::App* add_generate(CLI::App& app, generate_arguments& into);

/// Adds `edit` in the same way. Its first remaining argument is IMAGE.
CLI::App* add_edit(CLI::App& app, generate_arguments& into);

/// Makes images from prompts, and optionally from an image.
exit_status generate(const generate_arguments& arguments,
                     const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
