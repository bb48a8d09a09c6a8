// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/scene_answers.hpp>
#include <atelier/training/loops/scorer_batch.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <algorithm>

namespace atelier::gpu {

scorer_batch draw_scorer_batch(uint64_t seed, uint64_t number,
                               const scorer_batch_shape& shape) {
  auto from = data_stream(seed, data_use::pairs, number);
  scorer_batch out;
  std::vector<description> said;
  std::vector<std::vector<int64_t>> rows;
  const auto add = [&](const std::string& text, const description& says) {
    const auto ids = encode_caption(text, family_tokens).ids;
    rows.emplace_back(ids.begin(), ids.end());
    const auto end = std::ranges::find(rows.back(), bpe_vocabulary::end_id);
    out.tokens = std::max<int64_t>(out.tokens, end - rows.back().begin() + 1);
    said.push_back(says);
  };
  for (uint32_t i = 0; i < shape.scenes; ++i) {
    const auto what = draw_scene(from);
    out.scenes.push_back(what);
    const auto says = describe(what, from);
    const auto note = [](std::vector<int64_t>& to,
                         const std::vector<int64_t>& answers) {
      to.insert(to.end(), answers.begin(), answers.end());
    };
    note(out.shown, scene_answers(what));
    note(out.said, scene_answers(says));
    note(out.patches, patch_answers(what, shape.patches));
    const auto words = from;
    add(word(says, from), says);
    const auto wrong =
      draw_wrong_captions(says, what, words, from, shape.texts - 1);
    for (const auto& x : wrong)
      add(x.text, x.says);
    // A caption that says little has few wrong variants: repeat the last one.
    for (auto k = wrong.size() + 1; k < shape.texts; ++k) {
      rows.push_back(rows.back());
      said.push_back(said.back());
    }
  }
  for (const auto& row : rows)
    out.ids.insert(out.ids.end(), row.begin(), row.begin() + out.tokens);
  for (uint32_t i = 0; i < shape.scenes; ++i)
    for (uint32_t k = 0; k < said.size(); ++k)
      out.also_true.push_back(k != i * shape.texts
                              && is_true(said[k], out.scenes[i]));
  return out;
}

} // namespace atelier::gpu
