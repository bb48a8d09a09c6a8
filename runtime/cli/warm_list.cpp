// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/core/parameters.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>
#include <atelier/runtime/cli/warm_list.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;
using nlohmann::json;

constexpr std::string_view known_fields =
  "prompt, negative_prompt, size, width, height, native_only, noise, seed and "
  "cache";

/// Names of fields that are no parameters, by which a request has a model of
/// its own.
constexpr std::string_view pins[] = {"model", "variant", "level", "policy"};

constexpr std::string_view images[] = {
  "image", "mask", "strength", "init_images", "strength_rule", "mask_image"};

bool is_parameter(std::string_view name) {
  return std::ranges::any_of(core::parameters, [&](const auto& x) {
    return name == x.name || (!x.also.empty() && name == x.also)
        || (!x.localai.empty() && name == x.localai);
  });
}

/// Returns why a request with that field cannot be kept.
core::error refusal_of(const std::string& place, const std::string& name) {
  if (std::ranges::find(images, name) != std::end(images))
    return fail(ec::invalid_argument,
                "{}: {}: the cache keeps nothing of a request that starts from "
                "an image",
                place, name);
  if (is_parameter(name) || std::ranges::find(pins, name) != std::end(pins))
    return fail(ec::invalid_argument,
                "{}: {}: a request that sets it never starts from the cache",
                place, name);
  return fail(ec::invalid_argument, "{}: unknown field {}; the fields are {}",
              place, show_value(name), known_fields);
}

class line_reader {
public:
  line_reader(const std::string& place, const core::limits& within,
              generation& into)
    : place_(place), within_(within), into_(into) {}

  result<void> read(const std::string& name, const json& value) {
    const auto label = fmt::format("{}: {}", place_, name);
    if (name == "prompt" || name == "negative_prompt")
      return text(label, value,
                  name == "prompt" ? into_.prompt : into_.negative);
    if (name == "size")
      return size(label, value);
    if (name == "width" || name == "height")
      return side(label, value, name == "width" ? width_ : height_);
    if (name == "native_only")
      return flag(label, value);
    if (name == "noise")
      return noise(label, value);
    if (name == "seed")
      return seed(label, value);
    if (name == "cache")
      return cache(label, value);
    return refusal_of(place_, name);
  }

  /// Sets the sides, which need each other.
  result<void> end() {
    if (width_ == 0 && height_ == 0)
      return {};
    if (width_ == 0 || height_ == 0)
      return fail(ec::invalid_argument, "{}: width and height need each other",
                  place_);
    const auto px = parse_size(fmt::format("{}: width and height", place_),
                               fmt::format("{}x{}", width_, height_), within_);
    if (!px)
      return px.why();
    if (has_size_ && (into_.width != px->width || into_.height != px->height))
      return fail(ec::invalid_argument,
                  "{}: size {}x{} is not that of width {} and height {}",
                  place_, into_.width, into_.height, px->width, px->height);
    into_.width = px->width;
    into_.height = px->height;
    return {};
  }

private:
  static core::error wrong(const std::string& label, const json& value,
                           std::string_view what) {
    return fail(ec::invalid_argument, "{}: {} is not {}", label,
                show_value(core::json_text(value)), what);
  }

  result<void> text(const std::string& label, const json& value,
                    std::string& into) const {
    if (!value.is_string())
      return wrong(label, value, "a text");
    auto x = value.get<std::string>();
    if (auto ok = check_text(label, x, within_.prompt_bytes); !ok)
      return ok;
    into = std::move(x);
    return {};
  }

  result<void> size(const std::string& label, const json& value) {
    if (!value.is_string())
      return wrong(label, value, "auto or WIDTHxHEIGHT");
    const auto px = parse_size(label, value.get<std::string>(), within_);
    if (!px)
      return px.why();
    into_.width = px->width;
    into_.height = px->height;
    has_size_ = px->width != 0;
    return {};
  }

  result<void> side(const std::string& label, const json& value,
                    uint64_t& into) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() < core::grid_px
        || value.get<uint64_t>() > within_.side_px)
      return wrong(label, value,
                   fmt::format("a whole number in {}..{}", core::grid_px,
                               within_.side_px));
    into = value.get<uint64_t>();
    return {};
  }

  result<void> flag(const std::string& label, const json& value) const {
    if (value.is_boolean())
      into_.native_only = value.get<bool>();
    else if (value == "on" || value == "off")
      into_.native_only = value == "on";
    else
      return wrong(label, value, "true or false");
    return {};
  }

  result<void> noise(const std::string& label, const json& value) const {
    const auto names = core::names_of<core::noise_source>();
    if (!value.is_string()
        || std::ranges::find(names, value.get<std::string>()) == names.end())
      return wrong(label, value, "torch_cpu or philox");
    into_.noise = value.get<std::string>();
    return {};
  }

  result<void> seed(const std::string& label, const json& value) const {
    if (value == -1)
      return {};
    if (!value.is_number_unsigned())
      return wrong(label, value, "-1 or a whole number in 0..2^64-1");
    into_.seed = value.get<uint64_t>();
    return {};
  }

  static result<void> cache(const std::string& label, const json& value) {
    if (value == "write" || value == "on")
      return {};
    if (value == "off" || value == "read")
      return fail(ec::invalid_argument,
                  "{}: {} keeps nothing of the request; write or on does",
                  label, show_value(value.get<std::string>()));
    return wrong(label, value, "off, read, write or on");
  }

  const std::string& place_;
  const core::limits& within_;
  generation& into_;
  uint64_t width_ = 0;
  uint64_t height_ = 0;
  bool has_size_ = false;
};

/// Reads one line of a list of JSON objects.
result<generation> read_object(const std::string& line,
                               const std::string& place,
                               const core::limits& within, generation out) {
  const auto object = json::parse(line, nullptr, false);
  if (!object.is_object())
    return fail(ec::invalid_argument,
                "{}: {} is not a JSON object, as the first line is", place,
                show_value(line));
  line_reader reader{place, within, out};
  for (const auto& [name, value] : object.items()) {
    // Null counts as omitted.
    if (value.is_null())
      continue;
    if (auto ok = reader.read(name, value); !ok)
      return ok.why();
  }
  if (auto ok = reader.end(); !ok)
    return ok.why();
  if (!object.contains("prompt") || object["prompt"].is_null())
    return fail(ec::invalid_argument, "{}: prompt is missing", place);
  return out;
}

} // namespace

result<std::vector<warm_request>> read_warm_list(const std::string& path,
                                                 std::istream& standard_input,
                                                 const core::limits& within,
                                                 const generation& common) {
  std::vector<warm_request> out;
  const auto read = [&](std::istream& from,
                        const std::string& name) -> result<void> {
    const bool objects = from.peek() == '{';
    // Two texts, escaped at most as \u0000, and the other fields.
    const uint64_t most =
      objects ? 12 * uint64_t{within.prompt_bytes} + 4096 : within.prompt_bytes;
    return read_lines(
      from, name, most, within,
      [&](const std::string& line, const std::string& place) -> result<void> {
        auto one = common;
        if (objects) {
          auto made = read_object(line, place, within, one);
          if (!made)
            return made.why();
          one = std::move(*made);
        } else {
          if (auto ok = check_text(place, line, within.prompt_bytes); !ok)
            return ok;
          one.prompt = line;
        }
        out.push_back({place, std::move(one)});
        return {};
      });
  };
  if (auto ok = with_prompts_file(path, standard_input, read); !ok)
    return ok.why();
  if (out.empty())
    return fail(ec::invalid_argument,
                "--prompts: {} has no prompt; at least 1 is needed",
                path == "-" ? "standard input" : path);
  return out;
}

} // namespace atelier::runtime::cli
