#include "program/compiler.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/stack.h"
#include "plan/cardinality.h"
#include "program/aggregate_compiler.h"
#include "program/expression_compiler.h"
#include "program/source_facts.h"

namespace diptych {

namespace {

using Consumer = std::function<void(InputColumns&)>;

const RegisterInfo visibility_form{PhysicalType::Bool, Type{TypeId::Boolean}, true};

class Compiler {
 public:
  Compiler(const LogicalOperator& plan, Evaluator& evaluator) : plan_(plan), expressions_(builder_, evaluator) {}

  std::shared_ptr<Program> run() {
    const LogicalOperator* root = &plan_;
    Program& program = builder_.program();
    for (size_t i = 0; i < root->columns.size(); ++i) {
      program.result_columns.push_back({root->columns[i].name, root->columns[i].type});
      builder_.emit(Opcode::ResultColumn, static_cast<int32_t>(i), 0, 0, root->columns[i].name);
    }
    if (root->kind == OperatorKind::Limit) {
      if (root->limit >= 0) builder_.emit(Opcode::Limit, 0, 0, 0, Value::bigint(root->limit));
      if (root->offset > 0) builder_.emit(Opcode::Offset, 0, 0, 0, Value::bigint(root->offset));
      root = &root->input();
    }
    // A projection on top writes its expressions straight into the result.
    if (root->kind == OperatorKind::Project) {
      produce(root->input(), [&](InputColumns& input) { emit_result(root->expressions, input); });
    } else {
      std::vector<ExpressionPtr> columns;
      for (const BoundColumn& column : root->columns) columns.push_back(column_expression(column.id, column.type));
      produce(*root, [&](InputColumns& input) { emit_result(columns, input); });
    }
    builder_.emit(Opcode::Finish);
    verify(program);
    return builder_.finish();
  }

 private:
  void emit_result(const std::vector<ExpressionPtr>& expressions, InputColumns& input) {
    const int32_t block = builder_.new_block(expressions.size());
    for (size_t i = 0; i < expressions.size(); ++i)
      expressions_.compile_result(*expressions[i], input, block + static_cast<int32_t>(i));
    builder_.emit(Opcode::Result, block, static_cast<int32_t>(expressions.size()));
  }

  void produce(const LogicalOperator& op, const Consumer& consume) {
    switch (op.kind) {
      case OperatorKind::Scan: return produce_scan(op, consume);
      case OperatorKind::Filter: return produce_filter(op, consume);
      case OperatorKind::Project: return produce_project(op, consume);
      case OperatorKind::Aggregate: return produce_aggregate(op, consume);
      case OperatorKind::Sort: return produce_sort(op, consume);
      case OperatorKind::Limit: return produce_limit(op, consume);
      case OperatorKind::Join: return produce_join(op, consume);
    }
  }

  // Emits Parallel, what the consumer does with each row, and Converge. rows: of the cursor, as estimated.
  void section(int32_t cursor, double rows, InputColumns& input, const Consumer& consume) {
    const int32_t parallel = builder_.emit(Opcode::Parallel, cursor);
    passing_ = rows;
    Label end;
    Label* outer_end = std::exchange(section_end_, &end);
    consume(input);
    builder_.drop_regions();
    section_end_ = outer_end;
    builder_.bind(end);
    CursorInfo& info = builder_.program().cursors[static_cast<size_t>(cursor)];
    info.expected_rows = whole_rows(rows);
    info.expected_rows_out = whole_rows(passing_);
    builder_.program().instructions[parallel].p3 = builder_.emit(Opcode::Converge);
  }

  void produce_scan(const LogicalOperator& op, const Consumer& consume) {
    Program& program = builder_.program();
    const auto cursor = static_cast<int32_t>(program.cursors.size());
    CursorInfo info;
    info.name = op.source_name;
    const TabletSource& source = *op.source;
    // The cursor has all columns of the source, so that column numbers are the table's.
    info.columns.resize(source.columns().size());
    for (const ColumnDefinition& column : source.columns()) info.column_names.push_back(column.name);
    std::vector<size_t> stored = op.source_columns;
    std::erase(stored, row_position);
    const bool may_lack_rows =
        source.visibility_column() && (std::exchange(tests_rows_, false) || !has_all_rows(source));
    if (may_lack_rows) stored.push_back(*source.visibility_column());
    SourceFacts facts = facts_of(source, stored);
    facts.has_all_rows = !may_lack_rows;
    InputColumns input;
    input.row_bound = facts.row_bound;
    size_t next = 0;
    for (size_t i = 0; i < op.columns.size(); ++i) {
      if (op.source_columns[i] == row_position) {
        input.add(op.columns[i].id, position_column());
        continue;
      }
      const SourceFacts::Column& column = facts.columns[next++];
      info.columns[column.number] = column.values;
      input.add(op.columns[i].id, source_column(column));
    }
    if (may_lack_rows) info.columns[stored.back()] = visibility_form;
    info.zone_conditions = std::exchange(zone_conditions_, {});
    program.cursors.push_back(std::move(info));
    program.sources.push_back(op.source);
    program.facts.push_back(std::move(facts));
    builder_.emit(Opcode::Table, cursor, static_cast<int32_t>(program.sources.size()) - 1, 0, op.source_name);
    section(cursor, op.estimated_rows, input, [&](InputColumns& columns) {
      if (may_lack_rows) leave_deleted_out(static_cast<int32_t>(stored.back()));
      consume(columns);
    });
  }

  // Rows that are not there take part in nothing, errors included.
  void leave_deleted_out(int32_t visibility) {
    const int32_t is_there = builder_.new_register(visibility_form);
    builder_.emit(Opcode::Column, is_there, visibility);
    builder_.emit_jump(Opcode::IfNull, is_there, 0, *section_end_, jump_invalid);
  }

  InputColumn position_column() {
    InputColumn result;
    result.type = Type{TypeId::BigInt};
    result.reloadable = result.is_position = true;
    result.load = [this](int32_t target, const PhysicalType*) {
      const RegisterInfo form{PhysicalType::Int64, Type{TypeId::BigInt}, false};
      if (target < 0)
        target = builder_.new_register(form);
      else
        builder_.info(target) = form;
      builder_.emit(Opcode::Rowid, target);
      return target;
    };
    return result;
  }

  InputColumn source_column(const SourceFacts::Column& column) {
    InputColumn result;
    const RegisterInfo info = column.values;
    result.type = info.type;
    result.reloadable = true;
    const auto number = static_cast<int32_t>(column.number);
    const auto load_as = [this, number](int32_t target, const RegisterInfo& form, Opcode opcode) {
      if (target < 0)
        target = builder_.new_register(form);
      else
        builder_.info(target) = form;
      builder_.emit(opcode, target, number);
      return target;
    };
    result.load = [load_as, info](int32_t target, const PhysicalType* physical) {
      RegisterInfo form = info;
      if (physical && range_of(info.type)) form.physical = *physical;
      return load_as(target, form, Opcode::Column);
    };
    result.dictionary = column.dictionary;
    if (!result.dictionary) return result;
    const int128_t last_code = std::max<int128_t>(column.dictionary_size, 1) - 1;
    const RegisterInfo code{PhysicalType::Int32, Type{TypeId::Integer}, info.nullable, true, 0, last_code};
    result.load_code = [load_as, code](int32_t target) { return load_as(target, code, Opcode::Code); };
    return result;
  }

  void produce_filter(const LogicalOperator& op, const Consumer& consume) {
    if (op.input().kind == OperatorKind::Scan) collect_zone_conditions(*op.predicate, op.input());
    tests_rows_ = true;
    produce(op.input(), [&](InputColumns& input) {
      expressions_.jump_unless_true(*op.predicate, input, *section_end_, jump_invalid);
      passing_ = op.estimated_rows;
      consume(input);
    });
  }

  // Of the scan whose cursor is the next one.
  void collect_zone_conditions(const Expression& condition, const LogicalOperator& scan) {
    if (condition.kind == ExpressionKind::And) {
      for (const ExpressionPtr& part : condition.args) collect_zone_conditions(*part, scan);
      return;
    }
    const bool bounds = condition.kind == ExpressionKind::Eq ||
                        (condition.kind >= ExpressionKind::Lt && condition.kind <= ExpressionKind::Ge);
    if (!bounds || condition.args[0]->kind != ExpressionKind::Column || !has_value(*condition.args[1])) return;
    const Value& bound = condition.args[1]->value;
    const Type& type = condition.args[0]->type;
    if (bound.is_null() || bound.type().is_string() || type.id == TypeId::Boolean || type.id == TypeId::Interval)
      return;
    const size_t column = scan.source_columns[place_of(condition.args[0]->column, scan.columns)];
    if (condition.args[1]->kind == ExpressionKind::Parameter)
      builder_.program().parameters.uses.push_back({ParameterUse::Kind::Zone, condition.args[1]->index,
                                                    static_cast<int32_t>(builder_.program().cursors.size()),
                                                    static_cast<int32_t>(zone_conditions_.size())});
    zone_conditions_.push_back({column, jump_opcode(condition.kind), bound});
  }

  void produce_project(const LogicalOperator& op, const Consumer& consume) {
    produce(op.input(), [&](InputColumns& below) {
      InputColumns input;
      input.row_bound = below.row_bound;
      for (size_t i = 0; i < op.expressions.size(); ++i) {
        const Expression& expression = *op.expressions[i];
        InputColumn column;
        if (expression.kind == ExpressionKind::Column) {
          column = below[expression.column];
        } else {
          column.type = expression.type;
          column.load = [this, &expression, &below](int32_t target, const PhysicalType*) {
            if (target < 0) return expressions_.compile(expression, below);
            expressions_.compile_into(expression, below, target);
            return target;
          };
        }
        input.add(op.columns[i].id, std::move(column));
      }
      consume(input);
    });
  }

  void produce_aggregate(const LogicalOperator& op, const Consumer& consume) {
    AggregateCompiler aggregation(builder_, expressions_, op);
    aggregation.create_tables();
    tests_rows_ = true;
    produce(op.input(), [&](InputColumns& input) { aggregation.feed(input); });
    const int32_t groups = aggregation.make_groups();
    std::vector<std::string> names;
    for (size_t i = 0; i < op.expressions.size(); ++i) names.push_back(op.columns[i].name);
    const int32_t cursor = builder_.open_rows(groups, "groups", std::move(names));
    InputColumns input = aggregation.group_columns();
    section(cursor, op.estimated_rows, input, consume);
    builder_.emit(Opcode::Drop, groups);
  }

  void produce_sort(const LogicalOperator& op, const Consumer& consume) {
    produce_rows(op, {{}, {}, op.limit, 0}, op.estimated_rows, "sorted rows", consume);
  }

  // Inside of a plan. The last one of a plan limits the result.
  void produce_limit(const LogicalOperator& op, const Consumer& consume) {
    const bool has_end = op.limit >= 0 && op.limit <= INT64_MAX - op.offset;
    const RowSetInfo info{{}, {}, has_end ? op.limit + op.offset : -1, op.offset};
    if (op.input().kind == OperatorKind::Sort)
      produce_rows(op.input(), info, op.estimated_rows, "sorted rows", consume);
    else
      produce_rows(op, info, op.estimated_rows, "first rows", consume);
  }

  // The rows of the operator's input go to a row set, which it sorts if it has keys. Keys first, then the columns that
  // are no keys; strings from a dictionary travel as codes unless they are keys.
  // kept: of these rows, as estimated.
  void produce_rows(const LogicalOperator& op, const RowSetInfo& info, double kept, const char* name,
                    const Consumer& consume) {
    Program& program = builder_.program();
    const int32_t rows = builder_.new_row_set(info);
    program.row_sets[rows].expected_rows = whole_rows(op.input().estimated_rows);
    builder_.emit(Opcode::RowSet, rows);
    std::vector<BoundColumn> columns;
    const auto is_there = [&](ColumnId id) { return place_of(id, columns) < columns.size(); };
    for (const SortKey& key : op.keys)
      if (!is_there(key.column)) {
        columns.push_back(op.columns[place_of(key.column, op.columns)]);
        program.row_sets[rows].keys.push_back({key.descending, key.nulls_first});
      }
    for (const BoundColumn& column : op.columns)
      if (!is_there(column.id)) columns.push_back(column);
    std::vector<const Dictionary*> dictionaries;
    int64_t row_bound = 0;
    produce(op.input(), [&](InputColumns& input) {
      row_bound = input.row_bound;
      dictionaries = emit_append(columns, rows, input);
    });
    if (!op.keys.empty()) builder_.emit(Opcode::SortRows, rows);
    std::vector<std::string> names;
    std::vector<ColumnId> ids;
    for (const BoundColumn& column : columns) {
      names.push_back(column.name);
      ids.push_back(column.id);
    }
    const int32_t cursor = builder_.open_rows(rows, name, std::move(names));
    InputColumns input = cursor_columns(builder_, ids, program.row_sets[rows].columns, dictionaries);
    input.row_bound = row_bound;
    section(cursor, kept, input, consume);
    builder_.emit(Opcode::Drop, rows);
  }

  std::vector<const Dictionary*> emit_append(const std::vector<BoundColumn>& columns, int32_t row_set,
                                             InputColumns& input) {
    RowSetInfo& info = builder_.program().row_sets[row_set];
    const size_t key_count = info.keys.size();
    std::vector<const Dictionary*> dictionaries;
    const int32_t block = builder_.new_block(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      const ExpressionPtr column = column_expression(columns[i].id, columns[i].type);
      const int32_t number = block + static_cast<int32_t>(i);
      const Dictionary* dictionary = i < key_count ? nullptr : ExpressionCompiler::dictionary_of(*column, input);
      dictionaries.push_back(dictionary);
      if (dictionary)
        expressions_.compile_code(*column, input, number);
      else
        expressions_.compile_into(*column, input, number);
      info.columns.push_back(builder_.info(number));
    }
    builder_.emit(Opcode::Append, row_set, block, static_cast<int32_t>(columns.size()));
    return dictionaries;
  }

  // ---- joins

  // A built index, and where it has the columns of the operator whose rows are in it.
  struct BuiltRows {
    int32_t index = 0;
    std::vector<BoundColumn> read;                // of the operator's columns those that the join gives
    std::vector<size_t> columns;                  // of the row set, by column that is read
    std::vector<const Dictionary*> dictionaries;  // of those that travel as codes, by column that is read
    int64_t row_bound = 0;
  };

  void produce_join(const LogicalOperator& op, const Consumer& consume) {
    tests_rows_ = false;
    const BuiltRows built = build(op);
    tests_rows_ = true;
    produce(*op.inputs[0], [&](InputColumns& below) {
      const int32_t keys = builder_.new_block(op.probe_keys.size());
      emit_keys(op.probe_keys, below, keys);
      below.load_positions();
      const int32_t found = builder_.new_register({PhysicalType::Int64, Type{TypeId::BigInt}, false});
      builder_.emit(Opcode::Matches, found, keys, built.index);
      InputColumns pairs;
      pairs.add_all(below);
      pairs.row_bound = product(below.row_bound, built.row_bound);
      for (size_t i = 0; i < built.columns.size(); ++i) pairs.add(built.read[i].id, fetched_column(built, i, found));
      builder_.program().indexes[static_cast<size_t>(built.index)].expected_pairs = whole_rows(pairs_of_join(op));
      if (op.predicate) expressions_.jump_unless_true(*op.predicate, pairs, *section_end_, jump_invalid);
      passing_ = op.estimated_rows;
      consume(pairs);
    });
    builder_.emit(Opcode::Drop, builder_.program().indexes[static_cast<size_t>(built.index)].row_set);
  }

  static int64_t product(int64_t a, int64_t b) { return a == 0 || b <= INT64_MAX / a ? a * b : INT64_MAX; }

  void emit_keys(const std::vector<ExpressionPtr>& keys, InputColumns& input, int32_t block) {
    for (size_t i = 0; i < keys.size(); ++i)
      expressions_.compile_result(*keys[i], input, block + static_cast<int32_t>(i));
  }

  // The join's second input in a row set: the keys, then what it gives of the columns that are not among them as they
  // are.
  BuiltRows build(const LogicalOperator& join) {
    Program& program = builder_.program();
    const LogicalOperator& op = *join.inputs[1];
    const std::vector<ExpressionPtr>& keys = join.build_keys;
    BuiltRows built;
    for (const BoundColumn& column : op.columns)
      if (place_of(column.id, join.columns) < join.columns.size()) built.read.push_back(column);
    const int32_t rows = builder_.new_row_set({});
    builder_.emit(Opcode::RowSet, rows);
    produce(op, [&](InputColumns& input) { emit_build_rows(keys, rows, input, built); });
    built.index = static_cast<int32_t>(program.indexes.size());
    const int64_t expected_rows = whole_rows(op.estimated_rows);
    program.row_sets[static_cast<size_t>(rows)].expected_rows = expected_rows;
    program.indexes.push_back({.row_set = rows,
                               .keys = static_cast<int32_t>(keys.size()),
                               .expected_rows = expected_rows,
                               .finds_one = join.is_semi,
                               .is_unique = join.meets_one,
                               .repeat = repeat_of(op, keys)});
    builder_.emit(Opcode::Build, built.index, rows);
    return built;
  }

  static KeysRepeat repeat_of(const LogicalOperator& op, const std::vector<ExpressionPtr>& keys) {
    // Less is hardly one row, more is hardly none.
    constexpr double hardly_any = 0.05, some = 3;
    std::vector<const Expression*> expressions;
    for (const ExpressionPtr& key : keys) expressions.push_back(key.get());
    const double repeated = repeated_rows({op, std::move(expressions)});
    if (repeated < 0 || (repeated > hardly_any && repeated < some)) return KeysRepeat::Unknown;
    return repeated <= hardly_any ? KeysRepeat::Never : KeysRepeat::Often;
  }

  void emit_build_rows(const std::vector<ExpressionPtr>& keys, int32_t rows, InputColumns& input, BuiltRows& built) {
    const std::vector<BoundColumn>& wanted = built.read;
    built.row_bound = input.row_bound;
    std::vector<size_t> payload;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ExpressionPtr column = column_expression(wanted[i].id, wanted[i].type);
      built.dictionaries.push_back(ExpressionCompiler::dictionary_of(*column, input));
      size_t key = 0;
      while (key < keys.size() && !is_column(*keys[key], wanted[i].id)) ++key;
      const bool is_key = key < keys.size() && built.dictionaries.back() == nullptr;
      built.columns.push_back(is_key ? key : keys.size() + payload.size());
      if (!is_key) payload.push_back(i);
    }
    const int32_t block = builder_.new_block(keys.size() + payload.size());
    emit_keys(keys, input, block);
    for (size_t i = 0; i < payload.size(); ++i) {
      const BoundColumn& of = wanted[payload[i]];
      const ExpressionPtr column = column_expression(of.id, of.type);
      const auto number = block + static_cast<int32_t>(keys.size() + i);
      if (built.dictionaries[payload[i]] != nullptr)
        expressions_.compile_code(*column, input, number);
      else
        expressions_.compile_into(*column, input, number);
    }
    const auto count = static_cast<int32_t>(keys.size() + payload.size());
    std::vector<RegisterInfo>& columns = builder_.program().row_sets[static_cast<size_t>(rows)].columns;
    for (int32_t i = 0; i < count; ++i) columns.push_back(builder_.info(block + i));
    builder_.emit(Opcode::Append, rows, block, count);
  }

  static bool is_column(const Expression& expression, ColumnId id) {
    return expression.kind == ExpressionKind::Column && expression.column == id;
  }

  // Column i of those that are read of the index, of the row in register `found`.
  InputColumn fetched_column(const BuiltRows& built, size_t i, int32_t found) {
    const auto number = static_cast<int64_t>(built.columns[i]);
    const int32_t row_set = builder_.program().indexes[static_cast<size_t>(built.index)].row_set;
    const RegisterInfo info = builder_.program().row_sets[static_cast<size_t>(row_set)].columns[built.columns[i]];
    const auto fetch = [this, info, number, found, index = built.index](int32_t target) {
      if (target < 0)
        target = builder_.new_register(info);
      else
        builder_.info(target) = info;
      builder_.emit(Opcode::Fetch, target, found, index, number);
      return target;
    };
    InputColumn column;
    column.type = info.type;
    column.load = [fetch](int32_t target, const PhysicalType*) { return fetch(target); };
    if (const Dictionary* dictionary = built.dictionaries[i]) {
      column.type = Type{TypeId::Text};
      column.dictionary = dictionary;
      column.load_code = fetch;
      column.load = [this, fetch, dictionary, info](int32_t target, const PhysicalType*) {
        return look_up_text(builder_, fetch(-1), *dictionary, info.nullable, target);
      };
    }
    return column;
  }

  const LogicalOperator& plan_;
  ProgramBuilder builder_;
  ExpressionCompiler expressions_;
  Label* section_end_ = nullptr;
  double passing_ = 0;                          // rows of the section that come to what is emitted next, as estimated
  std::vector<ZoneCondition> zone_conditions_;  // for the scan to be produced next
  // The section of the scan to be produced next leaves rows out, or puts them together: it then asks for each row of a
  // table whether it is there even while all are, which costs next to nothing, so that its program and its kernel are
  // still right when some were deleted. One that hands all rows on is another one then.
  bool tests_rows_ = false;
};

}  // namespace

std::shared_ptr<Program> compile(const LogicalOperator& plan, Evaluator& evaluator) {
  std::shared_ptr<Program> program;
  run_at_depth(plan.depth, [&] { program = Compiler(plan, evaluator).run(); });
  return program;
}

}  // namespace diptych
