#include "sql/parse_cache.h"

#include "sql/parser.h"

namespace diptych {
namespace {

// Longer texts are rows to insert, which come once.
constexpr size_t most_text_bytes = 4096;
constexpr size_t most_trees = 64;

}  // namespace

std::shared_ptr<const syntax::Statement> ParseCache::parse(std::string_view text) {
  std::string key(text);
  if (const auto known = trees_.find(key); known != trees_.end()) return known->second;
  std::optional<syntax::Statement> tree = parse_statement(text);
  if (!tree) return nullptr;
  auto kept = std::make_shared<const syntax::Statement>(std::move(*tree));
  if (text.size() > most_text_bytes) return kept;
  // A start from nothing now and then costs less than keeping account of who was used when.
  if (trees_.size() >= most_trees) trees_.clear();
  trees_.emplace(std::move(key), kept);
  return kept;
}

}  // namespace diptych
