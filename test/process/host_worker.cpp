// SPDX-License-Identifier: Apache-2.0
#include <process/host_code.hpp>

/// The worker program of the tests' host.
int main(int count, char** arguments) {
  return atelier::process_main(count, arguments, atelier::test::worker_code());
}
