// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/progress_bar.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/cli/train.hpp>
#include <atelier/runtime/train.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr float most_minutes = 100'000;
constexpr uint64_t most_steps = 1'000'000'000;
constexpr uint64_t most_threads = 1'024;

// A log that is no terminal gets a line this often.
constexpr std::chrono::seconds line_every{30};

constexpr auto default_folder = "build/training";

result<gpu::training_part> read_part(const std::vector<std::string>& words) {
  const auto known = choices_of("train");
  if (words.size() != 1)
    return fail(ec::invalid_argument, "PART: {} words given, 1 is needed: {}",
                words.size(), list_choices(known));
  for (size_t i = 0; i < gpu::training_part_count; ++i) {
    const auto part = static_cast<gpu::training_part>(i);
    if (words.front() == gpu::to_string(part))
      return part;
  }
  return fail(ec::invalid_argument, "PART: {} is none that can be trained: {}",
              show_value(words.front()), list_choices(known));
}

// A time above 0 that is left out keeps its default.
result<void> read_minutes(std::string_view name,
                          const std::optional<std::string>& text,
                          double& into) {
  if (!text)
    return {};
  const auto x = parse_decimal(name, *text, most_minutes);
  if (!x)
    return x.why();
  if (*x <= 0)
    return fail(ec::invalid_argument, "{}: {} is not above 0", name,
                show_value(*text));
  into = *x;
  return {};
}

result<void> read_whole(std::string_view name,
                        const std::optional<std::string>& text, uint64_t least,
                        uint64_t most,
                        const std::function<void(uint64_t)>& to) {
  if (!text)
    return {};
  const auto x = parse_whole(name, *text, least, most);
  if (!x)
    return x.why();
  to(*x);
  return {};
}

result<gpu::training_config> plan(const train_arguments& arguments) {
  gpu::training_config out;
  const auto part = read_part(arguments.words);
  if (!part)
    return part.why();
  out.part = *part;
  out.folder = arguments.folder.value_or(default_folder);
  if (out.folder.empty())
    return fail(ec::invalid_argument, "--dir: '' names no folder");
  if (arguments.minutes && arguments.steps)
    return fail(ec::invalid_argument,
                "--minutes and --steps are both given: one of them ends it");
  if (arguments.resume && arguments.force)
    return fail(ec::invalid_argument,
                "--resume and --force are both given: one continues, the other "
                "begins anew");
  out.resume = arguments.resume;
  out.restart = arguments.force;
  out.device = arguments.device.value_or(out.device);
  for (const auto& ok :
       {read_minutes("--minutes", arguments.minutes, out.minutes),
        read_minutes("--checkpoint", arguments.checkpoint,
                     out.checkpoint_minutes),
        read_minutes("--evaluate", arguments.evaluate, out.evaluate_minutes),
        read_whole("--steps", arguments.steps, 1, most_steps,
                   [&](uint64_t x) { out.steps = x; }),
        read_whole("--seed", arguments.seed, 0, UINT64_MAX,
                   [&](uint64_t x) { out.seed = x; }),
        read_whole("--threads", arguments.threads, 1, most_threads,
                   [&](uint64_t x) { out.threads = static_cast<uint32_t>(x); }),
        read_whole(
          "--data-threads", arguments.data_threads, 0, most_threads,
          [&](uint64_t x) { out.data_threads = static_cast<uint32_t>(x); })})
    if (!ok)
      return ok.why();
  return out;
}

std::string show_figures(const std::map<std::string, double>& figures) {
  std::string out;
  for (const auto& [name, x] : figures)
    out += fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", name, x);
  return out;
}

std::string show_progress(std::string_view part,
                          const gpu::training_progress& at) {
  const auto left = at.share > 0 ? at.busy_seconds * (1 / at.share - 1) : 0.0;
  return fmt::format("{} {:3.0f} %, step {}, loss {:.4f}, {:.1f} samples/s, {} "
                     "done, {} left",
                     part, std::floor(100 * at.share), at.step, at.loss,
                     at.samples_per_second, show_duration(at.busy_seconds),
                     show_duration(left));
}

} // namespace

CLI::App* add_train(CLI::App& app, train_arguments& into) {
  auto* sub = app.add_subcommand(
    "train", "Train a network of the shipped family from drawn scenes");
  const auto add = [sub](const std::string& names,
                         std::optional<std::string>& value,
                         const std::string& kind, const std::string& text) {
    add_text_option(*sub, names, value, text)->type_name(kind);
  };
  add("--minutes", into.minutes, "M",
      "Time spent in steps, all runs together (default: 30)");
  add("--steps", into.steps, "N", "End after so many steps instead");
  sub->add_flag("--resume", into.resume,
                "Continue at the last checkpoint, if there is one");
  sub->add_flag("--force", into.force, "Begin anew and lose the checkpoints");
  add("--seed", into.seed, "N", "Of data, noise and weights (default: 1)");
  add("--device", into.device, "D", "cpu, cuda or cuda:N (default: cpu)");
  add("--threads", into.threads, "N", "Threads of one operator on the CPU");
  add("--data-threads", into.data_threads, "N",
      "Threads that draw data ahead (default: 1)");
  add("--dir", into.folder, "DIR",
      fmt::format("A folder with one for each network (default: {})",
                  default_folder));
  add("--checkpoint", into.checkpoint, "M",
      "Minutes between checkpoints (default: 5)");
  add("--evaluate", into.evaluate, "M",
      "Minutes between measurements (default: 5)");
  return sub;
}

exit_status train(const train_arguments& arguments,
                  const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto refuse = [&](const core::error& why) {
    terminal.complain(why.text);
    return status_of(core::to_string(why.code));
  };
  const auto wanted = plan(arguments);
  if (!wanted)
    return refuse(wanted.why());
  const auto part = gpu::to_string(wanted->part);
  auto told_at = std::chrono::steady_clock::now() - line_every;
  const auto done =
    runtime::train(*wanted, [&](const gpu::training_progress& at,
                                const std::map<std::string, double>& figures) {
      const auto now = std::chrono::steady_clock::now();
      const auto live = terminal.columns > 0;
      const auto line = show_progress(part, at).substr(
        0, live ? terminal.columns - 1 : std::string::npos);
      if (!figures.empty())
        terminal.err << (live ? "\r\033[K" : "")
                     << fmt::format("{} step {}: {}", part, at.step,
                                    show_figures(figures))
                     << std::endl;
      if (live)
        terminal.err << "\r\033[K" << line << std::flush;
      else if (now - told_at >= line_every) {
        terminal.err << line << std::endl;
        told_at = now;
      }
      return world.interrupted.count() == 0;
    });
  if (terminal.columns > 0)
    terminal.err << "\r\033[K" << std::flush;
  if (!done)
    return refuse(done.why());
  if (common.json) {
    nlohmann::ordered_json line{{"part", part},
                                {"finished", done->finished},
                                {"file", done->file.string()},
                                {"steps", done->last.step},
                                {"samples", done->last.samples},
                                {"busy_seconds", done->last.busy_seconds},
                                {"figures", done->figures}};
    terminal.out << line.dump() << '\n';
  } else
    terminal.out << done->file.string() << '\n';
  return done->finished ? exit_status::done : exit_status::interrupted;
}

} // namespace atelier::runtime::cli
