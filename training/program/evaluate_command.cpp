// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/program_folder.hpp>
#include <atelier/training/evaluation/evaluation_report.hpp>
#include <atelier/training/evaluation/run_names.hpp>
#include <atelier/training/program/built_in_evaluate.hpp>
#include <atelier/training/program/evaluate_command.hpp>
#include <atelier/training/program/evaluate_reuse_command.hpp>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

constexpr auto evaluation_file = "evaluation.json";
constexpr auto profile_file = "profile.json";
constexpr auto page_file = "report.html";

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

std::filesystem::path default_models() {
  const auto beside = models_folder();
  return beside.empty() ? std::filesystem::path{"models"} : beside;
}

std::string variants_in(const std::filesystem::path& models) {
  std::string all;
  for (const auto part : split(default_evaluated_variants)) {
    std::error_code error;
    if (!std::filesystem::exists(models / part.substr(0, part.find('@')),
                                 error))
      continue;
    all += (all.empty() ? "" : ",") + std::string{part};
  }
  return all.empty() ? default_evaluated_variants : all;
}

/// Checks that the folder contains the model, if the folder exists.
result<void> check_there(const gpu::evaluated_variant& x,
                         const std::filesystem::path& models) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(models, error) || fs::exists(models / x.model, error))
    return {};
  std::vector<std::string> there;
  for (fs::directory_iterator i{models, error}, end; !error && i != end;
       i.increment(error)) {
    std::error_code ignored;
    if (fs::exists(i->path() / "model_index.json", ignored))
      there.push_back(i->path().filename().string());
  }
  std::sort(there.begin(), there.end());
  return fail(ec::not_found, "--variants: {} is no model of {}; there are {}",
              show_value(x.model), models.string(), fmt::join(there, ", "));
}

result<gpu::evaluation_plan> plan(const evaluate_arguments& arguments) {
  gpu::evaluation_plan out;
  out.models = arguments.models ? std::filesystem::path{*arguments.models}
                                : default_models();
  const auto variants = arguments.variants.value_or(variants_in(out.models));
  for (const auto part : split(variants)) {
    auto x = read_variant(part);
    if (!x)
      return x.why();
    if (auto ok = check_there(*x, out.models); !ok)
      return ok.why();
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

std::string sheet_file(const std::string& run) {
  return run + ".png";
}

// Returns the names of all files that a report consists of.
result<std::vector<std::string>> report_files(const gpu::evaluation_plan& of) {
  std::vector<std::string> out{evaluation_file, profile_file, page_file};
  for (const auto& name : gpu::run_names(of)) {
    if (std::ranges::find(out, sheet_file(name)) != out.end())
      return fail(ec::invalid_argument,
                  "{} would be measured twice: --variants, --guidance and "
                  "--sampler name each once",
                  name);
    out.push_back(sheet_file(name));
  }
  return out;
}

// Checks before hours of work that the results can be written.
result<void> check_report(const gpu::evaluation_plan& of,
                          const std::filesystem::path& folder,
                          on_existing existing) {
  const auto files = report_files(of);
  if (!files)
    return files.why();
  for (const auto& x : *files)
    if (auto ok = check_free(folder / x, existing); !ok)
      return ok;
  return check_writable(folder / files->front(), existing);
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
  if (auto ok = write(evaluation_file, to_json(x)); !ok)
    return ok;
  if (auto ok =
        write(profile_file, planning::to_json(gpu::measured_profile(x)));
      !ok)
    return ok;
  if (auto ok = write(page_file, to_html(x)); !ok)
    return ok;
  for (const auto& sheet : x.sheets) {
    const auto file = image::encode(sheet.image.view(), {});
    if (!file)
      return file.why();
    if (auto ok = write_file(
          folder / sheet_file(sheet.name),
          {reinterpret_cast<const uint8_t*>(file->data()), file->size()},
          existing);
        !ok)
      return ok;
  }
  return {};
}

} // namespace

exit_status evaluate(const evaluate_arguments& arguments,
                     const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  if (auto ok = check_reuse_options(arguments); !ok)
    return refuse(terminal, ok.why());
  if (arguments.reuse.cache)
    return evaluate_reuse(arguments, common, world);
  const auto existing =
    arguments.force ? on_existing::replace : on_existing::refuse;
  const auto wanted = plan(arguments);
  if (!wanted)
    return refuse(terminal, wanted.why());
  if (arguments.output)
    if (auto ok = check_report(*wanted, *arguments.output, existing); !ok)
      return refuse(terminal, ok.why());
  bool interrupted = false;
  const auto found = [&] {
    progress_line line{terminal};
    return runtime::evaluate(
      *wanted, [&](const std::string& what, size_t done, size_t of) {
        line.show(fmt::format("{}/{} {}", done, of, what));
        interrupted = world.interrupted.count() > 0;
        return !interrupted;
      });
  }();
  if (interrupted)
    return exit_status::interrupted;
  if (!found)
    return refuse(terminal, found.why());
  if (arguments.output)
    if (auto ok = write_report(*found, *arguments.output, existing); !ok)
      return refuse(terminal, ok.why());
  if (common.json)
    terminal.out << nlohmann::ordered_json::parse(to_json(*found)).dump()
                 << '\n';
  else
    terminal.out << to_text(*found);
  return exit_status::done;
}

} // namespace atelier::runtime::cli
