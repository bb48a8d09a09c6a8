// SPDX-License-Identifier: Apache-2.0
// Models whose files are lost while an engine runs.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;
namespace fs = std::filesystem;

namespace {

/// What happens to the weights of a model.
enum class loss { gone, cut, emptied, replaced, trained };

std::ostream& operator<<(std::ostream& out, loss x) {
  return out << static_cast<int>(x);
}

const auto losses = boost::unit_test::data::make(
  {loss::gone, loss::cut, loss::emptied, loss::replaced, loss::trained});

/// Two models on one device: one loses its weights, the other is well.
struct fixture {
  std::unique_ptr<engine> start(mode how, const std::string& memory) const {
    return test::start(
      how, {"models=[{name='frail',path='" + frail.path.string()
              + "'},{name='well',path='" + well.path.string() + "'}]",
            "devices=[{name='cpu:0',executor='torch',threads=1,"
            "variants=['frail@2','well@2']"
              + memory + "}]",
            "processes.restart_first_ms=1"});
  }

  fs::path weights() const {
    return frail.path / "unet/diffusion_pytorch_model.safetensors";
  }

  fs::path kept() const {
    return frail.path / "kept";
  }

  void lose(loss how) const {
    fs::copy_file(weights(), kept());
    const auto bytes = fs::file_size(weights());
    switch (how) {
      case loss::gone:
        fs::remove(weights());
        break;
      case loss::cut:
        fs::resize_file(weights(), bytes / 2);
        break;
      case loss::emptied:
        fs::resize_file(weights(), 0);
        break;
      case loss::replaced:
        fs::remove(weights());
        std::ofstream{weights()} << "<html>not found</html>";
        break;
      case loss::trained:
        // Another network of the same form, with the date of the first.
        fs::remove(weights());
        frail.write_unet(test::tiny_tensors("UNet2DConditionModel",
                                            test::tiny_unet_config(), 7));
        fs::last_write_time(weights(), fs::last_write_time(kept()));
        break;
    }
  }

  void restore() const {
    fs::rename(kept(), weights());
  }

  static answer ask(engine& to, const std::string& model) {
    generation x;
    x.prompt = "a";
    x.width = x.height = 32;
    x.seed = 1;
    x.model = model;
    auto got = test::hand_in(to, x);
    return test::await(got);
  }

  /// The frail model's requests are told why, the other's are answered, and the
  /// status names the variant.
  void check_lost(engine& sut) const {
    const auto refused = ask(sut, "frail");
    BOOST_TEST_REQUIRE(std::holds_alternative<failure>(refused));
    const auto& why = std::get<failure>(refused);
    BOOST_TEST(why.code == "unavailable");
    BOOST_TEST(why.text.find("frail@2 cannot be loaded: ") == 0u, why.text);
    BOOST_TEST(why.text.find(frail.path.string()) != std::string::npos,
               why.text);
    BOOST_TEST(test::code_of(ask(sut, "well")) == "");
    const auto s = sut.status();
    BOOST_TEST_REQUIRE(s.unloadable.size() == 1u);
    BOOST_TEST(s.unloadable[0].device == "cpu:0");
    BOOST_TEST(s.unloadable[0].variant == "frail@2");
  }

  void check_restored(engine& sut) const {
    restore();
    BOOST_TEST(test::eventually(
      [&] { return test::code_of(ask(sut, "frail")).empty(); }));
    BOOST_TEST(sut.status().unloadable.empty());
    BOOST_TEST(test::code_of(ask(sut, "well")) == "");
    BOOST_TEST(sut.stop(10s));
  }

  test::tiny_folder frail;
  test::tiny_folder well;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_lost_models_test, fixture)

BOOST_DATA_TEST_CASE(a_model_lost_before_it_is_loaded_on_demand,
                     losses* boost::unit_test::data::make({mode::single,
                                                           mode::split}),
                     what, how) {
  uint64_t bytes = 0;
  for (const auto* part : {&frail.unet, &frail.vae, &frail.text})
    for (const auto& x : part->list())
      bytes += x.tensor.bytes.size();
  // One model fits at a time.
  const auto mib = (bytes >> 20) + 1;
  BOOST_TEST_REQUIRE(2 * bytes > mib << 20);
  auto sut = start(how, ",memory_mib=" + std::to_string(mib));
  BOOST_TEST(test::code_of(ask(*sut, "well")) == "");
  lose(what);
  check_lost(*sut);
  check_restored(*sut);
}

BOOST_DATA_TEST_CASE(a_model_lost_before_its_process_is_started_again, losses,
                     what) {
  auto sut = start(mode::split, "");
  BOOST_TEST(test::code_of(ask(*sut, "frail")) == "");
  lose(what);
  kill(test::pid_of(*sut, "cpu:0"), SIGKILL);
  BOOST_TEST(test::code_of(ask(*sut, "well")) == "");
  check_lost(*sut);
  check_restored(*sut);
}

BOOST_DATA_TEST_CASE(a_model_that_is_damaged_at_the_start_ends_it,
                     boost::unit_test::data::make({mode::single, mode::split}),
                     how) {
  lose(loss::cut);
  const auto made = engine::start(test::options_of(
    how, {"models=[{name='frail',path='" + frail.path.string() + "'}]",
          "devices=[{name='cpu:0',executor='torch',variants=['frail@2']}]"}));
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  BOOST_TEST(std::get<failure>(made).text.find("frail") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
