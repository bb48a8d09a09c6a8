// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/judge/discriminator_net.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/training/export_model.hpp>

#include <boost/test/unit_test.hpp>
#include <process/judge_folder.hpp>

namespace atelier::test {

void write_judge(const std::filesystem::path& folder) {
  using namespace gpu;
  torch::manual_seed(3);
  const discriminator_net judge{family_discriminator()};
  network_export out;
  out.config = discriminator_config_text();
  out.texts = tokenizer_texts(caption_vocabulary(), family_tokens);
  out.weights = std::make_shared<module_state>(state_of(judge));
  const auto written = export_network(out, folder);
  BOOST_REQUIRE_MESSAGE(written, (written ? "" : written.why().text));
}

} // namespace atelier::test
