// The one exception type: it ends a statement and is caught where the API hands control back to the caller.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace diptych {

// Every SQLSTATE the system raises: identifier, five characters, what it means (PostgreSQL, appendix A).
#define DIPTYCH_SQLSTATES(X)                                                             \
  X(feature_not_supported, "0A000", "a part of SQL that is not there yet")               \
  X(cardinality_violation, "21000", "a single row was expected")                         \
  X(string_data_right_truncation, "22001", "a string is too long for its type")          \
  X(numeric_value_out_of_range, "22003", "a number does not fit its type")               \
  X(invalid_datetime_format, "22007", "a text is no date, timestamp or interval")        \
  X(datetime_field_overflow, "22008", "a date, timestamp or interval is out of range")   \
  X(substring_error, "22011", "substring with a negative length")                        \
  X(division_by_zero, "22012", "division by zero")                                       \
  X(interval_field_overflow, "22015", "a part of an interval is out of range")           \
  X(invalid_argument_for_logarithm, "2201E", "logarithm of zero or a negative number")   \
  X(invalid_argument_for_power, "2201F", "power or square root outside its domain")      \
  X(invalid_row_count_in_limit, "2201W", "LIMIT is negative")                            \
  X(invalid_row_count_in_offset, "2201X", "OFFSET is negative")                          \
  X(character_not_in_repertoire, "22021", "a string is not valid UTF-8")                 \
  X(invalid_parameter_value, "22023", "a setting or argument has a value it can't have") \
  X(invalid_escape_sequence, "22025", "a LIKE pattern ends in its escape character")     \
  X(invalid_text_representation, "22P02", "a text can't be read as the type")            \
  X(bad_copy_file_format, "22P04", "a file to be read is not in the format")             \
  X(not_null_violation, "23502", "NULL in a column that is NOT NULL")                    \
  X(unique_violation, "23505", "a key is there already")                                 \
  X(invalid_transaction_state, "25000", "not possible in this state of the transaction") \
  X(active_sql_transaction, "25001", "possible only before the first query of one")      \
  X(read_only_sql_transaction, "25006", "a change in a transaction that is READ ONLY")   \
  X(no_active_sql_transaction, "25P01", "SAVEPOINT without a transaction")               \
  X(in_failed_sql_transaction, "25P02", "the transaction has failed; ROLLBACK ends it")  \
  X(invalid_savepoint, "3B001", "no such savepoint")                                     \
  X(invalid_schema_name, "3F000", "no such schema")                                      \
  X(invalid_object_definition, "42P17", "a view names itself")                           \
  X(serialization_failure, "40001", "others have changed what the transaction saw")      \
  X(syntax_error, "42601", "the text is not SQL")                                        \
  X(duplicate_column, "42701", "a column name appears twice")                            \
  X(duplicate_alias, "42712", "a name is given twice")                                   \
  X(ambiguous_column, "42702", "a column name fits several columns")                     \
  X(undefined_column, "42703", "no such column")                                         \
  X(undefined_object, "42704", "no such type or setting")                                \
  X(ambiguous_function, "42725", "a call fits several functions")                        \
  X(grouping_error, "42803", "a column is neither grouped nor aggregated")               \
  X(datatype_mismatch, "42804", "an expression has the wrong type")                      \
  X(wrong_object_type, "42809", "a function is called as if it were an aggregate")       \
  X(cannot_coerce, "42846", "no cast between these types")                               \
  X(undefined_function, "42883", "no such function or operator for these types")         \
  X(undefined_table, "42P01", "no such table")                                           \
  X(undefined_parameter, "42P02", "no such parameter")                                   \
  X(duplicate_table, "42P07", "the table exists already")                                \
  X(invalid_column_reference, "42P10", "a position out of range, or a column in LIMIT")  \
  X(invalid_table_definition, "42P16", "a table can't be defined so")                    \
  X(indeterminate_datatype, "42P18", "the type of a parameter can't be told")            \
  X(disk_full, "53100", "no space left on the device")                                   \
  X(out_of_memory, "53200", "the memory limit is reached")                               \
  X(program_limit_exceeded, "54000", "a limit of the system is reached")                 \
  X(statement_too_complex, "54001", "an expression is nested too deeply")                \
  X(object_in_use, "55006", "the database is open elsewhere")                            \
  X(lock_not_available, "55P03", "others changed tables for longer than lock_timeout")   \
  X(query_canceled, "57014", "cancelled on request")                                     \
  X(system_error, "58000", "the driver of a device, or its compiler, reports an error")  \
  X(io_error, "58030", "an input or output operation failed")                            \
  X(undefined_file, "58P01", "no such file")                                             \
  X(internal_error, "XX000", "an invariant does not hold: a defect of the system")       \
  X(data_corrupted, "XX001", "the database file is damaged")

enum class SqlState {
#define X(name, code, text) name,
  DIPTYCH_SQLSTATES(X)
#undef X
};

// The five characters of a state.
const char* code_of(SqlState state);

class Error : public std::exception {
 public:
  // position: 0-based byte offset into the statement's text, -1 when unknown.
  Error(SqlState state, std::string message, int position = -1, std::string hint = {})
      : state_(state), message_(std::move(message)), hint_(std::move(hint)), position_(position) {}

  const char* what() const noexcept override { return message_.c_str(); }
  SqlState state() const { return state_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  int position() const { return position_; }

  // The same error at a place, for code that learns the position further out; a position already known stays.
  Error at(int position) const { return position_ >= 0 ? *this : Error(state_, message_, position, hint_); }

 private:
  SqlState state_;
  std::string message_;
  std::string hint_;
  int position_;
};

// Ends the statement with XX000 naming the invariant when it does not hold. For defects, never for bad input.
inline void check_invariant(bool holds, const char* invariant) {
  if (!holds) throw Error(SqlState::internal_error, std::string("invariant broken: ") + invariant);
}

}  // namespace diptych
