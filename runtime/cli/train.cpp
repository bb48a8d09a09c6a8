// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/cli/train.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace atelier::runtime::cli {

CLI::App* add_train(CLI::App& app, train_arguments& into) {
  auto* sub = app.add_subcommand(
    "train", "Train the networks of the shipped family from drawn scenes");
  const text_options add{*sub};
  add("--minutes", into.minutes, "M",
      "Training time in minutes, shared by all networks with 'all' (default: "
      "30); setup and evaluation add one or two");
  add("--steps", into.steps, "N", "Number of steps, instead of a time");
  sub->add_flag("--resume", into.resume,
                "Continue at the last checkpoint, if there is one");
  sub->add_flag("--force", into.force,
                "Start again and discard the checkpoints; replace models");
  add("--seed", into.seed, "N", "Seed of data, noise and weights (default: 1)");
  add("--device", into.device, "D", "cpu, cuda or cuda:N (default: cpu)");
  add("--threads", into.threads, "N", "Threads of one operator on the CPU");
  add("--data-threads", into.data_threads, "N",
      "Threads that draw data ahead (default: 1)");
  add("--dir", into.folder, "DIR",
      fmt::format("A folder with one for each network (default: {})",
                  default_training_folder));
  add("-o,--output", into.output, "DIR",
      "Write the trained networks as models ('export' and 'all')");
  add("--models", into.models, "DIR",
      "Models for 'import' (default: the shipped ones)");
  add("--checkpoint", into.checkpoint, "M",
      "Minutes between checkpoints (default: 5)");
  add("--evaluate", into.evaluate, "M",
      "Minutes between measurements (default: 5)");
  return sub;
}

} // namespace atelier::runtime::cli
