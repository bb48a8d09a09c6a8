// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/scene_answers.hpp>

#include <array>
#include <cmath>
#include <optional>

namespace atelier::gpu {

namespace {

constexpr size_t questions_of_a_place = 4;
constexpr size_t questions_of_a_shape = 3;
constexpr size_t questions_of_the_background = 3;
constexpr size_t grid_side = 3;

constexpr size_t shapes_from = place_count * questions_of_a_place;
constexpr size_t background_from =
  shapes_from + shape_count * questions_of_a_shape;
constexpr size_t question_count = background_from + questions_of_the_background;

constexpr caption_question asked(std::string_view about, size_t values) {
  return {about, static_cast<int64_t>(values) + 1};
}

constexpr std::array<caption_question, questions_of_a_place> of_an_object{
  asked("shape", shape_count), asked("colour", colour_count),
  asked("size", size_count), asked("texture", texture_count)};

constexpr auto make_questions() {
  std::array<caption_question, question_count> out;
  size_t at = 0;
  for (size_t i = 0; i < place_count; ++i)
    for (const auto& x : of_an_object)
      out[at++] = x;
  for (size_t i = 0; i < shape_count; ++i) {
    out[at++] = asked("colour", colour_count);
    out[at++] = asked("place", grid_side);
    out[at++] = asked("place", grid_side);
  }
  out[at++] = asked("background", background_colour_count);
  out[at++] = asked("background", background_colour_count);
  out[at++] = asked("grade", 3);
  return out;
}

constexpr auto questions = make_questions();

template <class Value>
int64_t class_of(const std::optional<Value>& x) {
  return x ? static_cast<int64_t>(*x) + 1 : 0;
}

std::array<int64_t, questions_of_a_place> answers_of(
  const described_object& x) {
  return {class_of(std::optional{x.shape}), class_of(x.colour),
          class_of(x.size), class_of(x.texture)};
}

described_object all_of(const scene_object& x) {
  return {x.shape, x.colour, x.size, x.texture, place_at(x.centre)};
}

std::vector<int64_t> answers_to(
  const std::vector<described_object>& objects,
  const std::optional<described_background>& ground) {
  std::vector<int64_t> out(question_count, 0);
  std::array<size_t, shape_count> of_shape{};
  for (const auto& x : objects)
    ++of_shape[static_cast<size_t>(x.shape)];
  for (const auto& x : objects) {
    if (x.place) {
      auto at = static_cast<size_t>(*x.place) * questions_of_a_place;
      for (const auto answer : answers_of(x))
        out[at++] = answer;
    }
    const auto shape = static_cast<size_t>(x.shape);
    const auto at = shapes_from + shape * questions_of_a_shape;
    const auto single = of_shape[shape] == 1;
    const auto place = x.place ? static_cast<int64_t>(*x.place) : -1;
    constexpr auto side = static_cast<int64_t>(grid_side);
    out[at] = single ? class_of(x.colour) : unanswerable;
    out[at + 1] = !single ? unanswerable : place < 0 ? 0 : place % side + 1;
    out[at + 2] = !single ? unanswerable : place < 0 ? 0 : place / side + 1;
  }
  if (ground) {
    out[background_from] = static_cast<int64_t>(ground->from) + 1;
    out[background_from + 1] = static_cast<int64_t>(ground->to) + 1;
    out[background_from + 2] = class_of(ground->grade);
  }
  return out;
}

} // namespace

std::span<const caption_question> scene_questions() {
  return questions;
}

std::vector<int64_t> scene_answers(const scene& x) {
  std::vector<described_object> objects;
  for (const auto& o : x.objects)
    objects.push_back(all_of(o));
  const auto& ground = x.background;
  return answers_to(objects,
                    described_background{ground.from, ground.to, ground.grade});
}

std::vector<int64_t> scene_answers(const description& x) {
  return answers_to(x.objects, x.background);
}

std::span<const caption_question> patch_questions() {
  return of_an_object;
}

std::vector<int64_t> patch_answers(const scene& x, uint32_t side) {
  const auto square = scene_side / static_cast<float>(side);
  std::vector<int64_t> out;
  for (uint32_t row = 0; row < side; ++row)
    for (uint32_t column = 0; column < side; ++column) {
      const auto to_x = (static_cast<float>(column) + 0.5f) * square;
      const auto to_y = (static_cast<float>(row) + 0.5f) * square;
      std::array<int64_t, questions_of_a_place> answers{};
      for (const auto& o : x.objects)
        if (std::hypot(o.centre.x - to_x, o.centre.y - to_y) <= o.radius)
          answers = answers_of(all_of(o));
      out.insert(out.end(), answers.begin(), answers.end());
    }
  return out;
}

} // namespace atelier::gpu
