// SPDX-License-Identifier: Apache-2.0
// The main() of every Boost.Test executable.
#define BOOST_TEST_MODULE atelier
#include <boost/test/unit_test.hpp>

#include <cstdlib>

namespace {

// Tests use only models that they make, not those that are installed nearby.
[[maybe_unused]] const int no_models = setenv("ATELIER_MODELS", "", 0);

} // namespace
