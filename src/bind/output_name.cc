#include "bind/select_binder.h"

namespace diptych {

namespace {

// A name, and how strongly it holds: a cast gives way to the name of what it casts only when that is a real one
// (PostgreSQL, FigureColnameInternal).
struct Name {
  std::string text;
  int strength = 0;
};

class OutputName {
 public:
  static Name of(const syntax::Expression& e) {
    return std::visit([](const auto& node) { return name(node); }, e.node);
  }

 private:
  static Name name(const syntax::ColumnName& node) { return {node.parts.back(), 2}; }
  static Name name(const syntax::Call& node) { return {node.name, 2}; }
  static Name name(const syntax::NullIf&) { return {"nullif", 2}; }
  static Name name(const syntax::Coalesce&) { return {"coalesce", 2}; }
  static Name name(const syntax::MinMax& node) { return {node.greatest ? "greatest" : "least", 2}; }
  static Name name(const syntax::CurrentTime& node) { return {node.name, 2}; }
  static Name name(const syntax::Cast& node) {
    const Name inner = of(*node.arg);
    return inner.strength > 1 ? inner : Name{node.type.name, 1};
  }
  static Name name(const syntax::Collate& node) { return of(*node.arg); }
  static Name name(const syntax::Case& node) {
    const Name inner = node.otherwise ? of(*node.otherwise) : Name{};
    return inner.strength > 1 ? inner : Name{"case", 1};
  }
  template <typename Node>
  static Name name(const Node&) {
    return {};
  }
};

}  // namespace

std::string output_name(const syntax::Expression& e) {
  const Name name = OutputName::of(e);
  return name.text.empty() ? "?column?" : name.text;
}

}  // namespace diptych
