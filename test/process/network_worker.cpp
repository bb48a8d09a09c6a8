// SPDX-License-Identifier: Apache-2.0
#include <atelier/extensions.hpp>

#include <gpu/device_network.hpp>

/// The worker program of a host whose stage runs a network on the devices.
int main(int count, char** arguments) {
  atelier::extensions own;
  own.stages = {atelier::test::softening()};
  return atelier::process_main(count, arguments, own);
}
