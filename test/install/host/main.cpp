// SPDX-License-Identifier: Apache-2.0
#include <atelier/atelier.hpp>

#include <iostream>

int main() {
  std::cout << atelier::version() << '\n';
}
