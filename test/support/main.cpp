// SPDX-License-Identifier: Apache-2.0
// The main() of every Boost.Test executable.
#define BOOST_TEST_MODULE atelier
#include <boost/test/unit_test.hpp>
