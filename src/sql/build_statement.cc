#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sql/tree_builder.h"

namespace diptych {

namespace {

// Where a DEFAULT expression can end: what may come after it in a column definition. Its own operators are none of
// these at its top level (grammar: b_expr).
bool ends_default(PgQuery__Token kind) {
  switch (kind) {
    case PG_QUERY__TOKEN__ASCII_44:
    case PG_QUERY__TOKEN__NOT:
    case PG_QUERY__TOKEN__PRIMARY:
    case PG_QUERY__TOKEN__UNIQUE:
    case PG_QUERY__TOKEN__CHECK:
    case PG_QUERY__TOKEN__REFERENCES:
    case PG_QUERY__TOKEN__CONSTRAINT:
    case PG_QUERY__TOKEN__COLLATE:
    case PG_QUERY__TOKEN__GENERATED:
    case PG_QUERY__TOKEN__DEFERRABLE:
    case PG_QUERY__TOKEN__INITIALLY:
    case PG_QUERY__TOKEN__DEFAULT: return true;
    default: return false;
  }
}

bool is_symbol(PgQuery__Token kind) {
  return kind < PG_QUERY__TOKEN__IDENT || kind == PG_QUERY__TOKEN__Op || kind == PG_QUERY__TOKEN__TYPECAST;
}

// Index of the token after the expression that starts at token `first`.
size_t end_of_default(const std::vector<Token>& tokens, size_t first) {
  int brackets = 0;
  size_t i = first;
  for (; i < tokens.size(); ++i) {
    const PgQuery__Token kind = tokens[i].kind;
    if (kind == PG_QUERY__TOKEN__ASCII_40 || kind == PG_QUERY__TOKEN__CASE) ++brackets;
    if (kind == PG_QUERY__TOKEN__ASCII_41 || kind == PG_QUERY__TOKEN__END_P) --brackets;
    if (brackets < 0) break;
    if (brackets > 0 || i == first) continue;
    if (kind == PG_QUERY__TOKEN__NULL_P && !is_symbol(tokens[i - 1].kind)) break;
    if (ends_default(kind) && tokens[i - 1].kind != PG_QUERY__TOKEN__IS) break;
  }
  return i;
}

bool is_option_true(const syntax::Option& option) {
  return !option.has_value || option.value == "true" || option.value == "on" || option.value == "1";
}

}  // namespace

void TreeBuilder::refuse(std::string_view what, int position) const {
  throw Error(SqlState::feature_not_supported, std::string(what) + " is not supported yet", position);
}

int TreeBuilder::find_token(std::initializer_list<PgQuery__Token> kinds, int from) const {
  for (const Token& token : tokens_) {
    if (token.begin >= from && std::find(kinds.begin(), kinds.end(), token.kind) != kinds.end()) return token.begin;
  }
  return -1;
}

int TreeBuilder::find_name(std::string_view name, int from) const {
  for (const Token& token : tokens_) {
    if (token.begin < from || (token.kind != PG_QUERY__TOKEN__IDENT && !token.is_keyword)) continue;
    const size_t length = static_cast<size_t>(token.end - token.begin);
    std::string word = statement_.text.substr(static_cast<size_t>(token.begin), length);
    if (word.front() == '"') {
      word = word.substr(1, word.size() - 2);
    } else {
      std::transform(word.begin(), word.end(), word.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    }
    if (word == name) return token.begin;
  }
  return -1;
}

syntax::Statement TreeBuilder::statement(const PgQuery__Node& node) {
  syntax::Statement result;
  const Token& first = tokens_.front();
  result.position = first.begin;
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
      if (statement_.describes) {
        result.node = syntax::Describe{select_of(node)};
      } else {
        result.node = select(*node.select_stmt);
      }
      break;
    case PG_QUERY__NODE__NODE_CREATE_STMT: result.node = create_table(*node.create_stmt); break;
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT: result.node = create_table_as(*node.create_table_as_stmt); break;
    case PG_QUERY__NODE__NODE_DROP_STMT: result.node = drop_table(*node.drop_stmt); break;
    case PG_QUERY__NODE__NODE_INSERT_STMT: result.node = insert(*node.insert_stmt); break;
    case PG_QUERY__NODE__NODE_COPY_STMT: result.node = copy(*node.copy_stmt); break;
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT: result.node = explain(*node.explain_stmt); break;
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT: result.node = set(*node.variable_set_stmt); break;
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT: result.node = syntax::Show{node.variable_show_stmt->name}; break;
    default: {
      std::string word =
          statement_.text.substr(static_cast<size_t>(first.begin), static_cast<size_t>(first.end - first.begin));
      std::transform(word.begin(), word.end(), word.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      const bool names_object = word == "CREATE" || word == "DROP" || word == "ALTER";
      refuse(names_object ? "this form of " + word : word, first.begin);
    }
  }
  return result;
}

syntax::TableName TreeBuilder::table_name(const PgQuery__RangeVar& node) {
  if (node.catalogname && *node.catalogname) refuse("a database name before a table", node.location);
  const std::string_view schema = node.schemaname ? node.schemaname : "";
  if (!schema.empty() && schema != "public" && schema != "main") {
    throw Error(SqlState::undefined_table, "schema \"" + std::string(schema) + "\" does not exist", node.location,
                "There are no schemas: leave it out.");
  }
  return {node.relname, node.location};
}

syntax::CreateTable TreeBuilder::create_table(const PgQuery__CreateStmt& node) {
  syntax::CreateTable result;
  result.table = table_name(*node.relation);
  result.if_not_exists = node.if_not_exists;
  if (std::string_view(node.relation->relpersistence) != "p")
    refuse("TEMPORARY or UNLOGGED",
           find_token({PG_QUERY__TOKEN__TEMPORARY, PG_QUERY__TOKEN__TEMP, PG_QUERY__TOKEN__UNLOGGED}));
  if (node.n_inh_relations > 0) refuse("INHERITS", find_token({PG_QUERY__TOKEN__INHERITS}));
  if (node.partbound || node.partspec) refuse("PARTITION", find_token({PG_QUERY__TOKEN__PARTITION}));
  if (node.of_typename) refuse("OF", find_token({PG_QUERY__TOKEN__OF}));
  if (node.n_options > 0) refuse("WITH", find_token({PG_QUERY__TOKEN__WITH}));
  for (size_t i = 0; i < node.n_table_elts; ++i) {
    const PgQuery__Node& element = *node.table_elts[i];
    if (element.node_case == PG_QUERY__NODE__NODE_COLUMN_DEF) {
      result.columns.push_back(column_definition(*element.column_def));
    } else if (element.node_case == PG_QUERY__NODE__NODE_CONSTRAINT) {
      add_table_constraint(result, *element.constraint);
    } else {
      refuse("LIKE", find_token({PG_QUERY__TOKEN__LIKE}));
    }
  }
  return result;
}

void TreeBuilder::add_table_constraint(syntax::CreateTable& table, const PgQuery__Constraint& node) {
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_CHECK) refuse("CHECK", node.location);
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE) refuse("UNIQUE", node.location);
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN) refuse("FOREIGN KEY", node.location);
  if (node.contype != PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY) refuse("this constraint", node.location);
  if (!table.primary_key.empty()) {
    throw Error(SqlState::invalid_table_definition,
                "multiple primary keys for table \"" + table.table.name + "\" are not allowed", node.location);
  }
  table.primary_key_position = node.location;
  for (size_t i = 0; i < node.n_keys; ++i) table.primary_key.emplace_back(node.keys[i]->string->sval);
}

syntax::ColumnDefinition TreeBuilder::column_definition(const PgQuery__ColumnDef& node) {
  syntax::ColumnDefinition result;
  result.name = node.colname;
  result.position = node.location;
  result.type = type_name(*node.type_name);
  if (node.coll_clause) check_collation(*node.coll_clause);
  result.not_null = node.is_not_null;
  for (size_t i = 0; i < node.n_constraints; ++i) add_column_constraint(result, *node.constraints[i]->constraint);
  return result;
}

void TreeBuilder::add_column_constraint(syntax::ColumnDefinition& column, const PgQuery__Constraint& node) {
  switch (node.contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_NULL: break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL: column.not_null = true; break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY: column.primary_key = true; break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT: {
      const auto keyword = std::find_if(tokens_.begin(), tokens_.end(),
                                        [&](const Token& token) { return token.begin == node.location; });
      check_invariant(keyword != tokens_.end() && keyword + 1 != tokens_.end(),
                      "DEFAULT is followed by its expression");
      const size_t first = static_cast<size_t>(keyword - tokens_.begin()) + 1;
      const size_t end = end_of_default(tokens_, first);
      column.default_position = tokens_[first].begin;
      column.default_sql = statement_.text.substr(static_cast<size_t>(tokens_[first].begin),
                                                  static_cast<size_t>(tokens_[end - 1].end - tokens_[first].begin));
      break;
    }
    case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK: refuse("CHECK", node.location);
    case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE: refuse("UNIQUE", node.location);
    case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN: refuse("REFERENCES", node.location);
    default: refuse("this constraint", node.location);
  }
}

syntax::CreateTable TreeBuilder::create_table_as(const PgQuery__CreateTableAsStmt& node) {
  if (node.objtype != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE) refuse("a materialized view", tokens_.front().begin);
  if (node.is_select_into) refuse("SELECT INTO", find_token({PG_QUERY__TOKEN__INTO}));
  syntax::CreateTable result;
  result.table = table_name(*node.into->rel);
  if (std::string_view(node.into->rel->relpersistence) != "p")
    refuse("TEMPORARY or UNLOGGED",
           find_token({PG_QUERY__TOKEN__TEMPORARY, PG_QUERY__TOKEN__TEMP, PG_QUERY__TOKEN__UNLOGGED}));
  if (node.into->n_options > 0) refuse("WITH", find_token({PG_QUERY__TOKEN__WITH}));
  if (node.into->skip_data) refuse("WITH NO DATA", find_token({PG_QUERY__TOKEN__DATA_P}));
  result.if_not_exists = node.if_not_exists;
  for (size_t i = 0; i < node.into->n_col_names; ++i)
    result.column_names.emplace_back(node.into->col_names[i]->string->sval);
  result.query = select_of(*node.query);
  return result;
}

syntax::DropTable TreeBuilder::drop_table(const PgQuery__DropStmt& node) {
  if (node.remove_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE)
    refuse("DROP of anything but a table", tokens_.front().begin);
  syntax::DropTable result;
  result.if_exists = node.missing_ok;
  int from = find_token({PG_QUERY__TOKEN__TABLE});
  for (size_t i = 0; i < node.n_objects; ++i) {
    const std::string name = last_name(node.objects[i]->list->n_items, node.objects[i]->list->items);
    from = find_name(name, from + 1);
    result.tables.push_back({name, from});
  }
  return result;
}

syntax::Insert TreeBuilder::insert(const PgQuery__InsertStmt& node) {
  if (node.with_clause) refuse("WITH", node.with_clause->location);
  if (node.on_conflict_clause) refuse("ON CONFLICT", node.on_conflict_clause->location);
  if (node.n_returning_list > 0) refuse("RETURNING", find_token({PG_QUERY__TOKEN__RETURNING}));
  if (node.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE ||
      node.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE) {
    refuse("OVERRIDING", find_token({PG_QUERY__TOKEN__OVERRIDING}));
  }
  syntax::Insert result;
  result.table = table_name(*node.relation);
  for (size_t i = 0; i < node.n_cols; ++i) {
    const PgQuery__ResTarget& column = *node.cols[i]->res_target;
    if (column.n_indirection > 0) refuse("a subscript or field selection", column.location);
    result.columns.push_back({column.name, column.location});
  }
  if (node.select_stmt) result.query = select_of(*node.select_stmt);
  return result;
}

syntax::Option TreeBuilder::option(const PgQuery__DefElem& node) {
  syntax::Option result;
  result.name = node.defname;
  result.position = node.location;
  if (!node.arg) return result;
  result.has_value = true;
  switch (node.arg->node_case) {
    case PG_QUERY__NODE__NODE_STRING: result.value = node.arg->string->sval; break;
    case PG_QUERY__NODE__NODE_INTEGER: result.value = std::to_string(node.arg->integer->ival); break;
    case PG_QUERY__NODE__NODE_FLOAT: result.value = node.arg->float_->fval; break;
    case PG_QUERY__NODE__NODE_BOOLEAN: result.value = node.arg->boolean->boolval ? "true" : "false"; break;
    case PG_QUERY__NODE__NODE_TYPE_NAME:
      result.value = last_name(node.arg->type_name->n_names, node.arg->type_name->names);
      break;
    default: refuse("option " + result.name, node.location);
  }
  return result;
}

syntax::Copy TreeBuilder::copy(const PgQuery__CopyStmt& node) {
  if (node.is_program) refuse("PROGRAM", find_token({PG_QUERY__TOKEN__PROGRAM}));
  if (node.where_clause) refuse("WHERE in COPY", find_token({PG_QUERY__TOKEN__WHERE}));
  if (!node.filename || !*node.filename)
    refuse("COPY from STDIN or to STDOUT", find_token({PG_QUERY__TOKEN__STDIN, PG_QUERY__TOKEN__STDOUT}));
  syntax::Copy result;
  result.is_from = node.is_from;
  result.path = node.filename;
  if (node.query) {
    result.query = select_of(*node.query);
  } else {
    result.table = table_name(*node.relation);
  }
  int from = result.table.position;
  for (size_t i = 0; i < node.n_attlist; ++i) {
    const std::string name = node.attlist[i]->string->sval;
    from = find_name(name, from + 1);
    result.columns.push_back({name, from});
  }
  for (size_t i = 0; i < node.n_options; ++i) result.options.push_back(option(*node.options[i]->def_elem));
  return result;
}

syntax::Explain TreeBuilder::explain(const PgQuery__ExplainStmt& node) {
  syntax::Explain result;
  result.kernel = statement_.explains_kernel;
  for (size_t i = 0; i < node.n_options; ++i) {
    const syntax::Option given = option(*node.options[i]->def_elem);
    if (given.name == "analyze") {
      result.analyze = is_option_true(given);
    } else if (given.name == "kernel") {
      result.kernel = is_option_true(given);
    } else if (given.name != "verbose" && given.name != "costs" && given.name != "timing") {
      refuse("EXPLAIN option " + given.name, given.position);
    }
  }
  result.statement = std::make_unique<syntax::Statement>(statement(*node.query));
  return result;
}

syntax::Set TreeBuilder::set(const PgQuery__VariableSetStmt& node) {
  if (node.is_local) refuse("SET LOCAL", find_token({PG_QUERY__TOKEN__LOCAL}));
  syntax::Set result;
  result.name = node.name ? node.name : "";
  switch (node.kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE: break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET: return result;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL: result.name = "all"; return result;
    default: refuse("this form of SET", tokens_.front().begin);
  }
  if (node.n_args != 1)
    throw Error(SqlState::invalid_parameter_value, "SET " + result.name + " takes only one argument");
  const syntax::ExpressionPtr value = expression(*node.args[0]);
  if (const auto* text = std::get_if<syntax::StringLiteral>(&value->node)) {
    result.value = text->text;
  } else if (const auto* integer = std::get_if<syntax::IntegerLiteral>(&value->node)) {
    result.value = std::to_string(integer->value);
  } else if (const auto* number = std::get_if<syntax::NumberLiteral>(&value->node)) {
    result.value = number->digits;
  } else {
    refuse("this value of a setting", value->position);
  }
  return result;
}

}  // namespace diptych
