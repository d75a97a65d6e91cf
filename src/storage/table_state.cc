#include "storage/table_state.h"

namespace diptych {

TableDictionaries::TableDictionaries(const TableDefinition& definition) {
  for (const TableColumn& column : definition.columns) {
    bool is_text = column.type.physical() == PhysicalType::Text;
    columns.push_back(is_text ? std::make_unique<Dictionary>() : nullptr);
  }
}

std::vector<Dictionary*> TableDictionaries::all() const {
  std::vector<Dictionary*> result;
  for (const auto& dictionary : columns) result.push_back(dictionary.get());
  return result;
}

std::vector<ColumnDefinition> TableState::column_definitions() const {
  std::vector<ColumnDefinition> result;
  for (const TableColumn& column : definition.columns) result.push_back({column.name, column.type});
  return result;
}

TableState make_table(TableDefinition definition, int64_t tablet_rows) {
  TableState state;
  state.definition = std::move(definition);
  for (size_t column : state.definition.primary_key) state.definition.columns[column].not_null = true;
  state.tablet_rows = tablet_rows;
  state.dictionaries = std::make_shared<TableDictionaries>(state.definition);
  state.segments.resize(state.definition.columns.size());
  return state;
}

}  // namespace diptych
