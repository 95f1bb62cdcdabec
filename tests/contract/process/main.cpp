// A participant of the contract suite in a process of its own: one command a line on standard
// input, its answers on standard output. Ends at the end of the input.
#include <iostream>

#include "actor.hpp"

int main() {
  contract::actor actor;
  const auto say = [](const std::string& text) { std::cout << text << std::endl; };
  for (std::string line; std::getline(std::cin, line);) actor.obey(line, say);
}
