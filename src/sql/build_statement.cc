#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/in_quotes.h"
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

constexpr std::string_view explain_options_not_there[] = {"buffers", "settings", "summary", "wal"};

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
    case PG_QUERY__NODE__NODE_VIEW_STMT: result.node = create_view(*node.view_stmt); break;
    case PG_QUERY__NODE__NODE_DROP_STMT: result.node = drop_table(*node.drop_stmt); break;
    case PG_QUERY__NODE__NODE_INSERT_STMT: result.node = insert(*node.insert_stmt); break;
    case PG_QUERY__NODE__NODE_DELETE_STMT: result.node = change(*node.delete_stmt); break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT: result.node = change(*node.update_stmt); break;
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT: result.node = truncate(*node.truncate_stmt); break;
    case PG_QUERY__NODE__NODE_COPY_STMT: result.node = copy(*node.copy_stmt); break;
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT: result.node = explain(*node.explain_stmt); break;
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
      if (node.variable_set_stmt->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI)
        result.node = set_transaction(*node.variable_set_stmt);
      else
        result.node = set(*node.variable_set_stmt);
      break;
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT: result.node = transaction(*node.transaction_stmt); break;
    case PG_QUERY__NODE__NODE_CHECK_POINT_STMT: result.node = syntax::Checkpoint{}; break;
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

syntax::TableName TreeBuilder::table_name(const PgQuery__RangeVar& node, SqlState no_schema) {
  if (node.catalogname && *node.catalogname) refuse("a database name before a table", node.location);
  const std::string_view schema = node.schemaname ? node.schemaname : "";
  syntax::TableName result{node.relname, node.location};
  result.is_of_catalog = !schema.empty();
  if (schema == "public" || schema == "main")
    result.schema = syntax::Schema::Permanent;
  else if (schema == "pg_temp")
    result.schema = syntax::Schema::Temporary;
  else if (!schema.empty())
    throw Error(no_schema, "schema \"" + std::string(schema) + "\" does not exist", node.location,
                "There are no schemas but public and pg_temp: leave it out.");
  return result;
}

void TreeBuilder::check_storage(const char* tablespace, const char* access_method) const {
  const std::string_view space = tablespace ? tablespace : "";
  if (!space.empty() && space != "pg_default") {
    throw Error(SqlState::undefined_object, "tablespace \"" + std::string(space) + "\" does not exist",
                find_token({PG_QUERY__TOKEN__TABLESPACE}));
  }
  const std::string_view method = access_method ? access_method : "";
  if (!method.empty() && method != "heap") {
    throw Error(SqlState::undefined_object, "access method \"" + std::string(method) + "\" does not exist",
                find_token({PG_QUERY__TOKEN__USING}));
  }
}

syntax::TableName TreeBuilder::new_table_name(const PgQuery__RangeVar& node, PgQuery__OnCommitAction on_commit) {
  syntax::TableName result = table_name(node, SqlState::invalid_schema_name);
  const std::string_view persistence = node.relpersistence;
  const int position = find_token({PG_QUERY__TOKEN__TEMPORARY, PG_QUERY__TOKEN__TEMP, PG_QUERY__TOKEN__UNLOGGED});
  if (persistence == "u") refuse("UNLOGGED", position);
  if (persistence == "t" && result.schema == syntax::Schema::Permanent)
    throw Error(SqlState::invalid_table_definition, "cannot create temporary relation in non-temporary schema",
                node.location);
  const bool is_temporary = persistence == "t" || result.schema == syntax::Schema::Temporary;
  result.schema = is_temporary ? syntax::Schema::Temporary : syntax::Schema::Permanent;
  const bool has_action = on_commit != PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_NOOP &&
                          on_commit != PG_QUERY__ON_COMMIT_ACTION__ON_COMMIT_ACTION_UNDEFINED;
  if (!has_action) return result;
  const int commit = find_token({PG_QUERY__TOKEN__COMMIT});
  if (!is_temporary)
    throw Error(SqlState::invalid_table_definition, "ON COMMIT can only be used on temporary tables", commit);
  if (on_commit != PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_PRESERVE_ROWS)
    refuse("ON COMMIT other than PRESERVE ROWS", commit);
  return result;
}

syntax::CreateTable TreeBuilder::create_table(const PgQuery__CreateStmt& node) {
  syntax::CreateTable result;
  result.table = new_table_name(*node.relation, node.oncommit);
  result.if_not_exists = node.if_not_exists;
  set_replacing(result);
  check_storage(node.tablespacename, node.access_method);
  if (node.n_inh_relations > 0) refuse("INHERITS", find_token({PG_QUERY__TOKEN__INHERITS}));
  if (node.partbound || node.partspec) refuse("PARTITION", find_token({PG_QUERY__TOKEN__PARTITION}));
  if (node.of_typename) refuse("OF", find_token({PG_QUERY__TOKEN__OF}));
  if (node.n_options > 0) refuse("WITH", find_token({PG_QUERY__TOKEN__WITH}));
  for (size_t i = 0; i < node.n_table_elts; ++i) {
    const PgQuery__Node& element = *node.table_elts[i];
    if (element.node_case == PG_QUERY__NODE__NODE_COLUMN_DEF) {
      syntax::ColumnDefinition column = column_definition(*element.column_def);
      if (column.primary_key_position >= 0) note_primary_key(result, column.primary_key_position);
      result.columns.push_back(std::move(column));
    } else if (element.node_case == PG_QUERY__NODE__NODE_CONSTRAINT) {
      add_table_constraint(result, *element.constraint);
    } else {
      refuse("LIKE", find_token({PG_QUERY__TOKEN__LIKE}));
    }
  }
  return result;
}

// A table has one primary key, be it a column's or its own. Errors: 42P16 at the second one.
void TreeBuilder::note_primary_key(syntax::CreateTable& table, int position) const {
  if (table.primary_key_position >= 0) {
    throw Error(SqlState::invalid_table_definition,
                "multiple primary keys for table \"" + table.table.name + "\" are not allowed", position);
  }
  table.primary_key_position = position;
}

// What a primary key may say of the index behind it in PostgreSQL.
void TreeBuilder::check_index_options(const PgQuery__Constraint& node) const {
  if (node.deferrable || node.initdeferred) refuse("DEFERRABLE", node.location);
  if (node.n_including > 0) refuse("INCLUDE", node.location);
  if (node.n_options > 0) refuse("WITH in a constraint", node.location);
  check_storage(node.indexspace, nullptr);
}

void TreeBuilder::add_table_constraint(syntax::CreateTable& table, const PgQuery__Constraint& node) {
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_CHECK) refuse("CHECK", node.location);
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE) refuse("UNIQUE", node.location);
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN) refuse("FOREIGN KEY", node.location);
  if (node.contype != PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY) refuse("this constraint", node.location);
  check_index_options(node);
  note_primary_key(table, node.location);
  for (size_t i = 0; i < node.n_keys; ++i) table.primary_key.emplace_back(node.keys[i]->string->sval);
}

// COMPRESSION changes nothing that SQL shows, yet PostgreSQL's methods are not there.
void TreeBuilder::check_compression(const PgQuery__ColumnDef& node) const {
  const std::string_view method = node.compression ? node.compression : "";
  if (method.empty() || method == "default") return;
  const int position = find_token({PG_QUERY__TOKEN__COMPRESSION}, std::max(0, node.location));
  if (method != "pglz" && method != "lz4") {
    throw Error(SqlState::invalid_parameter_value, "invalid compression method \"" + std::string(method) + "\"",
                position);
  }
  refuse("COMPRESSION", position);
}

syntax::ColumnDefinition TreeBuilder::column_definition(const PgQuery__ColumnDef& node) {
  check_compression(node);
  if (node.n_fdwoptions > 0) {
    throw Error(SqlState::wrong_object_type, "OPTIONS are only for columns of foreign tables",
                find_token({PG_QUERY__TOKEN__OPTIONS}, std::max(0, node.location)));
  }
  syntax::ColumnDefinition result;
  result.name = node.colname;
  result.position = node.location;
  result.type = type_name(*node.type_name);
  if (node.coll_clause) {
    check_collation(*node.coll_clause);
    result.collation_position = node.coll_clause->location;
  }
  for (size_t i = 0; i < node.n_constraints; ++i) add_column_constraint(result, *node.constraints[i]->constraint);
  return result;
}

void TreeBuilder::add_column_constraint(syntax::ColumnDefinition& column, const PgQuery__Constraint& node) {
  const auto declare_null = [&](bool not_null) {
    if (column.not_null.value_or(not_null) != not_null) {
      throw Error(SqlState::syntax_error, "conflicting NULL/NOT NULL declarations for column \"" + column.name + "\"",
                  node.location);
    }
    column.not_null = not_null;
  };
  switch (node.contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_NULL: declare_null(false); break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL: declare_null(true); break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
      check_index_options(node);
      if (column.primary_key_position >= 0) {
        throw Error(SqlState::invalid_table_definition, "multiple primary keys for a table are not allowed",
                    node.location);
      }
      column.primary_key_position = node.location;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT: {
      if (!column.default_sql.empty()) {
        throw Error(SqlState::syntax_error, "multiple default values specified for column \"" + column.name + "\"",
                    node.location);
      }
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
    case PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY:
    case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED: refuse("GENERATED", node.location);
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE:
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_NOT_DEFERRABLE:
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED:
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_IMMEDIATE: refuse("DEFERRABLE", node.location);
    default: refuse("this constraint", node.location);
  }
}

syntax::CreateTable TreeBuilder::create_table_as(const PgQuery__CreateTableAsStmt& node) {
  if (node.objtype != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE) refuse("a materialized view", tokens_.front().begin);
  if (node.is_select_into) refuse("SELECT INTO", find_token({PG_QUERY__TOKEN__INTO}));
  syntax::CreateTable result;
  result.table = new_table_name(*node.into->rel, node.into->on_commit);
  check_storage(node.into->table_space_name, node.into->access_method);
  if (node.into->n_options > 0) refuse("WITH", find_token({PG_QUERY__TOKEN__WITH}));
  if (node.into->skip_data) refuse("WITH NO DATA", find_token({PG_QUERY__TOKEN__DATA_P}));
  result.if_not_exists = node.if_not_exists;
  set_replacing(result);
  for (size_t i = 0; i < node.into->n_col_names; ++i)
    result.column_names.emplace_back(node.into->col_names[i]->string->sval);
  result.query = select_of(*node.query);
  return result;
}

syntax::CreateView TreeBuilder::create_view(const PgQuery__ViewStmt& node) {
  syntax::CreateView result;
  result.view = new_table_name(*node.view, PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_NOOP);
  if (result.view.schema == syntax::Schema::Temporary)
    refuse("a temporary view", find_token({PG_QUERY__TOKEN__TEMPORARY, PG_QUERY__TOKEN__TEMP}));
  if (node.n_options > 0) refuse("WITH", find_token({PG_QUERY__TOKEN__WITH}, node.view->location));
  if (node.with_check_option == PG_QUERY__VIEW_CHECK_OPTION__LOCAL_CHECK_OPTION ||
      node.with_check_option == PG_QUERY__VIEW_CHECK_OPTION__CASCADED_CHECK_OPTION)
    refuse("WITH CHECK OPTION", find_token({PG_QUERY__TOKEN__CHECK}));
  result.replace = node.replace;
  for (size_t i = 0; i < node.n_aliases; ++i) result.column_names.emplace_back(node.aliases[i]->string->sval);
  query_at_ = find_token({PG_QUERY__TOKEN__AS}, node.view->location) + 2;
  result.sql = text_from(query_at_);
  result.query = select_of(*node.query);
  return result;
}

std::string TreeBuilder::text_from(int position) const {
  std::string text;
  for (size_t i = token_at(position); i < tokens_.size() && tokens_[i].kind != PG_QUERY__TOKEN__ASCII_59; ++i) {
    const Token& token = tokens_[i];
    const size_t before = static_cast<size_t>(token.begin - position),
                 length = static_cast<size_t>(token.end - token.begin);
    if (!text.empty()) text += statement_.text.substr(static_cast<size_t>(position), before);
    const auto file = statement_.files.find(token.begin);
    text += file == statement_.files.end() ? statement_.text.substr(static_cast<size_t>(token.begin), length)
                                           : in_quotes(file->second, '\'');
    position = token.end;
  }
  return text;
}

syntax::DropTable TreeBuilder::drop_table(const PgQuery__DropStmt& node) {
  const bool drops_views = node.remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_VIEW;
  if (node.remove_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE && !drops_views)
    refuse("DROP of anything but a table or a view", tokens_.front().begin);
  syntax::DropTable result;
  result.drops_views = drops_views;
  result.if_exists = node.missing_ok;
  int from = find_token({drops_views ? PG_QUERY__TOKEN__VIEW : PG_QUERY__TOKEN__TABLE});
  for (size_t i = 0; i < node.n_objects; ++i) {
    const PgQuery__List& parts = *node.objects[i]->list;
    const std::string name = last_name(parts.n_items, parts.items);
    const std::string schema = parts.n_items > 1 ? parts.items[parts.n_items - 2]->string->sval : "public";
    from = find_name(parts.items[0]->string->sval, from + 1);
    if (parts.n_items > 2) refuse("a database name before a table", from);
    if (schema == "public" || schema == "main") {
      result.tables.push_back({name, from});
    } else if (!result.if_exists) {
      throw Error(SqlState::invalid_schema_name, "schema \"" + schema + "\" does not exist", from,
                  "There are no schemas: leave it out.");
    }
    from = find_name(name, from);
  }
  return result;
}

void TreeBuilder::set_replacing(syntax::CreateTable& create) const {
  create.replace = statement_.replaces_table;
  if (create.replace && create.if_not_exists)
    throw Error(SqlState::syntax_error, "OR REPLACE and IF NOT EXISTS exclude each other",
                find_token({PG_QUERY__TOKEN__IF_P}));
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

bool TreeBuilder::boolean_option(const syntax::Option& option) const {
  const std::string& value = option.value;
  if (!option.has_value || value == "true" || value == "on" || value == "1") return true;
  if (value == "false" || value == "off" || value == "0") return false;
  throw Error(SqlState::syntax_error, option.name + " requires a Boolean value", option.position);
}

// Of FORMAT. Errors: 22023, 42601 as PostgreSQL; 0A000 for its formats that are not here.
bool TreeBuilder::is_json(const syntax::Option& format) const {
  if (!format.has_value) throw Error(SqlState::syntax_error, "format requires a parameter", format.position);
  if (format.value == "xml" || format.value == "yaml") refuse("EXPLAIN format " + format.value, format.position);
  if (format.value != "json" && format.value != "text")
    throw Error(SqlState::invalid_parameter_value,
                "unrecognized value for EXPLAIN option \"format\": \"" + format.value + "\"", format.position,
                "The formats are text and json.");
  return format.value == "json";
}

syntax::Explain TreeBuilder::explain(const PgQuery__ExplainStmt& node) {
  syntax::Explain result;
  result.kernel = statement_.explains_kernel;
  int times = -1;  // where TIMING stands
  for (size_t i = 0; i < node.n_options; ++i) {
    const syntax::Option given = option(*node.options[i]->def_elem);
    const auto is_name = [&](std::string_view name) { return given.name == name; };
    if (std::any_of(std::begin(explain_options_not_there), std::end(explain_options_not_there), is_name))
      refuse("EXPLAIN option " + given.name, given.position);
    if (is_name("format")) {
      result.json = is_json(given);
      continue;
    }
    const bool wanted = boolean_option(given);
    if (is_name("analyze")) {
      result.analyze = wanted;
    } else if (is_name("kernel")) {
      result.kernel = wanted;
    } else if (is_name("timing")) {
      times = wanted ? given.position : -1;
    } else if (!is_name("verbose") && !is_name("costs")) {
      throw Error(SqlState::syntax_error, "unrecognized EXPLAIN option \"" + given.name + "\"", given.position);
    }
  }
  if (times >= 0 && !result.analyze)
    throw Error(SqlState::invalid_parameter_value, "EXPLAIN option TIMING requires ANALYZE", times);
  result.statement = std::make_unique<syntax::Statement>(statement(*node.query));
  return result;
}

syntax::Transaction TreeBuilder::transaction(const PgQuery__TransactionStmt& node) {
  using What = syntax::Transaction::What;
  syntax::Transaction result;
  switch (node.kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
      set_modes(node.n_options, node.options, result);
      return result;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT: result.what = What::Commit; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK: result.what = What::Rollback; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT: result.what = What::Savepoint; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE: result.what = What::Release; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO: result.what = What::RollbackTo; break;
    default: refuse("a transaction in two phases", tokens_.front().begin);
  }
  result.savepoint = node.savepoint_name;
  if (node.chain) refuse("AND CHAIN", find_token({PG_QUERY__TOKEN__CHAIN}));
  return result;
}

// SET TRANSACTION; SET SESSION CHARACTERISTICS is not there.
syntax::Transaction TreeBuilder::set_transaction(const PgQuery__VariableSetStmt& node) {
  if (std::string_view(node.name) != "TRANSACTION") refuse("this form of SET", tokens_.front().begin);
  syntax::Transaction result;
  result.what = syntax::Transaction::What::Set;
  set_modes(node.n_args, node.args, result);
  return result;
}

void TreeBuilder::set_modes(size_t count, PgQuery__Node* const* nodes, syntax::Transaction& result) const {
  for (size_t i = 0; i < count; ++i) {
    const PgQuery__DefElem& mode = *nodes[i]->def_elem;
    const std::string_view name = mode.defname;
    const PgQuery__AConst& value = *mode.arg->a_const;
    if (name == "transaction_read_only") {
      result.read_only = value.ival->ival != 0;
    } else if (name == "transaction_isolation") {
      const std::string_view level = value.sval->sval;
      if (level == "serializable") refuse("ISOLATION LEVEL SERIALIZABLE", mode.location);
      // As in PostgreSQL, what is not committed is never read.
      result.repeatable_read = level == "repeatable read";
    }
    // DEFERRABLE means something for SERIALIZABLE alone.
  }
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
