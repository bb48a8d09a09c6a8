// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/profile.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/quick_build.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/measure.hpp>
#include <atelier/runtime/shipped_models.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

using core::result;

// With the one that is not timed, all that a consistency model has.
constexpr uint64_t most_steps = 49;
constexpr uint64_t most_batch = 1'024;

/// Returns the parts of a comma-separated list.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto comma = text.find(',');
    out.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos)
      return out;
    text.remove_prefix(comma + 1);
  }
}

result<measurement> plan(const profile_arguments& arguments,
                         const common_arguments& common) {
  auto overrides = read_common(common);
  if (!overrides)
    return overrides.why();
  const auto file = common.config.value_or("");
  auto loaded = config::load(file, *overrides);
  if (!loaded)
    return config::to_error(loaded.faults);
  // A named model needs none of the shipped ones.
  const auto known = with_shipped_models(loaded.values);
  if (!known && !arguments.model)
    return known.why();
  const auto chosen = read_model_option(
    {arguments.model, arguments.device, arguments.dtype, std::nullopt},
    known ? *known : loaded.values, data_folder(common));
  if (!chosen)
    return chosen.why();
  overrides->insert(overrides->end(), chosen->set.begin(), chosen->set.end());
  loaded = config::load(file, *overrides);
  if (!loaded)
    return config::to_error(loaded.faults);
  measurement out;
  auto settings = with_shipped_models(std::move(loaded.values));
  if (!settings)
    return settings.why();
  out.settings = std::move(*settings);
  // What was measured before has no say in what is measured now.
  out.settings.planner.profile.clear();
  if (arguments.batches) {
    out.batches.clear();
    for (const auto part : split(*arguments.batches)) {
      const auto x = parse_whole("--batch", part, 1, most_batch);
      if (!x)
        return x.why();
      out.batches.push_back(static_cast<uint32_t>(*x));
    }
  }
  if (arguments.sizes)
    for (const auto part : split(*arguments.sizes)) {
      const auto x = parse_size("--size", part, out.settings.limits);
      if (!x)
        return x.why();
      if (x->width > 0)
        out.sizes.push_back(*x);
    }
  if (arguments.steps) {
    const auto x = parse_whole("--steps", *arguments.steps, 1, most_steps);
    if (!x)
      return x.why();
    out.steps = static_cast<uint32_t>(*x);
  }
  return out;
}

void print_table(const planning::profile& x, std::ostream& to) {
  for (const auto& v : x.variants) {
    to << fmt::format("{}: loaded in {:.2f} s, {:.0f} MiB; text {:.1f} ms, "
                      "decoding {:.1f} ms\n",
                      v.name, core::to_seconds(v.load),
                      static_cast<double>(v.memory_bytes) / (1 << 20),
                      core::to_ms(v.text), core::to_ms(v.decode));
    for (const auto& p : v.step)
      to << fmt::format("  {:>9} pixels, batch {:>3}: {:>9.1f} ms a step, "
                        "{:>9.1f} ms a row\n",
                        p.px, p.batch, core::to_ms(p.took),
                        core::to_ms(p.took) / p.batch);
  }
  if (x.reuse && x.reuse->measured)
    print_reuse(*x.reuse, to);
}

} // namespace

CLI::App* add_profile(CLI::App& app, profile_arguments& into) {
  auto* sub =
    app.add_subcommand("profile", "Measure what a model costs on this machine");
  const text_options add{*sub};
  add("--model", into.model, "NAME|DIR|FILE",
      "Model (default: what the first device hosts)");
  add("--device", into.device, "D", "cpu, cuda or cuda:N (default: cpu)");
  add("--dtype", into.dtype, "T",
      "float32, float16 or bfloat16 (default: float32)");
  add("--batch", into.batches, "N,N,...", "Rows of a step (default: 1,2,4)");
  add("--size", into.sizes, "WxH,...",
      "Pixels (default: the model's own size, and half its sides)");
  add("--steps", into.steps, "N", "Timed steps of each point (default: 3)");
  add("-o,--output", into.output, "FILE",
      "Write the profile, for planner.profile");
  sub->add_flag("--force", into.force, "Replace a file that exists");
  add_profile_reuse(*sub, into.reuse);
  return sub;
}

exit_status profile(const profile_arguments& arguments,
                    const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto existing =
    arguments.force ? on_existing::replace : on_existing::refuse;
  if (arguments.output)
    if (auto ok = check_writable(*arguments.output, existing); !ok)
      return refuse(terminal, ok.why());
  const auto wanted = plan(arguments, common);
  if (!wanted)
    return refuse(terminal, wanted.why());
  const auto reuse =
    plan_profile_reuse(arguments.reuse, wanted->settings, terminal.in);
  if (!reuse)
    return refuse(terminal, reuse.why());
  note_quick_build(world);
  bool interrupted = false;
  std::vector<std::string> notes;
  const auto measured = [&]() -> result<planning::profile> {
    progress_line line{terminal};
    const auto show = [&](const std::string& work, size_t done, size_t all) {
      line.show(fmt::format("{}/{} {}", done, all, work));
      interrupted = interrupted || world.interrupted.count() > 0;
      return !interrupted;
    };
    auto out = measure(*wanted, show,
                       [&](const std::string& text) { notes.push_back(text); });
    if (!out || !*reuse)
      return out;
    auto starts = measure_reuse(**reuse, *out, show);
    if (!starts)
      return starts.why();
    out->reuse = std::move(*starts);
    return out;
  }();
  if (interrupted)
    return exit_status::interrupted;
  if (!measured)
    return refuse(terminal, measured.why());
  for (const auto& x : notes)
    terminal.complain(fmt::format("note: {}", x));
  const auto text = planning::to_json(*measured);
  if (arguments.output) {
    const std::span bytes{reinterpret_cast<const uint8_t*>(text.data()),
                          text.size()};
    if (auto ok = write_file(*arguments.output, bytes, existing); !ok)
      return refuse(terminal, ok.why());
  }
  if (common.json)
    terminal.out << nlohmann::ordered_json::parse(text).dump() << '\n';
  else
    print_table(*measured, terminal.out);
  return exit_status::done;
}

} // namespace atelier::runtime::cli
