// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/quality/caption_score.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace atelier::gpu {

namespace {

constexpr size_t missing = SIZE_MAX;

struct assignment {
  // For each object of the caption: the number of the image's object, or
  // `missing`.
  std::vector<size_t> of;
};

template <class T, class U>
void count(score_count& to, const std::optional<T>& said, const U& shown) {
  if (!said)
    return;
  ++to.said;
  if (shown == *said)
    ++to.right;
}

bool relation_right(const described_relation& x, const seen_image& shown,
                    const assignment& by) {
  std::array<scene_point, 3> at;
  const std::array<size_t, 3> who{x.subject, x.first, x.second};
  for (auto i = size_t{0}; i < 3; ++i) {
    if (who[i] >= by.of.size() || by.of[who[i]] == missing)
      return false;
    at[i] = shown.objects[by.of[who[i]]].centre;
  }
  return holds(x.kind, at[0], at[1], at[2], relation_rule::tolerant);
}

caption_score score(const seen_image& shown, const description& said,
                    const assignment& by) {
  caption_score out;
  std::vector<bool> relations_right(said.objects.size(), true);
  for (const auto& x : said.relations) {
    const auto right = relation_right(x, shown, by);
    ++out.relations.said;
    if (right)
      ++out.relations.right;
    else if (x.subject < relations_right.size())
      relations_right[x.subject] = false;
  }
  // Nothing that the caption says of a missing object is right.
  static const seen_object nothing;
  for (auto i = size_t{0}; i < said.objects.size(); ++i) {
    const auto& want = said.objects[i];
    const auto there = by.of[i] != missing;
    const auto& is = there ? shown.objects[by.of[i]] : nothing;
    caption_score own;
    ++own.shapes.said;
    if (is.shape == want.shape)
      ++own.shapes.right;
    count(own.colours, want.colour, is.colour);
    count(own.sizes, want.size, is.size);
    count(own.textures, want.texture, is.texture);
    count(own.places, want.place, is.place);
    if (!there)
      for (auto* x :
           {&own.shapes, &own.colours, &own.sizes, &own.textures, &own.places})
        x->right = 0;
    const auto all = [](const score_count& x) { return x.right == x.said; };
    const auto main = all(own.shapes) && all(own.colours) && all(own.places)
                   && relations_right[i];
    own.main = {1, main ? 1u : 0u};
    own.objects = {1, main && all(own.sizes) && all(own.textures) ? 1u : 0u};
    out += own;
  }
  out.counts = {1, shown.objects.size() == said.objects.size() ? 1u : 0u};
  if (const auto& want = said.background) {
    const auto& is = shown.background;
    out.backgrounds = {1, is && is->from == want->from && is->to == want->to
                              && (!want->grade || is->grade == *want->grade)
                            ? 1u
                            : 0u};
  }
  const auto right = [](const score_count& x) { return x.right == x.said; };
  out.images = {1, right(out.objects) && right(out.relations)
                       && right(out.counts) && right(out.backgrounds)
                     ? 1u
                     : 0u};
  return out;
}

// Ranks first by the number of right objects, then by that of right statements.
auto rank(const caption_score& x) {
  return std::tuple{x.objects.right, x.main.right, x.relations.right,
                    x.shapes.right + x.colours.right + x.places.right,
                    x.sizes.right + x.textures.right};
}

void try_all(const seen_image& shown, const description& said,
             size_t candidates, assignment& so_far, caption_score& best,
             bool& any) {
  if (so_far.of.size() == said.objects.size()) {
    const auto next = score(shown, said, so_far);
    if (!any || rank(next) > rank(best))
      best = next;
    any = true;
    return;
  }
  // No scene has more objects; a longer text must not cost all permutations.
  const auto first = so_far.of.size() < most_objects ? size_t{0} : candidates;
  for (auto i = first; i <= candidates; ++i) {
    const auto object = i == candidates ? missing : i;
    if (object != missing
        && std::ranges::find(so_far.of, object) != so_far.of.end())
      continue;
    so_far.of.push_back(object);
    try_all(shown, said, candidates, so_far, best, any);
    so_far.of.pop_back();
  }
}

} // namespace

caption_score& caption_score::operator+=(const caption_score& x) {
  objects += x.objects;
  main += x.main;
  shapes += x.shapes;
  colours += x.colours;
  sizes += x.sizes;
  textures += x.textures;
  places += x.places;
  relations += x.relations;
  backgrounds += x.backgrounds;
  counts += x.counts;
  images += x.images;
  return *this;
}

caption_score score_image(const seen_image& shown, const description& said) {
  caption_score best;
  auto any = false;
  assignment none;
  // The image's objects are sorted, largest first: the rest is debris.
  constexpr size_t most_candidates = 6;
  try_all(shown, said, std::min(shown.objects.size(), most_candidates), none,
          best, any);
  return best;
}

} // namespace atelier::gpu
