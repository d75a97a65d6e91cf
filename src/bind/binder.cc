#include "bind/binder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/stack.h"
#include "base/suggestion.h"
#include "bind/file_options.h"
#include "bind/select_binder.h"
#include "bind/table_binder.h"

namespace diptych {

namespace {

bool is_explainable(const BoundStatement& bound) {
  if (const auto* create = std::get_if<BoundCreateTable>(&bound.statement)) return create->query || create->exists;
  return std::holds_alternative<LogicalOperatorPtr>(bound.statement) ||
         std::holds_alternative<BoundInsert>(bound.statement) || std::holds_alternative<BoundChange>(bound.statement) ||
         std::holds_alternative<BoundCopyFrom>(bound.statement) || std::holds_alternative<BoundCopyTo>(bound.statement);
}

LogicalOperatorPtr* query_in(LogicalOperatorPtr& query) { return query ? &query : nullptr; }

// Calls visit(LogicalOperator&) on every scan of a table.
template <typename Visit>
void for_each_table(BoundStatement& statement, Visit&& visit) {
  LogicalOperatorPtr* query = query_of(statement);
  if (query == nullptr) return;
  run_at_depth((*query)->depth, [&] {
    for_each_operator(*query, [&](LogicalOperatorPtr& op) {
      if (op->scan_of == ScanOf::Table) visit(*op);
    });
  });
}

class StatementBinder {
 public:
  StatementBinder(const BindContext& context, int depth) : state_{context, context.parameters, false, depth} {}

  BoundStatement run(const syntax::Statement& statement) {
    BoundStatement result;
    std::visit([&](const auto& node) { result.statement = bind(node, statement.position); }, statement.node);
    result.parameters = state_.parameters;
    result.reads_clock = state_.reads_clock;
    // A parameter that nothing gave a type is text, as an output would be.
    for (Type& type : result.parameters)
      if (type.id == TypeId::Null) type = {TypeId::Text};
    return result;
  }

 private:
  LogicalOperatorPtr bind(const syntax::Select& node, int) { return bind_select(node, state_); }
  BoundCreateTable bind(const syntax::CreateTable& node, int) { return bind_create_table(node, state_); }
  BoundCreateView bind(const syntax::CreateView& node, int) { return bind_create_view(node, state_); }
  BoundInsert bind(const syntax::Insert& node, int) { return bind_insert(node, state_); }
  BoundChange bind(const syntax::Change& node, int) { return bind_change(node, state_); }

  BoundDropTable bind(const syntax::DropTable& node, int) {
    const std::string kind = node.drops_views ? "view" : "table", other = node.drops_views ? "TABLE" : "VIEW";
    BoundDropTable result;
    result.drops_views = node.drops_views;
    for (const syntax::TableName& table : node.tables) {
      const CatalogSnapshot& catalog = state_.catalog_of(table);
      const auto found = catalog.find_table(table.name);
      const bool is_view = catalog.find_view(table.name) != nullptr;
      if (node.drops_views ? is_view : found != nullptr) {
        const TableAddress address{table.name, found != nullptr && found->definition().is_temporary};
        if (std::ranges::find(result.dropped, address) == result.dropped.end()) result.dropped.push_back(address);
      } else if (found != nullptr || is_view) {
        throw Error(SqlState::wrong_object_type, "\"" + table.name + "\" is not a " + kind, table.position,
                    "Use DROP " + other + ".");
      } else if (!node.if_exists) {
        throw Error(SqlState::undefined_table, kind + " \"" + table.name + "\" does not exist", table.position,
                    suggest(table.name, node.drops_views ? catalog.view_names() : catalog.table_names()));
      }
    }
    return result;
  }

  decltype(BoundStatement::statement) bind(const syntax::Copy& node, int) {
    if (node.is_from) return bind_copy_from(node, state_);
    return bind_copy_to(node, state_);
  }

  BoundExplain bind(const syntax::Explain& node, int) {
    BoundExplain result;
    result.what = node.analyze ? BoundExplain::What::Analyze : BoundExplain::What::Plan;
    if (node.kernel) result.what = BoundExplain::What::Kernel;
    result.json = node.json;
    result.statement = std::make_unique<BoundStatement>();
    BoundStatement& inner = *result.statement;
    const int position = node.statement->position;
    std::visit([&](const auto& statement) { inner.statement = bind(statement, position); }, node.statement->node);
    if (!is_explainable(inner)) {
      throw Error(SqlState::feature_not_supported, "EXPLAIN of this statement is not supported yet", position);
    }
    return result;
  }

  // The session knows the settings, and checks names and values.
  BoundSet bind(const syntax::Set& node, int) { return {node.name, node.value}; }
  BoundShow bind(const syntax::Show& node, int) { return {node.name}; }
  BoundTransaction bind(const syntax::Transaction& node, int) { return node; }
  BoundCheckpoint bind(const syntax::Checkpoint& node, int) { return node; }

  BoundDescribe bind(const syntax::Describe& node, int) {
    const syntax::Select& query = *node.query;
    const auto* table = query.from.size() == 1 ? std::get_if<syntax::TableName>(&query.from[0].source) : nullptr;
    const bool is_whole_table = table && query.items.size() == 1 && query.items[0].position < 0;
    if (is_whole_table && !state_.catalog_of(*table).find_view(table->name))
      return {find_table(*table, state_)->definition()};
    BoundDescribe result;
    for (const ColumnDefinition& column : output_columns(*bind_select(query, state_)))
      result.definition.columns.push_back({column.name, column.type, false, ""});
    return result;
  }

  StatementState state_;
};

}  // namespace

BoundStatement bind(const syntax::Statement& statement, const BindContext& context) {
  BoundStatement result;
  run_at_depth(statement.depth, [&] { result = StatementBinder(context, statement.depth).run(statement); });
  return result;
}

LogicalOperatorPtr* query_of(BoundStatement& statement) {
  if (auto* query = std::get_if<LogicalOperatorPtr>(&statement.statement)) return query_in(*query);
  if (auto* insert = std::get_if<BoundInsert>(&statement.statement)) return query_in(insert->query);
  if (auto* change = std::get_if<BoundChange>(&statement.statement)) return query_in(change->query);
  if (auto* copy = std::get_if<BoundCopyTo>(&statement.statement)) return query_in(copy->query);
  if (auto* create = std::get_if<BoundCreateTable>(&statement.statement)) return query_in(create->query);
  if (auto* explain = std::get_if<BoundExplain>(&statement.statement)) return query_of(*explain->statement);
  return nullptr;
}

void release_tables(BoundStatement& statement) {
  for_each_table(statement, [](LogicalOperator& scan) { scan.source.reset(); });
}

void take_tables(BoundStatement& statement, const CatalogSnapshot& catalog) {
  for_each_table(statement, [&](LogicalOperator& scan) {
    scan.source = find_table(catalog, TableAddress{scan.source_name, scan.is_temporary});
  });
}

}  // namespace diptych
