// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/prompt_reader.hpp>
#include <atelier/index/forwarding.hpp>
#include <atelier/index/key.hpp>
#include <atelier/runtime/parts_read.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace atelier::runtime {

namespace {

class parts_compared final : public index::forwarding_work {
public:
  parts_compared(std::shared_ptr<index::kept_work> kept, part_reader read)
    : forwarding_work(std::move(kept)), read_(std::move(read)) {}

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const index::search_terms& by) override {
    return to()->near(key, part_of(key, text), by);
  }

  bool keep(std::string_view key, std::string_view text,
            index::leftover what) override {
    return to()->keep(key, part_of(key, text), std::move(what));
  }

  std::vector<float> vector_of(std::string_view key,
                               std::string_view text) override {
    return to()->vector_of(key, part_of(key, text));
  }

private:
  std::string part_of(std::string_view key, std::string_view text) const {
    return part_read(read_, key, text);
  }

  const part_reader read_;
};

using reader_ptr = std::shared_ptr<const gpu::prompt_reader>;

core::result<reader_ptr> reader_of(const config::model_settings& x) {
  const auto in_model = [&](const core::error& why) {
    return core::fail(why.code, "models: {}: {}", x.name, why.text);
  };
  const auto files = gpu::open_model(x.path, file_options_of(x));
  if (!files)
    return in_model(files.why());
  auto out = gpu::prompt_reader::load(*files);
  if (!out)
    return in_model(out.why());
  return std::make_shared<const gpu::prompt_reader>(std::move(*out));
}

} // namespace

core::result<part_reader> part_reader_of(const config::settings& x,
                                         const planning::profile& known) {
  std::map<std::string, reader_ptr> by_model;
  std::vector<reader_ptr> by_variant(known.variants.size());
  for (const auto& device : x.devices)
    for (const auto& name : device.variants) {
      const auto at = planning::find_variant(known, name);
      const auto variant = planning::parse_variant(name);
      if (!at || !variant || device.executor != "torch")
        continue;
      const auto model = std::ranges::find(x.models, variant->model,
                                           &config::model_settings::name);
      if (model == x.models.end())
        continue;
      auto& reader = by_model[model->name];
      if (!reader) {
        auto made = reader_of(*model);
        if (!made)
          return made.why();
        reader = std::move(*made);
      }
      by_variant[at->value] = reader;
    }
  return part_reader{[all = std::move(by_variant)](std::string_view prompt,
                                                   const core::recipe& how) {
    const auto at = how.variant.value;
    if (at >= all.size() || !all[at])
      return std::string{prompt};
    gpu::prompt_text asked;
    asked.text = prompt;
    asked.syntax = how.syntax;
    asked.emphasis = how.emphasis;
    return all[at]->part_read(asked);
  }};
}

std::string part_read(const part_reader& read, std::string_view key,
                      std::string_view prompt) {
  const auto how = index::recipe_in(key);
  return how ? read(prompt, *how) : std::string{prompt};
}

std::shared_ptr<index::kept_work> compare_parts_read(
  std::shared_ptr<index::kept_work> kept, part_reader read) {
  return std::make_shared<parts_compared>(std::move(kept), std::move(read));
}

} // namespace atelier::runtime
