#include "engine/program_maker.h"

#include <cstring>

#include "base/error.h"

namespace diptych::testing {
namespace {

// Column values in register form with their validity, as a batch takes them.
struct Staged {
  std::vector<std::byte> values;
  std::vector<uint8_t> validity;
  std::vector<uint32_t> offsets{0};
  std::string bytes;
};

void stage(Staged& staged, const Value& value, PhysicalType physical, size_t row) {
  if (row % 8 == 0) staged.validity.push_back(0);
  if (!value.is_null()) staged.validity.back() = static_cast<uint8_t>(staged.validity.back() | 1 << (row % 8));
  std::byte bytes[16] = {};
  const auto store = [&](auto typed) { std::memcpy(bytes, &typed, sizeof(typed)); };
  if (!value.is_null()) {
    switch (physical) {
      case PhysicalType::Bool: store(static_cast<uint8_t>(value.as_boolean())); break;
      case PhysicalType::Int32: store(static_cast<int32_t>(value.as_integral())); break;
      case PhysicalType::Int64: store(static_cast<int64_t>(value.as_integral())); break;
      case PhysicalType::Int128: store(value.as_integral()); break;
      case PhysicalType::Float32: store(static_cast<float>(value.as_double())); break;
      case PhysicalType::Float64: store(value.as_double()); break;
      case PhysicalType::Interval: store(value.as_interval()); break;
      case PhysicalType::Text: staged.bytes += value.as_string(); break;
    }
  }
  if (physical == PhysicalType::Text)
    staged.offsets.push_back(static_cast<uint32_t>(staged.bytes.size()));
  else
    staged.values.insert(staged.values.end(), bytes, bytes + width_bytes(physical));
}

EncodedTablet encode(const std::vector<ColumnDefinition>& columns, const std::vector<std::vector<Value>>& rows,
                     size_t first, size_t count, int64_t capacity, const std::vector<Dictionary*>& dictionaries) {
  std::vector<Staged> staged(columns.size());
  std::vector<BatchColumn> batch_columns(columns.size());
  for (size_t c = 0; c < columns.size(); ++c) {
    for (size_t r = 0; r < count; ++r) stage(staged[c], rows[first + r][c], columns[c].type.physical(), r);
    BatchColumn& column = batch_columns[c];
    column.physical = columns[c].type.physical();
    column.values = staged[c].values.data();
    column.validity = staged[c].validity.data();
    column.offsets = staged[c].offsets.data();
    column.bytes = staged[c].bytes.data();
  }
  TabletBuilder builder(columns, capacity, dictionaries);
  builder.append({static_cast<int64_t>(count), batch_columns}, 0, static_cast<int64_t>(count));
  return builder.finish();
}

int64_t code_at(const ColumnView& view, int64_t row) {
  switch (view.width) {
    case 0: return 0;
    case 1: return reinterpret_cast<const uint8_t*>(view.data)[row];
    case 2: return reinterpret_cast<const uint16_t*>(view.data)[row];
    case 4: return reinterpret_cast<const uint32_t*>(view.data)[row];
    default: return reinterpret_cast<const int64_t*>(view.data)[row];
  }
}

template <typename T>
T plain(const ColumnView& view, int64_t row) {
  T value;
  std::memcpy(&value, view.data + static_cast<size_t>(row) * sizeof(T), sizeof(T));
  return value;
}

Value value_of(const ColumnView& view, int64_t row, const Type& type) {
  if (view.validity != nullptr && (view.validity[row / 8] >> (row % 8) & 1) == 0) return Value::null(type);
  if (view.encoding == Encoding::Dictionary)
    return Value::string(type, std::string((*view.dictionary)[static_cast<uint32_t>(code_at(view, row))]));
  if (view.encoding == Encoding::Heap)
    return Value::string(type, std::string(view.heap + view.offsets[row], view.offsets[row + 1] - view.offsets[row]));
  if (view.encoding == Encoding::FrameOfReference) {
    const int64_t value = view.base + view.factor * code_at(view, row);
    return view.physical == PhysicalType::Bool ? Value::boolean(value != 0) : Value::integral(type, value);
  }
  switch (view.physical) {
    case PhysicalType::Bool: return Value::boolean(plain<uint8_t>(view, row) != 0);
    case PhysicalType::Int32: return Value::integral(type, plain<int32_t>(view, row));
    case PhysicalType::Int64: return Value::integral(type, plain<int64_t>(view, row));
    case PhysicalType::Int128: return Value::integral(type, plain<int128_t>(view, row));
    case PhysicalType::Float32: return Value::floating(type, plain<float>(view, row));
    case PhysicalType::Float64: return Value::floating(type, plain<double>(view, row));
    case PhysicalType::Interval: return Value::interval(plain<Interval>(view, row));
    case PhysicalType::Text: break;
  }
  throw Error(SqlState::internal_error, "plain strings are for the engine alone");
}

RegisterInfo info_of_column(const ColumnDefinition& column) {
  return {column.type.physical(), column.type, true, false, 0, 0};
}

}  // namespace

std::shared_ptr<const TabletSource> make_table(const std::vector<ColumnDefinition>& columns,
                                               const std::vector<std::vector<Value>>& rows, int64_t tablet_rows,
                                               bool dictionaries) {
  auto source = std::make_shared<MemorySource>(columns);
  const std::vector<Dictionary*> used =
      dictionaries ? source->new_dictionaries() : std::vector<Dictionary*>(columns.size(), nullptr);
  for (size_t first = 0; first < rows.size(); first += static_cast<size_t>(tablet_rows)) {
    const size_t count = std::min(rows.size() - first, static_cast<size_t>(tablet_rows));
    source->add(encode(columns, rows, first, count, tablet_rows, used));
  }
  return source;
}

std::vector<std::vector<Value>> rows_of(const TabletSource& source) {
  std::vector<std::vector<Value>> rows;
  std::vector<size_t> wanted(source.columns().size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
    const auto pinned = source.pin(tablet, wanted);
    for (int64_t row = 0; row < pinned->rows; ++row) {
      std::vector<Value>& values = rows.emplace_back();
      for (size_t c = 0; c < wanted.size(); ++c)
        values.push_back(value_of(pinned->views[c], row, source.columns()[c].type));
    }
  }
  return rows;
}

ProgramMaker::ProgramMaker(std::shared_ptr<const TabletSource> source) : program_(std::make_shared<Program>()) {
  table(std::move(source));
}

int ProgramMaker::table(std::shared_ptr<const TabletSource> source) {
  CursorInfo& cursor = program_->cursors.emplace_back();
  for (const ColumnDefinition& column : source->columns()) cursor.columns.push_back(info_of_column(column));
  program_->sources.push_back(std::move(source));
  const int number = static_cast<int>(program_->cursors.size()) - 1;
  emit(Opcode::Table, number, static_cast<int>(program_->sources.size()) - 1);
  return number;
}

int ProgramMaker::reg(const Type& type, std::optional<PhysicalType> physical) {
  program_->registers.push_back({physical.value_or(type.physical()), type, true, false, 0, 0});
  return static_cast<int>(program_->registers.size()) - 1;
}

int32_t ProgramMaker::emit(Opcode opcode, int p1, int p2, int p3, decltype(Instruction::p4) p4) {
  program_->instructions.push_back({opcode, p1, p2, p3, std::move(p4), 7});
  return next() - 1;
}

int ProgramMaker::column(int number) {
  const RegisterInfo& info =
      program_->cursors[static_cast<size_t>(section_cursor_)].columns[static_cast<size_t>(number)];
  program_->registers.push_back(info);
  const int out = static_cast<int>(program_->registers.size()) - 1;
  emit(Opcode::Column, out, number);
  return out;
}

int ProgramMaker::constant(const Value& value) {
  const int out = reg(value.type());
  emit(value.is_null() ? Opcode::Null : Opcode::Constant, out, 0, 0, value);
  return out;
}

void ProgramMaker::parallel(int cursor) {
  section_cursor_ = cursor;
  parallel_at_ = emit(Opcode::Parallel, cursor);
}

void ProgramMaker::converge() {
  land(parallel_at_);
  emit(Opcode::Converge);
}

int ProgramMaker::add_row_set(const RowSetInfo& info) {
  program_->row_sets.push_back(info);
  return row_sets_.emplace_back(static_cast<int>(program_->row_sets.size()) - 1);
}

int ProgramMaker::row_set(const RowSetInfo& info) {
  const int number = add_row_set(info);
  emit(Opcode::RowSet, number);
  return number;
}

void ProgramMaker::drop(int row_set) {
  emit(Opcode::Drop, row_set);
  std::erase(row_sets_, row_set);
}

int ProgramMaker::rows(int row_set) {
  const RowSetInfo& info = program_->row_sets[static_cast<size_t>(row_set)];
  if (!info.keys.empty()) emit(Opcode::SortRows, row_set);
  program_->cursors.emplace_back().columns = info.columns;
  const int cursor = static_cast<int>(program_->cursors.size()) - 1;
  emit(Opcode::Rows, cursor, row_set);
  return cursor;
}

int ProgramMaker::groups(int hash_table) {
  const HashTableInfo& table = program_->hash_tables[static_cast<size_t>(hash_table)];
  RowSetInfo info;
  info.columns = table.keys;
  for (const AggregateInfo& aggregate : table.aggregates) info.columns.push_back(aggregate.result);
  const int number = add_row_set(info);
  emit(Opcode::Groups, number, hash_table);
  return rows(number);
}

int ProgramMaker::block(const std::vector<int>& registers) {
  const int first = static_cast<int>(program_->registers.size());
  for (const int from : registers) {
    program_->registers.push_back(program_->registers[static_cast<size_t>(from)]);
  }
  for (size_t i = 0; i < registers.size(); ++i) emit(Opcode::Move, first + static_cast<int>(i), registers[i]);
  return first;
}

void ProgramMaker::result(const std::vector<int>& registers) {
  for (const int from : registers)
    program_->result_columns.push_back({"", program_->registers[static_cast<size_t>(from)].type});
  bool consecutive = true;
  for (size_t i = 1; i < registers.size(); ++i) consecutive = consecutive && registers[i] == registers[i - 1] + 1;
  emit(Opcode::Result, consecutive ? registers[0] : block(registers), static_cast<int>(registers.size()));
}

std::shared_ptr<const Program> ProgramMaker::finish() {
  while (!row_sets_.empty()) drop(row_sets_.back());
  if (program_->instructions.back().opcode != Opcode::Finish) emit(Opcode::Finish);
  verify(*program_);
  return program_;
}

std::vector<std::vector<Value>> ProgramMaker::run(int threads) {
  ExecutionContext context;
  context.threads = threads;
  return rows_of(*run_program(finish(), context));
}

}  // namespace diptych::testing
