// SPDX-License-Identifier: Apache-2.0
#include "install/host/thread_limit.hpp"
#include "scratch_folder.hpp"
#include "support/eventually.hpp"
#include <atelier/runtime/cli/serve.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <filesystem>
#include <future>
#include <sstream>
#include <thread>
#include <utility>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

/// A wish to stop that another thread may make.
class one_wish final : public interruption {
public:
  int count() const override {
    return wishes_;
  }

  wakeup& signal() override {
    return woken_;
  }

  void make() {
    ++wishes_;
    woken_.wake();
  }

private:
  std::atomic<int> wishes_ = 0;
  wakeup woken_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(serve_threads_test)

BOOST_AUTO_TEST_CASE(a_server_ends_well_where_no_thread_can_start) {
  const test::scratch_folder data;
  one_wish wish;
  serve_arguments how;
  how.listen = "127.0.0.1:0";
  how.processes = "single";
  common_arguments common;
  common.data = data.path.string();
  common.set = {"devices=[{name='cpu:0',executor='test_card'}]",
                "log.level='off'"};
  std::packaged_task<exit_status()> server{[&] {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    environment world{{in, out, err, 0}, wish, {}, "1.2.3", {}};
    return serve(how, common, world);
  }};
  auto ended = server.get_future();
  std::thread runs{std::move(server)};
  BOOST_TEST(test::eventually(
    [&] { return std::filesystem::exists(data.path / "server.json"); }));
  allow_threads(0);
  wish.make();
  BOOST_TEST((ended.get() == exit_status::done));
  allow_threads(unlimited);
  runs.join();
}

BOOST_AUTO_TEST_SUITE_END()
