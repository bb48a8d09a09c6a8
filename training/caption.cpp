// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/caption.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace atelier::gpu {

namespace {

bool chance(core::philox& from, double probability) {
  return from.uniform() < probability;
}

std::vector<uint8_t> shuffled(size_t count, core::philox& from) {
  std::vector<uint8_t> out(count);
  std::iota(out.begin(), out.end(), uint8_t{0});
  for (auto i = count; i > 1; --i)
    std::swap(out[i - 1], out[from.below(i)]);
  return out;
}

constexpr relation towards[] = {relation::above, relation::below,
                                relation::left_of, relation::right_of};

// Returns the indisputable relations of `subject` to `other`.
std::vector<described_relation> clear_pairs(const scene& in, uint8_t subject,
                                            uint8_t other) {
  std::vector<described_relation> out;
  const auto& at = in.objects[subject].centre;
  const auto& from = in.objects[other].centre;
  for (const auto what : towards)
    if (holds(what, at, from, from, relation_rule::clear))
      out.push_back({what, subject, other, other});
  return out;
}

std::vector<described_relation> clear_relations(const scene& in) {
  std::vector<described_relation> out;
  const auto count = static_cast<uint8_t>(in.objects.size());
  for (uint8_t i = 0; i < count; ++i)
    for (uint8_t j = 0; j < count; ++j) {
      if (i == j)
        continue;
      const auto pairs = clear_pairs(in, i, j);
      out.insert(out.end(), pairs.begin(), pairs.end());
      for (uint8_t k = 0; k < count; ++k)
        if (k != i && k != j
            && holds(relation::between, in.objects[i].centre,
                     in.objects[j].centre, in.objects[k].centre,
                     relation_rule::clear))
          out.push_back({relation::between, i, j, k});
    }
  return out;
}

// Moves the objects of `first` to the front, in the order in which the relation
// names them.
void lead(std::vector<uint8_t>& order, const described_relation& first) {
  const auto front = [&order](uint8_t object) {
    const auto it = std::ranges::find(order, object);
    std::rotate(order.begin(), it, it + 1);
  };
  if (first.kind == relation::between)
    front(first.second);
  front(first.first);
  front(first.subject);
}

struct plan {
  std::vector<uint8_t> order;
  // Numbers objects as the scene does.
  std::vector<described_relation> relations;
};

plan draw_plan(const scene& of, core::philox& from) {
  plan out{shuffled(of.objects.size(), from), {}};
  auto relations = clear_relations(of);
  if (!chance(from, 0.5) || relations.empty())
    return out;
  // `between` is the only relation of three objects and would otherwise be
  // rare.
  const auto of_three =
    std::ranges::find(relations, relation::between, &described_relation::kind);
  if (of_three != relations.end() && chance(from, 0.5))
    out.relations.push_back(*of_three);
  else
    out.relations.push_back(relations[from.below(relations.size())]);
  const auto& first = out.relations.front();
  lead(out.order, first);
  if (of.objects.size() < 3 || first.kind == relation::between
      || !chance(from, 0.4))
    return out;
  const auto other = chance(from, 0.5) ? first.subject : first.first;
  const auto more = clear_pairs(of, out.order.back(), other);
  if (!more.empty())
    out.relations.push_back(more[from.below(more.size())]);
  return out;
}

bool shape_is_single(const scene& in, object_shape shape) {
  return std::ranges::count(in.objects, shape, &scene_object::shape) == 1;
}

described_object describe_object(const scene& in, const scene_object& what,
                                 bool related, bool full, core::philox& from) {
  described_object out;
  out.shape = what.shape;
  const auto patterned = what.texture != object_texture::plain;
  if (!chance(from, 0.03) || !shape_is_single(in, what.shape))
    out.colour = what.colour;
  if (chance(from, 0.6) || full)
    out.size = what.size;
  if (chance(from, patterned ? 0.95 : 0.12) || (patterned && full))
    out.texture = what.texture;
  if (chance(from, related ? 0.2 : 0.7) || (full && !related))
    out.place = place_at(what.centre);
  return out;
}

} // namespace

caption_difficulty difficulty_of(const description& x) {
  caption_difficulty out;
  out.objects = static_cast<uint32_t>(x.objects.size());
  for (const auto& o : x.objects)
    out.attributes += 1u + (o.colour ? 1 : 0) + (o.size ? 1 : 0)
                    + (o.texture ? 1 : 0) + (o.place ? 1 : 0);
  out.attributes += static_cast<uint32_t>(x.relations.size());
  if (x.background) {
    const auto& grade = x.background->grade;
    out.attributes += grade && *grade != background_grade::plain ? 2u : 1u;
  }
  return out;
}

description describe(const scene& what, core::philox& from) {
  const auto said = draw_plan(what, from);
  const auto full = chance(from, 0.35);
  const auto number_of = [&](uint8_t object) {
    const auto it = std::ranges::find(said.order, object);
    return static_cast<uint8_t>(it - said.order.begin());
  };
  description out;
  for (const auto& x : said.relations)
    out.relations.push_back(
      {x.kind, number_of(x.subject), number_of(x.first), number_of(x.second)});
  for (const auto object : said.order) {
    const auto related = std::ranges::any_of(
      said.relations, [object](const described_relation& x) {
        return x.subject == object || x.first == object || x.second == object;
      });
    out.objects.push_back(
      describe_object(what, what.objects[object], related, full, from));
  }
  if (chance(from, 0.65) || full) {
    const auto& ground = what.background;
    described_background x{ground.from, ground.to, ground.grade};
    if (chance(from, 0.5) && ground.grade != background_grade::plain)
      x.grade.reset();
    out.background = x;
  }
  return out;
}

description describe_all(const scene& what) {
  description out;
  for (const auto& x : what.objects)
    out.objects.push_back(
      {x.shape, x.colour, x.size, x.texture, place_at(x.centre)});
  out.background = described_background{
    what.background.from, what.background.to, what.background.grade};
  return out;
}

caption draw_caption(const scene& what, core::philox& from) {
  caption out;
  out.says = describe(what, from);
  out.text = word(out.says, from);
  return out;
}

} // namespace atelier::gpu
