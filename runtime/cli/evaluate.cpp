// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/evaluation/evaluation_report.hpp>
#include <atelier/image/codec.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/evaluate.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/evaluate.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <span>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr uint64_t most_steps = 1'000;
constexpr uint64_t most_captions = 100'000;
constexpr uint64_t most_batch = 1'024;
constexpr uint64_t most_threads = 1'024;
constexpr float most_guidance = 50;

// A log that is no terminal gets a line this often.
constexpr std::chrono::seconds line_every{30};

constexpr auto default_models = "models";
constexpr auto default_variants = "base@50,base@20,base@8,small@50,tiny@50,"
                                  "turbo@4";

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

result<gpu::evaluated_variant> read_variant(std::string_view text) {
  const auto at = text.rfind('@');
  const auto name = text.substr(0, at);
  if (at == std::string_view::npos || name.empty() || name == "."
      || name == ".." || name.find('/') != std::string_view::npos)
    return fail(ec::invalid_argument,
                "--variants: {} is not MODEL@STEPS, such as base@50",
                show_value(text));
  const auto steps =
    parse_whole("--variants", text.substr(at + 1), 1, most_steps);
  if (!steps)
    return steps.why();
  return gpu::evaluated_variant{std::string{name},
                                static_cast<uint32_t>(*steps)};
}

result<gpu::evaluation_plan> plan(const evaluate_arguments& arguments) {
  gpu::evaluation_plan out;
  out.models = arguments.models.value_or(default_models);
  const auto variants = arguments.variants.value_or(default_variants);
  for (const auto part : split(variants)) {
    auto x = read_variant(part);
    if (!x)
      return x.why();
    out.variants.push_back(std::move(*x));
  }
  if (arguments.guidances) {
    out.guidances.clear();
    for (const auto part : split(*arguments.guidances)) {
      const auto x = parse_decimal("--guidance", part, most_guidance);
      if (!x)
        return x.why();
      out.guidances.push_back(*x);
    }
  }
  if (arguments.samplers) {
    out.samplers.clear();
    for (const auto part : split(*arguments.samplers)) {
      if (auto ok = check_choice("--sampler", part); !ok)
        return ok.why();
      out.samplers.push_back(*core::parse_sampler(part));
    }
  }

  struct whole {
    const char* name;
    const std::optional<std::string>& text;
    uint64_t least;
    uint64_t most;
    uint32_t& into;
  };

  for (const auto& x :
       {whole{"--captions", arguments.captions, 1, most_captions, out.captions},
        whole{"--starts", arguments.starts, 0, most_captions, out.starts},
        whole{"--batch", arguments.batch, 1, most_batch, out.batch},
        whole{"--threads", arguments.threads, 1, most_threads, out.threads}}) {
    if (!x.text)
      continue;
    const auto number = parse_whole(x.name, *x.text, x.least, x.most);
    if (!number)
      return number.why();
    x.into = static_cast<uint32_t>(*number);
  }
  if (arguments.seed) {
    const auto seed = parse_whole("--seed", *arguments.seed, 0, UINT64_MAX);
    if (!seed)
      return seed.why();
    out.seed = *seed;
  }
  out.device = arguments.device.value_or(out.device);
  return out;
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

result<void> write_report(const gpu::evaluation& x,
                          const std::filesystem::path& folder,
                          on_existing existing) {
  const auto write = [&](const std::string& name, const std::string& text) {
    return write_file(folder / name, bytes_of(text), existing);
  };
  if (auto ok = write("evaluation.json", to_json(x)); !ok)
    return ok;
  if (auto ok =
        write("profile.json", planning::to_json(gpu::measured_profile(x)));
      !ok)
    return ok;
  if (auto ok = write("report.html", to_html(x)); !ok)
    return ok;
  for (const auto& sheet : x.sheets) {
    const auto file = image::encode(sheet.picture.view(), {});
    if (!file)
      return file.why();
    if (auto ok = write_file(
          folder / (sheet.name + ".png"),
          {reinterpret_cast<const uint8_t*>(file->data()), file->size()},
          existing);
        !ok)
      return ok;
  }
  return {};
}

} // namespace

CLI::App* add_evaluate(CLI::App& app, evaluate_arguments& into) {
  auto* sub = app.add_subcommand(
    "evaluate", "Measure what models of the shipped family draw");
  const auto add = [sub](const std::string& names,
                         std::optional<std::string>& value,
                         const std::string& kind, const std::string& text) {
    add_text_option(*sub, names, value, text)->type_name(kind);
  };
  add("--models", into.models, "DIR",
      fmt::format("A folder with one for each model, and the scorer (default: "
                  "{})",
                  default_models));
  add("--variants", into.variants, "MODEL@STEPS,...",
      fmt::format("What is measured (default: {})", default_variants));
  add("--captions,--prompts", into.captions, "N",
      "Captions of each difficulty: one, two and three objects (default: 100)");
  add("--guidance", into.guidances, "G,...",
      "How strongly the prompt counts (default: 3; turbo: always 1)");
  add("--sampler", into.samplers, "NAME,...", "Samplers (default: ddim)");
  add("--starts", into.starts, "N",
      "Captions that start from others' latents and images; 0: none (default: "
      "24)");
  add("--batch", into.batch, "N", "Pictures drawn together (default: 8)");
  add("--seed", into.seed, "N", "Of captions and noise (default: 1)");
  add("--device", into.device, "D", "cpu, cuda or cuda:N (default: cpu)");
  add("--threads", into.threads, "N", "Threads of one operator on the CPU");
  add("-o,--output", into.output, "DIR",
      "Write evaluation.json, profile.json, report.html and contact sheets");
  sub->add_flag("--force", into.force, "Replace files that exist");
  return sub;
}

exit_status evaluate(const evaluate_arguments& arguments,
                     const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto refuse = [&](const core::error& why) {
    terminal.complain(why.text);
    return status_of(core::to_string(why.code));
  };
  const auto existing =
    arguments.force ? on_existing::replace : on_existing::refuse;
  const auto wanted = plan(arguments);
  if (!wanted)
    return refuse(wanted.why());
  if (arguments.output)
    for (const auto* name : {"evaluation.json", "profile.json", "report.html"})
      if (auto ok = check_writable(
            std::filesystem::path{*arguments.output} / name, existing);
          !ok)
        return refuse(ok.why());
  bool interrupted = false;
  auto told_at = std::chrono::steady_clock::now() - line_every;
  const auto found = runtime::evaluate(
    *wanted, [&](const std::string& what, size_t done, size_t of) {
      const auto now = std::chrono::steady_clock::now();
      const auto line = fmt::format("{}/{} {}", done, of, what);
      if (terminal.columns > 0)
        terminal.err << "\r\033[K" << line.substr(0, terminal.columns - 1)
                     << std::flush;
      else if (now - told_at >= line_every) {
        terminal.err << line << std::endl;
        told_at = now;
      }
      interrupted = world.interrupted.count() > 0;
      return !interrupted;
    });
  if (terminal.columns > 0)
    terminal.err << "\r\033[K" << std::flush;
  if (interrupted)
    return exit_status::interrupted;
  if (!found)
    return refuse(found.why());
  if (arguments.output)
    if (auto ok = write_report(*found, *arguments.output, existing); !ok)
      return refuse(ok.why());
  if (common.json)
    terminal.out << nlohmann::ordered_json::parse(to_json(*found)).dump()
                 << '\n';
  else
    terminal.out << to_text(*found);
  return exit_status::done;
}

} // namespace atelier::runtime::cli
