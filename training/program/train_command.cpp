// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/progress_bar.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/program_folder.hpp>
#include <atelier/training/export_run.hpp>
#include <atelier/training/import_run.hpp>
#include <atelier/training/program/built_in_train.hpp>
#include <atelier/training/program/train_command.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr float most_minutes = 100'000;
constexpr uint64_t most_steps = 1'000'000'000;
constexpr uint64_t most_threads = 1'024;

// Each network's share of the time of `all`, by how long it took to become
// useful.
constexpr std::array<double, gpu::training_part_count> shares_of_all{
  0.11, 0.02, 0.42, 0.14, 0.08, 0.1, 0.07, 0.02, 0.02, 0.02};

// The steps of a command, in this order.
struct train_work {
  bool begins_with_models = false;
  std::vector<gpu::training_part> parts;
  bool writes = false;
};

result<train_work> read_work(const std::vector<std::string>& words,
                             bool has_output, bool has_models) {
  const auto known = choices_of("train");
  if (words.size() != 1)
    return fail(ec::invalid_argument, "PART{}: {}",
                words.empty()
                  ? std::string{" is missing"}
                  : fmt::format(": {} words given, 1 is allowed", words.size()),
                list_choices(known));
  const auto& word = words.front();
  train_work out;
  for (size_t i = 0; i < gpu::training_part_count; ++i) {
    const auto part = static_cast<gpu::training_part>(i);
    if (word == "all" || word == gpu::to_string(part))
      out.parts.push_back(part);
  }
  out.begins_with_models = word == "import";
  if (has_models && !out.begins_with_models)
    return fail(ec::invalid_argument,
                "--models: {} does not begin with models; 'import' does", word);
  if (out.parts.empty() && word != "export" && word != "import")
    return fail(ec::invalid_argument, "PART: {} is not one of {}",
                show_value(word), list_choices(known));
  out.writes = word == "export" || (word == "all" && has_output);
  if (has_output && !out.writes)
    return fail(ec::invalid_argument,
                "--output: {} writes no models; 'export' and 'all' do", word);
  if (word == "export" && !has_output)
    return fail(ec::invalid_argument,
                "--output is missing: the folder that gets one for each model");
  return out;
}

// Reads a time above 0. A time that is not given keeps its default.
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
  out.folder = arguments.folder.value_or(default_training_folder);
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

// Returns the figures that fit into two lines of a terminal, or all figures for
// a log, which has 0 columns.
std::string show_figures(const std::map<std::string, double>& figures,
                         uint32_t columns) {
  std::string out;
  size_t shown = 0;
  for (const auto& [name, x] : figures) {
    const auto next =
      fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", name, x);
    if (columns > 0 && shown > 0 && out.size() + next.size() > 2 * columns - 40)
      break;
    out += next;
    ++shown;
  }
  if (shown < figures.size())
    out += fmt::format(", and {} more in a log", figures.size() - shown);
  return out;
}

// Adds the alternative if a required network was not trained here.
core::error with_advice(core::error why) {
  if (why.code == ec::not_found && why.text.ends_with(" first"))
    why.text += ", or 'atelier train import', which begins with the shipped "
                "models";
  return why;
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

// Imports the models of --models, or the shipped models by default.
result<void> begin_with_models(const train_arguments& arguments,
                               const std::filesystem::path& run, bool json,
                               const console& terminal) {
  const auto from = arguments.models ? std::filesystem::path{*arguments.models}
                                     : models_folder();
  if (from.empty())
    return fail(ec::not_found, "--models is missing: none came along");
  const auto there = gpu::import_run({from, run});
  if (!there)
    return there.why();
  for (const auto& x : *there)
    terminal.out << (json ? nlohmann::ordered_json{{"part", x}}.dump() : x)
                 << '\n';
  return {};
}

result<exit_status> train_part(const gpu::training_config& wanted, bool json,
                               environment& world) {
  const auto& terminal = world.terminal;
  const auto part = gpu::to_string(wanted.part);
  const auto done = [&] {
    progress_line line{terminal};
    return runtime::train(
      wanted, [&](const gpu::training_progress& at,
                  const std::map<std::string, double>& figures) {
        if (!figures.empty())
          line.keep(fmt::format("{} step {}: {}", part, at.step,
                                show_figures(figures, terminal.columns)));
        line.show(show_progress(part, at));
        return world.interrupted.count() == 0;
      });
  }();
  if (!done)
    return done.why();
  if (json) {
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

} // namespace

exit_status train(const train_arguments& arguments,
                  const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto work = read_work(arguments.words, arguments.output.has_value(),
                              arguments.models.has_value());
  if (!work)
    return refuse(terminal, work.why());
  auto wanted = plan(arguments);
  if (!wanted)
    return refuse(terminal, wanted.why());
  if (work->begins_with_models) {
    const auto ok =
      begin_with_models(arguments, wanted->folder, common.json, terminal);
    return ok ? exit_status::done : refuse(terminal, ok.why());
  }
  const auto minutes = wanted->minutes;
  for (const auto part : work->parts) {
    wanted->part = part;
    if (work->parts.size() > 1)
      wanted->minutes = minutes * shares_of_all[static_cast<size_t>(part)];
    const auto done = train_part(*wanted, common.json, world);
    if (!done)
      return refuse(terminal, with_advice(done.why()));
    if (*done != exit_status::done)
      return *done;
  }
  if (!work->writes)
    return exit_status::done;
  const auto written =
    gpu::export_run({wanted->folder, *arguments.output, arguments.force});
  if (!written)
    return refuse(terminal, with_advice(written.why()));
  uint64_t all = 0;
  for (const auto& x : *written) {
    all += x.bytes;
    if (common.json)
      terminal.out
        << nlohmann::ordered_json{{"model", x.name}, {"bytes", x.bytes}}.dump()
        << '\n';
    else
      terminal.out << fmt::format("{:<14} {:6.1f} MB\n", x.name,
                                  static_cast<double>(x.bytes) / 1e6);
  }
  if (!common.json)
    terminal.out << fmt::format("{:<14} {:6.1f} MB\n", "together",
                                static_cast<double>(all) / 1e6);
  return exit_status::done;
}

} // namespace atelier::runtime::cli
