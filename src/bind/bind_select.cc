#include <algorithm>
#include <deque>
#include <utility>

#include "base/error.h"
#include "base/stack.h"
#include "bind/select_binder.h"

namespace diptych {

namespace {

constexpr int max_query_nesting = 200;

// The leftmost aggregate call in the expression, nullptr when there is none.
const Expression* first_aggregate(const Expression& e, const std::vector<BoundAggregate>& aggregates) {
  if (is_aggregate(e, aggregates)) return &e;
  for (const ExpressionPtr& arg : e.args)
    if (const Expression* call = first_aggregate(*arg, aggregates)) return call;
  return nullptr;
}

// The leftmost column of the source in the expression, nullptr when there is none.
const Expression* first_column(const Expression& e) {
  if (e.kind == ExpressionKind::Column) return &e;
  for (const ExpressionPtr& arg : e.args)
    if (const Expression* column = first_column(*arg)) return column;
  return nullptr;
}

// Values that are equal and yet shown differently: char without a length.
bool ignores_blanks(const Type& type) { return type.id == TypeId::Char && type.length == 0; }

bool is_literal(const syntax::Expression& e) {
  return std::holds_alternative<syntax::NumberLiteral>(e.node) ||
         std::holds_alternative<syntax::StringLiteral>(e.node) ||
         std::holds_alternative<syntax::BooleanLiteral>(e.node) || std::holds_alternative<syntax::NullLiteral>(e.node);
}

class SelectBinder {
 public:
  SelectBinder(const syntax::Select& select, StatementState& state, UntypedOutputs untyped)
      : select_(select),
        state_(state),
        settles_all_(untyped == UntypedOutputs::Text || select.distinct),
        around_(state.common_tables),
        scope_around_(state.scope),
        scope_(state.scope) {
    state_.scope = &scope_;
  }
  SelectBinder(const SelectBinder&) = delete;
  ~SelectBinder() {
    state_.common_tables = around_;
    state_.scope = scope_around_;
  }

  SelectClauses run() {
    bind_with();
    bind_input();
    if (select_.where)
      result_.where = ExpressionBinder(state_, scope_, "WHERE", nullptr).bind_condition(*select_.where);
    bind_outputs();
    for (const syntax::ExpressionPtr& group : select_.groups) add_group(*group);
    if (select_.having) {
      result_.having = ExpressionBinder(state_, scope_, "HAVING", &result_.aggregates).bind_condition(*select_.having);
    }
    for (const syntax::OrderItem& item : select_.order) add_order_key(item);
    if (select_.distinct) make_distinct();
    for (SelectClauses::OrderKey& key : result_.order) compare_without_blanks(key);
    result_.limit = bind_row_count(select_.limit, "LIMIT");
    result_.offset = bind_row_count(select_.offset, "OFFSET");
    result_.grouped = !result_.groups.empty() || select_.having || !result_.aggregates.empty();
    if (result_.grouped) put_grouped_columns_in_place(result_, shown_groups_, tables_, state_);
    return std::move(result_);
  }

 private:
  // Those that nobody names are bound, too, for their errors.
  void bind_with() {
    for (const syntax::CommonTable& table : select_.with) {
      for (const CommonTables& other : common_tables_)
        if (other.table.name == table.name)
          throw Error(SqlState::duplicate_alias, "WITH query name \"" + table.name + "\" specified more than once",
                      table.position);
      bind_common_table(table);
      common_tables_.push_back({table, state_.common_tables, scope_around_});
      state_.common_tables = &common_tables_.back();
    }
  }

  void bind_common_table(const syntax::CommonTable& table) {
    state_.scope = scope_around_;
    bind_inner_select(*table.query, state_, table.position);
    state_.scope = &scope_;
  }

  void bind_input() {
    NamedSource named;
    if (!select_.rows.empty()) {
      named = named_source(bind_values(select_.rows, state_), "*VALUES*", {}, state_);
    } else if (!select_.from.empty()) {
      named = bind_from(select_.from, state_);
    } else {
      return;
    }
    result_.source = std::move(named.source);
    scope_.take_names(std::move(named.scope));
    tables_ = std::move(named.tables);
  }

  void bind_outputs() {
    if (!select_.rows.empty()) {
      add_star({}, select_.position);
    } else if (select_.items.empty()) {
      throw Error(SqlState::feature_not_supported, "SELECT without a list is not supported yet", select_.position);
    }
    ExpressionBinder binder(state_, scope_, "SELECT", &result_.aggregates);
    for (const syntax::SelectItem& item : select_.items) {
      if (const auto* star = std::get_if<syntax::Star>(&item.expression->node)) {
        add_star(*star, item.expression->position);
        continue;
      }
      const std::string name = item.alias.empty() ? output_name(*item.expression) : item.alias;
      add_output(name, binder.bind(*item.expression));
      if (settles_all_) settle_output(result_.outputs.size() - 1);
    }
    result_.visible_outputs = result_.outputs.size();
  }

  // Returns its place.
  size_t add_output(std::string name, ExpressionPtr expression) {
    result_.outputs.push_back({std::move(name), std::move(expression), state_.new_column()});
    return result_.outputs.size() - 1;
  }

  void settle_output(size_t output) {
    ExpressionPtr& expression = result_.outputs[output].expression;
    expression = settle(std::move(expression), state_.parameters);
  }

  void add_star(const syntax::Star& star, int position) {
    for (NamedExpression& column : scope_.expand(star, position))
      add_output(std::move(column.name), std::move(column.expression));
  }

  // GROUP BY 2. Errors: 42P10.
  size_t output_at(int32_t number, const char* clause, int position) const {
    if (number < 1 || static_cast<size_t>(number) > result_.visible_outputs) {
      throw Error(SqlState::invalid_column_reference,
                  std::string(clause) + " position " + std::to_string(number) + " is not in select list", position);
    }
    return static_cast<size_t>(number - 1);
  }

  // The output of this name, or result_.visible_outputs. Errors: 42702 when two different ones have it.
  size_t output_named(const std::string& name, const char* clause, int position) const {
    size_t found = result_.visible_outputs;
    for (size_t i = 0; i < result_.visible_outputs; ++i) {
      if (result_.outputs[i].name != name) continue;
      if (found < result_.visible_outputs &&
          !result_.outputs[found].expression->equals(*result_.outputs[i].expression)) {
        throw Error(SqlState::ambiguous_column, std::string(clause) + " \"" + name + "\" is ambiguous", position);
      }
      if (found == result_.visible_outputs) found = i;
    }
    return found;
  }

  // What a number or a bare name in GROUP BY or ORDER BY means as an output, or result_.visible_outputs.
  size_t output_meant(const syntax::Expression& e, const char* clause) const {
    if (const auto* number = std::get_if<syntax::IntegerLiteral>(&e.node))
      return output_at(number->value, clause, e.position);
    if (is_literal(e))
      throw Error(SqlState::syntax_error, std::string("non-integer constant in ") + clause, e.position);
    const auto* name = std::get_if<syntax::ColumnName>(&e.node);
    if (!name || name->parts.size() != 1) return result_.visible_outputs;
    return output_named(name->parts[0], clause, e.position);
  }

  // In GROUP BY a column of the source comes before an output of the same name.
  void add_group(const syntax::Expression& e) {
    const auto* name = std::get_if<syntax::ColumnName>(&e.node);
    const bool is_source_column = name && name->parts.size() == 1 && scope_.has_column(name->parts[0]);
    const size_t output = is_source_column ? result_.visible_outputs : output_meant(e, "GROUP BY");
    ExpressionPtr group;
    if (output < result_.visible_outputs) {
      settle_output(output);
      group = result_.outputs[output].expression->clone();
      if (const Expression* call = first_aggregate(*group, result_.aggregates)) {
        throw Error(SqlState::grouping_error, "aggregate functions are not allowed in GROUP BY", call->position);
      }
    } else {
      group = settle(ExpressionBinder(state_, scope_, "GROUP BY", nullptr).bind(e), state_.parameters);
    }
    add_group(std::move(group));
  }

  void add_group(ExpressionPtr group) {
    if (ignores_blanks(group->type)) group = show_group(std::move(group));
    const bool known = std::any_of(result_.groups.begin(), result_.groups.end(),
                                   [&](const SelectClauses::Group& other) { return other.expression->equals(*group); });
    if (!known) result_.groups.push_back({std::move(group), state_.new_column()});
  }

  // Groups are made without the blanks; the greatest value of each, which has some, stands for it.
  ExpressionPtr show_group(ExpressionPtr group) {
    BoundAggregate shown;
    shown.function = AggregateFunction::Max;
    shown.type = group->type;
    shown.position = group->position;
    shown.argument = group->clone();
    shown.id = state_.new_column();
    shown_groups_.push_back({group->clone(), shown.id});
    result_.aggregates.push_back(std::move(shown));
    return without_blanks(std::move(group));
  }

  // Outputs that ignore blanks are grouped by.
  void make_distinct() {
    const auto begin = result_.outputs.begin(), end = begin + static_cast<ptrdiff_t>(result_.visible_outputs);
    result_.distinct =
        std::none_of(begin, end, [](const SelectClauses::Output& o) { return ignores_blanks(o.expression->type); });
    if (result_.distinct) return;
    if (!select_.groups.empty() || select_.having || !result_.aggregates.empty()) {
      throw Error(SqlState::feature_not_supported,
                  "DISTINCT over groups with a character type without a length is not supported yet", select_.position);
    }
    for (auto output = begin; output != end; ++output) add_group(output->expression->clone());
  }

  void compare_without_blanks(SelectClauses::OrderKey& key) {
    const Expression& shown = *result_.outputs[key.output].expression;
    if (!ignores_blanks(shown.type)) return;
    key.output = add_output("", without_blanks(shown.clone()));
  }

  // In ORDER BY an output comes before a column of the source of the same name.
  void add_order_key(const syntax::OrderItem& item) {
    SelectClauses::OrderKey key;
    key.descending = item.descending;
    key.nulls_first = item.nulls_first.value_or(item.descending);
    key.output = output_meant(*item.expression, "ORDER BY");
    if (key.output == result_.visible_outputs) key.output = output_of(*item.expression);
    settle_output(key.output);
    result_.order.push_back(key);
  }

  // The output that has this expression, a hidden one when none of the visible ones has.
  size_t output_of(const syntax::Expression& e) {
    ExpressionPtr bound =
        settle(ExpressionBinder(state_, scope_, "ORDER BY", &result_.aggregates).bind(e), state_.parameters);
    for (size_t i = 0; i < result_.outputs.size(); ++i)
      if (result_.outputs[i].expression->equals(*bound)) return i;
    if (select_.distinct) {
      throw Error(SqlState::invalid_column_reference,
                  "for SELECT DISTINCT, ORDER BY expressions must appear in select list", e.position);
    }
    return add_output("", std::move(bound));
  }

  ExpressionPtr bind_row_count(const syntax::ExpressionPtr& e, const char* clause) {
    if (!e) return nullptr;
    ExpressionPtr bound = ExpressionBinder(state_, scope_, clause, nullptr).bind(*e);
    if (!is_castable(bound->type.id, TypeId::BigInt, CastContext::Assignment)) {
      throw Error(SqlState::datatype_mismatch,
                  std::string("argument of ") + clause + " must be type bigint, not type " + bound->type.name(),
                  bound->position);
    }
    if (const Expression* column = first_column(*bound)) {
      throw Error(SqlState::invalid_column_reference,
                  std::string("argument of ") + clause + " must not contain variables", column->position);
    }
    return coerce(std::move(bound), {TypeId::BigInt}, CastContext::Assignment, state_.parameters);
  }

  const syntax::Select& select_;
  StatementState& state_;
  bool settles_all_;
  const CommonTables* around_;              // the WITH clauses around this query
  std::deque<CommonTables> common_tables_;  // of its own
  Scope* scope_around_;
  Scope scope_;
  SelectClauses result_;
  std::vector<SourceTable> tables_;
  std::vector<ShownGroup> shown_groups_;
};

}  // namespace

SelectClauses bind_clauses(const syntax::Select& select, StatementState& state, UntypedOutputs untyped) {
  return SelectBinder(select, state, untyped).run();
}

LogicalOperatorPtr bind_select(const syntax::Select& select, StatementState& state) {
  SelectClauses clauses = bind_clauses(select, state, UntypedOutputs::Text);
  return make_operators(std::move(clauses), state.levels());
}

LogicalOperatorPtr bind_inner_select(const syntax::Select& select, StatementState& state, int position) {
  if (state.nesting >= max_query_nesting)
    throw Error(SqlState::statement_too_complex,
                "queries are nested more than " + std::to_string(max_query_nesting) + " levels deep", position);
  state.deepest_nesting = std::max(state.deepest_nesting, ++state.nesting);
  LogicalOperatorPtr bound;
  run_at_depth(state.levels(), [&] { bound = bind_select(select, state); });
  --state.nesting;
  return bound;
}

}  // namespace diptych
