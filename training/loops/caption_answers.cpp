// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/caption_answers.hpp>

#include <array>
#include <optional>

namespace atelier::gpu {

namespace {

constexpr size_t relations_asked = 2;
constexpr size_t questions_of_an_object = 5;
constexpr size_t questions_of_a_relation = 3;

constexpr auto make_questions() {
  std::array<caption_question, most_objects * questions_of_an_object
                                 + relations_asked * questions_of_a_relation
                                 + 3>
    out;
  size_t at = 0;
  const auto ask = [&](std::string_view about, size_t values) {
    out[at++] = {about, static_cast<int64_t>(values) + 1};
  };
  for (size_t i = 0; i < most_objects; ++i) {
    ask("shape", shape_count);
    ask("colour", colour_count);
    ask("size", size_count);
    ask("texture", texture_count);
    ask("place", place_count);
  }
  for (size_t i = 0; i < relations_asked; ++i) {
    ask("relation", relation_count);
    ask("relation", most_objects);
    ask("relation", most_objects);
  }
  ask("background", background_colour_count);
  ask("background", background_colour_count);
  ask("grade", 3);
  return out;
}

constexpr auto questions = make_questions();

template <class Value>
int64_t class_of(const std::optional<Value>& x) {
  return x ? static_cast<int64_t>(*x) + 1 : 0;
}

} // namespace

std::span<const caption_question> caption_questions() {
  return questions;
}

std::vector<int64_t> caption_answers(const description& x) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < most_objects; ++i) {
    if (i >= x.objects.size()) {
      out.insert(out.end(), questions_of_an_object, 0);
      continue;
    }
    const auto& object = x.objects[i];
    out.insert(out.end(), {static_cast<int64_t>(object.shape) + 1,
                           class_of(object.colour), class_of(object.size),
                           class_of(object.texture), class_of(object.place)});
  }
  for (size_t i = 0; i < relations_asked; ++i) {
    if (i >= x.relations.size()) {
      out.insert(out.end(), questions_of_a_relation, 0);
      continue;
    }
    const auto& said = x.relations[i];
    out.insert(out.end(), {static_cast<int64_t>(said.kind) + 1,
                           int64_t{said.subject} + 1, int64_t{said.first} + 1});
  }
  if (x.background)
    out.insert(out.end(), {static_cast<int64_t>(x.background->from) + 1,
                           static_cast<int64_t>(x.background->to) + 1,
                           class_of(x.background->grade)});
  else
    out.insert(out.end(), 3, 0);
  return out;
}

} // namespace atelier::gpu
