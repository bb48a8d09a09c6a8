// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_import.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/model_report.hpp>
#include <atelier/runtime/cli/model_store.hpp>
#include <atelier/runtime/cli/models.hpp>
#include <atelier/runtime/cli/nearest.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/cli/transfer_bar.hpp>
#include <atelier/runtime/program_folder.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;

/// The verbs that an option can be combined with.
struct option_use {
  std::string_view option;
  bool given;
  std::vector<std::string_view> verbs;
};

std::vector<option_use> uses_of(const models_arguments& x) {
  const std::vector<std::string_view> opening = {"show", "import", "check"};
  return {{"--name", x.name.has_value(), {"import"}},
          {"--dtype", x.dtype.has_value(), {"import"}},
          {"--force", x.force, {"import"}},
          {"--vocabulary", x.vocabulary.has_value(), {"import"}},
          {"--scan", x.scan, {"check"}},
          {"--checksums", x.checksums, {"check"}},
          {"--vae", x.vae.has_value(), opening},
          {"--parts-from", x.parts_from.has_value(), opening},
          {"--prediction", x.prediction.has_value(), opening},
          {"--variant", x.variant.has_value(), opening},
          {"--links", x.links.has_value(), opening}};
}

/// Returns the type with that long or short name.
std::optional<gpu::tensor_type> type_of(std::string_view name) {
  using enum gpu::tensor_type;
  if (name == "float32" || name == "f32")
    return float32;
  if (name == "float16" || name == "f16")
    return float16;
  if (name == "bfloat16" || name == "bf16")
    return bfloat16;
  return std::nullopt;
}

/// Checks the words, and that every option can be combined with the first word.
core::result<void> check_words(const models_arguments& x) {
  const auto verb = x.words.empty() ? "list" : x.words.front();
  const auto verbs = choices_of("models");
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    const std::vector<std::string> known{verbs.begin(), verbs.end()};
    return fail(ec::invalid_argument,
                "models: {} is not {}; the nearest is '{}'", show_value(verb),
                list_choices(verbs), nearest(verb, known));
  }
  const size_t wanted = verb == "list" ? 0 : 1;
  const auto given = x.words.empty() ? 0 : x.words.size() - 1;
  if (given != wanted)
    return fail(ec::invalid_argument, "models {}: {} models named, {} allowed",
                verb, given, wanted);
  for (const auto& use : uses_of(x))
    if (use.given
        && std::find(use.verbs.begin(), use.verbs.end(), verb)
             == use.verbs.end())
      return fail(ec::invalid_argument,
                  "{} is valid with models {}, not with {}", use.option,
                  list_choices(use.verbs), verb);
  if (x.dtype && !type_of(*x.dtype))
    return check_choice("--dtype", *x.dtype);
  if (x.prediction)
    if (auto ok = check_choice("--prediction", *x.prediction); !ok)
      return ok;
  if (x.links)
    if (auto ok = check_choice("--links", *x.links); !ok)
      return ok;
  return {};
}

/// Executes one call of `models`.
class models_run {
public:
  models_run(const models_arguments& arguments, const common_arguments& common,
             environment& world)
    : arguments_(arguments),
      json_(common.json),
      world_(world),
      data_(data_folder(common)),
      store_(data_, models_folder()) {}

  exit_status run() {
    const auto verb =
      arguments_.words.empty() ? "list" : arguments_.words.front();
    if (verb == "list")
      return list();
    if (verb == "show")
      return show();
    if (verb == "check")
      return check();
    return import();
  }

private:
  void print(const json_object& object, const std::string& text) const {
    world_.terminal.out << (json_ ? to_line(object) + '\n' : text);
  }

  gpu::model_file_options opening() const {
    gpu::model_file_options out;
    if (arguments_.vae)
      out.vae = *arguments_.vae;
    if (arguments_.parts_from)
      out.parts_from = *arguments_.parts_from;
    out.prediction_type = arguments_.prediction.value_or("");
    out.variant = arguments_.variant.value_or("");
    out.links_anywhere = arguments_.links == "anywhere";
    return out;
  }

  /// Replaces the names of models by their paths.
  core::result<gpu::model_file_options> resolved() const {
    auto out = opening();
    for (auto* x : {&out.vae, &out.parts_from}) {
      if (!*x)
        continue;
      const auto found = store_.find((*x)->string());
      if (!found)
        return found.why();
      *x = found->path;
    }
    return out;
  }

  exit_status list() const {
    const auto all = store_.list();
    if (!all)
      return refuse(world_.terminal, all.why());
    if (all->empty())
      world_.terminal.complain("no model was found in "
                               + store_.folder().string()
                               + ", and Atelier's own are not beside the "
                                 "program");
    else if (!json_)
      world_.terminal.out << list_header();
    for (const auto& x : *all) {
      const auto model = gpu::open_parts(x.path, {});
      if (model) {
        const auto outline = outline_of(x, *model);
        print(to_short_json(outline), to_line(outline));
      } else {
        // A broken model does not hide the others.
        print({{"name", x.name},
               {"path", x.path.string()},
               {"error", model.why().text}},
              fmt::format("{:24} broken: {}\n", x.name, model.why().text));
      }
    }
    return exit_status::done;
  }

  exit_status show() const {
    const auto where = store_.find(arguments_.words[1]);
    if (!where)
      return refuse(world_.terminal, where.why());
    const auto options = resolved();
    if (!options)
      return refuse(world_.terminal, options.why());
    const auto model = gpu::open_parts(where->path, *options);
    if (!model)
      return refuse(world_.terminal, model.why());
    const auto outline = outline_of(*where, *model);
    print(to_json(outline), to_text(outline));
    return exit_status::done;
  }

  exit_status check() const {
    const auto where = store_.find(arguments_.words[1]);
    if (!where)
      return refuse(world_.terminal, where.why());
    const auto open = resolved();
    if (!open)
      return refuse(world_.terminal, open.why());
    gpu::check_options options;
    options.open = *open;
    options.scan = arguments_.scan;
    options.checksums = arguments_.checksums;
    const auto found = [&] {
      transfer_display display{world_.terminal, world_.interrupted};
      options.proceed = [&](uint64_t done, uint64_t all) {
        return display.proceed(done, all);
      };
      return gpu::check_model(where->path, options);
    }();
    if (!found)
      return refuse(world_.terminal, found.why());
    print(to_json(*where, *found), to_text(*found));
    return found->sound() ? exit_status::done : exit_status::bad_input;
  }

  exit_status import() const {
    const fs::path from = arguments_.words[1];
    if (data_.empty())
      return refuse(world_.terminal,
                    fail(ec::invalid_argument,
                         "--data: the environment names no data folder"));
    const auto to =
      store_.place(arguments_.name ? *arguments_.name : name_from(from));
    if (!to)
      return refuse(world_.terminal, to.why());
    if (store_.is_shipped(to->filename().string()))
      return refuse(world_.terminal,
                    fail(ec::invalid_argument,
                         "--name: {} is one of Atelier's own models; give "
                         "another name",
                         show_value(to->filename().string())));
    const auto open = resolved();
    if (!open)
      return refuse(world_.terminal, open.why());
    gpu::import_options options;
    options.open = *open;
    options.open.vocabulary = arguments_.vocabulary
                              ? fs::path{*arguments_.vocabulary}
                              : vocabulary_folder();
    if (arguments_.dtype)
      options.as = type_of(*arguments_.dtype);
    options.replace = arguments_.force;
    const auto ok = [&] {
      transfer_display display{world_.terminal, world_.interrupted};
      options.proceed = [&](uint64_t done, uint64_t all) {
        return display.proceed(done, all);
      };
      return gpu::import_model(from, *to, options);
    }();
    if (!ok)
      return refuse(world_.terminal, with_advice(ok.why(), from, *to));
    const stored_model made{to->filename().string(), *to};
    const auto model = gpu::open_parts(made.path, {});
    if (!model)
      return refuse(world_.terminal, model.why());
    const auto outline = outline_of(made, *model);
    print(to_short_json(outline), to_line(outline));
    return exit_status::done;
  }

  /// Adds the option that helps.
  core::error with_advice(core::error why, const fs::path& from,
                          const fs::path& to) const {
    std::error_code error;
    if (why.code == ec::invalid_argument && !arguments_.force
        && fs::exists(to, error))
      why.text += "; --force replaces it, --name gives another name";
    else if (why.code == ec::not_found && !arguments_.vocabulary
             && fs::is_regular_file(from, error)
             && why.text.find("vocab.json") != std::string::npos)
      why.text += ": --vocabulary DIR";
    return why;
  }

  const models_arguments& arguments_;
  bool json_;
  environment& world_;
  fs::path data_;
  model_store store_;
};

} // namespace

CLI::App* add_models(CLI::App& app, models_arguments& into) {
  auto* sub = app.add_subcommand(
    "models", "List models; show NAME, import FILE, check NAME or DIR");
  const text_options add{*sub};
  add.group("Import");
  add("--name", into.name, "NAME", "Its name (default: the file's)");
  add("--dtype", into.dtype, "TYPE",
      "Write numbers as " + list_choices(choices_of("--dtype"))
        + " (default: as they are)");
  sub->add_flag("--force", into.force, "Replace a model of that name");
  add("--vocabulary", into.vocabulary, "DIR",
      "CLIP's vocab.json and merges.txt, which single files lack (default: "
      "what the set-up fetched)");
  add.group("Check");
  sub->add_flag("--scan", into.scan,
                "Read every number; report NaN and infinite ones");
  sub->add_flag("--checksums", into.checksums,
                "Print the SHA-256 digest of every file");
  add.group("Show, import and check");
  add("--vae", into.vae, "NAME|DIR|FILE",
      "A model or file whose autoencoder is used instead");
  add("--parts-from", into.parts_from, "NAME|DIR|FILE",
      "A model that supplies the parts that this one lacks");
  add("--prediction", into.prediction, "TYPE",
      "What the denoiser predicts, if its files do not say: "
        + list_choices(choices_of("--prediction")));
  add("--variant", into.variant, "NAME",
      "Variant of the weight files, such as fp16");
  add("--links", into.links, "WHERE",
      "Where links in a folder may lead: " + list_choices(choices_of("--links"))
        + " (default: inside)");
  return sub;
}

exit_status models(const models_arguments& arguments,
                   const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  if (auto ok = read_common(common); !ok) {
    terminal.complain(ok.why().text);
    return exit_status::bad_input;
  }
  if (auto ok = check_words(arguments); !ok) {
    terminal.complain(ok.why().text);
    return exit_status::bad_input;
  }
  return models_run{arguments, common, world}.run();
}

} // namespace atelier::runtime::cli
