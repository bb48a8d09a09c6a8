// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/quality/caption_score.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <algorithm>
#include <set>

namespace atelier::gpu {

namespace {

// Limits the number of draws for each caption: for a single circle only the
// shape can be wrong.
constexpr size_t draws_for_each = 40;

// One value that a description says.
struct said_value {
  std::string_view about;
  // The number of the object or relation.
  size_t object = 0;

  friend bool operator==(const said_value&, const said_value&) = default;
};

std::vector<said_value> values_of(const description& x) {
  std::vector<said_value> out;
  for (size_t i = 0; i < x.objects.size(); ++i) {
    const auto& o = x.objects[i];
    out.push_back({"shape", i});
    if (o.colour)
      out.push_back({"colour", i});
    if (o.size)
      out.push_back({"size", i});
    if (o.texture)
      out.push_back({"texture", i});
    if (o.place)
      out.push_back({"place", i});
  }
  for (size_t i = 0; i < x.relations.size(); ++i)
    if (x.relations[i].kind != relation::between)
      out.push_back({"relation", i});
  if (x.background)
    out.push_back({"background", 0});
  return out;
}

template <class Value>
void change(Value& x, size_t count, core::philox& from) {
  const auto step = 1 + from.below(count - 1);
  x = static_cast<Value>((static_cast<size_t>(x) + step) % count);
}

void change_value(description& x, const said_value& which, core::philox& from) {
  if (which.about == "background") {
    auto& ground = *x.background;
    // Changes only one end of a graded background, which stays graded.
    const auto plain = ground.from == ground.to;
    auto& end = !plain && from.below(2) == 1 ? ground.to : ground.from;
    do
      change(end, background_colour_count, from);
    while (!plain && ground.from == ground.to);
    if (plain)
      ground.to = ground.from;
    return;
  }
  if (which.about == "relation") {
    // Any relation except `between`, which needs another object.
    change(x.relations[which.object].kind, relation_count - 1, from);
    return;
  }
  auto& o = x.objects[which.object];
  if (which.about == "shape")
    change(o.shape, shape_count, from);
  else if (which.about == "colour")
    change(*o.colour, colour_count, from);
  else if (which.about == "size")
    change(*o.size, size_count, from);
  else if (which.about == "texture")
    change(*o.texture, texture_count, from);
  else
    change(*o.place, place_count, from);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool one_word_apart(std::string_view a, std::string_view b) {
  const auto x = words_of(a);
  const auto y = words_of(b);
  if (x.size() != y.size())
    return false;
  size_t apart = 0;
  for (size_t i = 0; i < x.size(); ++i)
    apart += x[i] != y[i] ? size_t{1} : size_t{0};
  return apart == 1;
}

} // namespace

bool is_true(const description& said, const scene& of) {
  seen_image shown;
  shown.background = of.background;
  for (const auto& x : of.objects) {
    seen_object o;
    o.shape = x.shape;
    o.colour = x.colour;
    o.size = x.size;
    o.texture = x.texture;
    o.place = place_at(x.centre);
    o.centre = x.centre;
    o.radius = x.radius;
    shown.objects.push_back(o);
  }
  return score_image(shown, said).images.right == 1;
}

std::vector<wrong_caption> draw_wrong_captions(const description& said,
                                               const scene& of,
                                               const core::philox& words,
                                               core::philox& from,
                                               size_t count) {
  const auto values = values_of(said);
  auto spoken = words;
  const auto right = word(said, spoken);
  std::vector<wrong_caption> out;
  std::set<std::string> known;
  for (size_t i = 0; i < count * draws_for_each && out.size() < count; ++i) {
    const auto& which = values[from.below(values.size())];
    auto wrong = said;
    change_value(wrong, which, from);
    spoken = words;
    auto text = word(wrong, spoken);
    if (!one_word_apart(text, right) || is_true(wrong, of)
        || !known.insert(text).second)
      continue;
    out.push_back({std::move(text), std::move(wrong), which.about});
  }
  return out;
}

description change_description(const description& said, size_t changes,
                               core::philox& from) {
  auto left = values_of(said);
  auto out = said;
  for (size_t i = 0; i < changes && !left.empty(); ++i) {
    const auto at = from.below(left.size());
    change_value(out, left[at], from);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

} // namespace atelier::gpu
