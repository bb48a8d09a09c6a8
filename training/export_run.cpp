// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>
#include <atelier/training/export_model.hpp>
#include <atelier/training/export_run.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/level_ladder.hpp>
#include <atelier/training/model_card.hpp>
#include <atelier/training/train.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;
using core::result;

// The tensors of a file whose names begin with a prefix. The prefix is omitted
// from their names.
class named_part final : public tensor_source {
public:
  named_part(std::shared_ptr<const safetensors_file> of, std::string prefix)
    : of_(std::move(of)), prefix_(std::move(prefix)) {}

  std::optional<tensor_view> find(std::string_view name) const override {
    return of_->find(prefix_ + std::string{name});
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& x : of_->names())
      if (x.starts_with(prefix_))
        out.push_back(x.substr(prefix_.size()));
    return out;
  }

  std::string where() const override {
    return of_->where();
  }

private:
  std::shared_ptr<const safetensors_file> of_;
  std::string prefix_;
};

bool same(const tensor_source& a, const tensor_source& b) {
  const auto names = a.names();
  return names == b.names()
      && std::ranges::all_of(names, [&](const auto& name) {
           const auto x = a.find(name);
           const auto y = b.find(name);
           return x->type == y->type && std::ranges::equal(x->bytes, y->bytes);
         });
}

struct trained_part {
  std::string name;
  std::shared_ptr<const safetensors_file> file;

  std::shared_ptr<const tensor_source> part(std::string prefix = {}) const {
    return std::make_shared<named_part>(file, std::move(prefix));
  }

  /// Returns the metadata entry of that name, or an empty text if it does not
  /// exist.
  std::string_view note(std::string_view of) const {
    const auto it = file->metadata().find(of);
    return it == file->metadata().end() ? std::string_view{} : it->second;
  }

  double number(std::string_view of) const {
    const auto text = note(of);
    double out = 0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
  }
};

// Returns nullopt if the part is not trained.
result<std::optional<trained_part>> open_part(const fs::path& run,
                                              training_part part) {
  const std::string name{to_string(part)};
  auto file = safetensors_file::open(run / name / "weights.safetensors");
  if (!file) {
    if (file.why().code == ec::not_found)
      return std::optional<trained_part>{};
    return file.why();
  }
  return std::optional<trained_part>{{name, std::move(*file)}};
}

// Returns the last measurement in the log, in the order of the names. Ignores
// damaged lines.
std::vector<std::pair<std::string, std::string>> figures_of(
  const fs::path& run, const std::string& name) {
  std::ifstream in{run / name / "log.jsonl"};
  nlohmann::json last;
  for (std::string line; std::getline(in, line);) {
    auto x = nlohmann::json::parse(line, nullptr, false);
    if (x.is_object() && !x.contains("rate"))
      last = std::move(x);
  }
  std::vector<std::pair<std::string, std::string>> out;
  if (!last.is_object())
    return out;
  for (const auto& [key, value] : last.items())
    if (value.is_number() && key != "step" && key != "samples"
        && key != "busy_seconds" && key != "share" && key != "loss"
        && key != "samples_per_second")
      out.emplace_back(key, fmt::format("{:.4g}", value.get<double>()));
  return out;
}

constexpr auto data_text =
  "Scenes of one to three objects (ten shapes, eight colours, two sizes, three "
  "textures, nine places) on plain and graded backgrounds, and captions for "
  "them, drawn on the fly from the seed by Atelier's own renderer and grammar. "
  "No picture or text of anybody else is in it. For every shape and colour one "
  "place is held out; figures are of those scenes alone.";

constexpr auto limits_text =
  "It knows the words of such captions and nothing else (known_words.txt), and "
  "pictures of 128x128 pixels. The figures are of a few pictures for each "
  "number "
  "of objects.";

constexpr auto drawing_text =
  " Guidance 2 draws best (turbo: none); from 4 on edges get angular and "
  "backgrounds blotched.";

std::string what_it_is(const std::string& name) {
  if (name == "turbo")
    return "A denoiser for four steps without guidance, distilled from base, "
           "in Stable Diffusion's architecture.";
  if (name == "small" || name == "tiny")
    return fmt::format("A smaller denoiser, {}, that learned from base what "
                       "base predicts, in Stable Diffusion's architecture.",
                       name);
  if (name == "scorer")
    return "CLIP's two towers (transformers' CLIPModel): how well a caption "
           "fits a picture.";
  if (name == "discriminator")
    return "Estimates how many of a caption's objects are right in a picture: "
           "the scorer's towers, and two layers that weigh what they find.";
  if (name == "classifier")
    return "Expects from a prompt alone how good its picture will be at each "
           "level of approximation.";
  return fmt::format("The family's denoiser {}, with its text encoder and "
                     "autoencoder, in Stable Diffusion's architecture.",
                     name);
}

std::string card_of(const trained_part& x, const fs::path& run) {
  // A network that was trained elsewhere has a card already.
  if (const auto there = x.note("card"); !there.empty())
    return std::string{there};
  model_card card;
  card.name = "atelier-" + x.name;
  if (x.name == "scorer") {
    card.library = "transformers";
    card.task = "zero-shot-image-classification";
  } else if (!family_member_named(x.name)) {
    card.library.clear();
    card.task.clear();
  }
  card.what_it_is = what_it_is(x.name);
  card.data = data_text;
  card.recipe = fmt::format(
    "AdamW, gradients cut at length 1, weights averaged over the last steps; "
    "{:.0f} steps, {:.0f} samples.",
    x.number("steps"), x.number("samples"));
  card.limits = limits_text;
  if (family_member_named(x.name))
    card.limits += drawing_text;
  card.minutes = x.number("busy_seconds") / 60;
  card.seed = static_cast<uint64_t>(x.number("seed"));
  card.figures = figures_of(run, x.name);
  card.command = fmt::format(
    "atelier train {} --steps {:.0f} --seed {}\natelier train export -o DIR",
    x.name, x.number("steps"), card.seed);
  return to_markdown(card);
}

uint64_t bytes_of_folder(const fs::path& folder) {
  uint64_t out = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it{folder, error}, end;
       !error && it != end; it.increment(error))
    if (it->is_regular_file(error) && !it->is_symlink(error))
      out += it->file_size(error);
  return out;
}

class exporter {
public:
  explicit exporter(const run_export& what) : what_(what) {}

  result<std::vector<exported_folder>> run() {
    auto vae = open_part(what_.run, training_part::vae);
    if (!vae)
      return vae.why();
    if (!*vae)
      return missing(training_part::vae);
    auto preview = open_part(what_.run, training_part::preview);
    if (!preview)
      return preview.why();
    preview_ = std::move(*preview);
    for (const auto part : {training_part::base, training_part::small,
                            training_part::tiny, training_part::turbo})
      if (auto ok = write_model(part, **vae); !ok)
        return ok.why();
    if (first_.empty())
      return missing(training_part::base);
    for (const auto part : {training_part::scorer, training_part::discriminator,
                            training_part::classifier})
      if (auto ok = write_network(part); !ok)
        return ok.why();
    return std::move(out_);
  }

private:
  core::error missing(training_part part) const {
    return fail(ec::not_found, "{}: {} is not trained: train it first",
                what_.run.string(), to_string(part));
  }

  void note(const std::string& name) {
    out_.push_back({name, bytes_of_folder(what_.to / name)});
  }

  result<void> write_model(training_part part, const trained_part& vae) {
    const auto x = open_part(what_.run, part);
    if (!x)
      return x.why();
    if (!*x)
      return {};
    const auto& trained = **x;
    const auto text = trained.part("text_encoder.");
    if (part == training_part::base)
      base_text_ = text;
    if (is_there(trained)) {
      first_ = first_.empty() ? trained.name : first_;
      return {};
    }
    auto out = family_export(*family_member_named(trained.name));
    out.unet = {unet_config_text(*family_member_named(trained.name)),
                trained.part("unet."),
                {}};
    out.vae = {autoencoder_config_text(), vae.part(), {}};
    if (preview_)
      out.preview =
        exported_network{tiny_autoencoder_config_text(), preview_->part(), {}};
    if (!first_.empty()) {
      const auto beside = fs::path{".."} / first_;
      out.vae = {{}, nullptr, beside / "vae"};
      if (preview_)
        out.preview = exported_network{{}, nullptr, beside / "vae_preview"};
    }
    out.text_encoder = {text_encoder_config_text(), text, {}};
    if (part != training_part::base && base_text_ && same(*base_text_, *text))
      out.text_encoder = {{}, nullptr, "../base/text_encoder"};
    out.card = card_of(trained, what_.run);
    out.replace = what_.replace;
    if (auto ok = make_folder(); !ok)
      return ok;
    if (auto ok = export_model(out, what_.to / trained.name); !ok)
      return ok;
    first_ = first_.empty() ? trained.name : first_;
    note(trained.name);
    return {};
  }

  // Returns whether the target folder already has an imported network. A model
  // whose folder lacks a preview that was trained since must be written again.
  bool is_there(const trained_part& x) const {
    std::error_code error;
    const auto folder = what_.to / x.name;
    if (!family_member_named(x.name))
      return !x.note("card").empty()
          && fs::exists(folder / "config.json", error);
    return !x.note("card").empty()
        && fs::exists(folder / "model_index.json", error)
        && (!preview_ || fs::exists(folder / "vae_preview", error));
  }

  result<void> write_network(training_part part) {
    const auto x = open_part(what_.run, part);
    if (!x)
      return x.why();
    if (!*x || is_there(**x))
      return {};
    network_export out;
    out.texts = tokenizer_texts(caption_vocabulary(), family_tokens);
    if (part == training_part::scorer) {
      out.config = scorer_config_text();
      out.texts.emplace("preprocessor_config.json", scorer_processor_text());
    } else if (part == training_part::discriminator)
      out.config = discriminator_config_text();
    else {
      std::vector<std::string> levels;
      levels.reserve(level_ladder.size());
      for (const auto& level : level_ladder)
        levels.push_back(name_of(level));
      out.config = prompt_classifier_config_text(levels);
    }
    out.texts.emplace("README.md", card_of(**x, what_.run));
    out.weights = (*x)->part();
    out.replace = what_.replace;
    if (auto ok = export_network(out, what_.to / (*x)->name); !ok)
      return ok;
    note((*x)->name);
    return {};
  }

  result<void> make_folder() const {
    std::error_code error;
    fs::create_directories(what_.to, error);
    if (error)
      return fail(ec::io_failed, "cannot make the folder {}: {}",
                  what_.to.string(), error.message());
    return {};
  }

  const run_export& what_;
  std::optional<trained_part> preview_;
  std::shared_ptr<const tensor_source> base_text_;
  /// The denoiser whose folder contains the autoencoder.
  std::string first_;
  std::vector<exported_folder> out_;
};

} // namespace

core::result<std::vector<exported_folder>> export_run(const run_export& what) {
  return exporter{what}.run();
}

} // namespace atelier::gpu
