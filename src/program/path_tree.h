// Which addresses of a section every path to an address passes: they are the ones above it in a tree.
//
//   1 jump to 4         1
//   2                  / \             4 is reached from 1 and 3: what both paths pass is 1 and what is above it
//   3                 2   4
//   4                 |
//                     3
//
// The tree of immediate dominators; as jumps only go forward, one pass in order of the addresses makes it (Cooper,
// Harvey and Kennedy, A Simple, Fast Dominance Algorithm, section 4). What is above an address is found in logarithmic
// time, by one far pointer a node (Myers, An Applicative Random-Access Stack, 1983).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace diptych {

class PathTree {
 public:
  // Addresses are 0 to before `count`; paths start at 0.
  explicit PathTree(size_t count) : nodes_(count) { nodes_[0] = {0, 0, 0}; }

  // A path leads from an address that is reached to a later one, whose paths are all added before one leads from it.
  void add_path(int32_t from, int32_t to) {
    Node& node = at(to);
    node.above = node.depth < 0 ? from : common(node.above, from);
    node.depth = at(node.above).depth + 1;
    const Node &above = at(node.above), &far = at(above.far);
    node.far = above.depth - far.depth == far.depth - at(far.far).depth ? far.far : node.above;
  }
  bool is_reached(int32_t address) const { return at(address).depth >= 0; }
  // The last that every path to a reached address passes before it.
  int32_t above(int32_t address) const { return at(address).above; }
  // Of two that are reached.
  bool every_path_passes(int32_t address, int32_t passed) const { return climb(address, at(passed).depth) == passed; }

 private:
  struct Node {
    int32_t above = 0, far = 0;
    int32_t depth = -1;  // -1: not reached
  };

  Node& at(int32_t address) { return nodes_[static_cast<size_t>(address)]; }
  const Node& at(int32_t address) const { return nodes_[static_cast<size_t>(address)]; }

  int32_t climb(int32_t address, int32_t depth) const {
    while (at(address).depth > depth)
      address = at(at(address).far).depth >= depth ? at(address).far : at(address).above;
    return address;
  }
  int32_t common(int32_t a, int32_t b) const {
    const int32_t depth = std::min(at(a).depth, at(b).depth);
    a = climb(a, depth);
    b = climb(b, depth);
    while (a != b) {
      const bool is_far = at(a).far != at(b).far;
      a = is_far ? at(a).far : at(a).above;
      b = is_far ? at(b).far : at(b).above;
    }
    return a;
  }

  std::vector<Node> nodes_;
};

}  // namespace diptych
