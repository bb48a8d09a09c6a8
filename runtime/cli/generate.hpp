// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// Adds `generate` and its options to `app`; they are read into `into`, but for
/// the prompts, which are what remains.
CLI::App* add_generate(CLI::App& app, generate_arguments& into);

/// Likewise `edit`; the first of what remains is IMAGE.
CLI::App* add_edit(CLI::App& app, generate_arguments& into);

/// Makes pictures from prompts, and perhaps from a picture.
exit_status generate(const generate_arguments& arguments,
                     const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
