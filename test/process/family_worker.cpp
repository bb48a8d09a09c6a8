// SPDX-License-Identifier: Apache-2.0
#include <atelier/extensions.hpp>

#include <process/host_family.hpp>

/// The worker program of a host with a family of models.
int main(int count, char** arguments) {
  atelier::extensions own;
  own.families = {atelier::test::host_family()};
  return atelier::process_main(count, arguments, own);
}
