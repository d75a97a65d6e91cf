// The numbers by which the lowering of a section (engine/gpu/interpreter) and the interpreter's kernel (interpret.h)
// understand each other; C++ and kernels both read this file. The kernel sees a section as words:
//
//   head | steps, 4 words each | table: constants, lists of operands | passes that write rows, 2 each | states, 4 each
//   | ranges, 3 each
//
//   step     kind, case << 8, flags << 24 | operand a | operand b | out | mask of out | numbers | address | next
//            (halves of the words, the lower first; `next` is where steps go on when no row is left)
//   pass     operand, what << 32, bytes << 40, stride << 48 | address
//   state    kind, first word << 8, words << 32 | what its words are without rows
//   range    operand, kind << 32, whether negated << 40 | least | greatest, or of floats the bits of the bound
#pragma once

enum dk_step_kind {
  DK_STEP_END,
  DK_STEP_JOIN,      // rows that wait at this target come back; operand a is their mask
  DK_STEP_DROP,      // invalid rows are forgotten
  DK_STEP_INVALID,   // rows become invalid
  DK_STEP_LOGIC,     // a condition of truth values and NULLs; case is a dk_logic
  DK_STEP_RANGE,     // whether column a is in the range whose number is the case
  DK_STEP_ROWS,      // any operation, row by row: operand a is the place of the list of operands, b how many there are
  DK_STEP_ROWID,     // from here on, quads of values
  DK_STEP_MOVE,      // of at most 8 bytes
  DK_STEP_VALUE,     // an operation on operands of at most 8 bytes
  DK_STEP_COMPARE,   // the same, a condition
  DK_STEP_LOOKUP,    // entry a of the table whose addresses are at b; case is its bytes
  DK_STEP_IN,        // whether a is in the list whose address and count are at b; case is a dk_list
  DK_STEP_AGGREGATE  // a into the state whose first word is `out`; case is a dk_state
};

// The first three read no truth values.
enum dk_logic {
  DK_LOGIC_ALWAYS,
  DK_LOGIC_IS_NULL,
  DK_LOGIC_IS_NOT_NULL,
  DK_LOGIC_TRUE,
  DK_LOGIC_NOT,
  DK_LOGIC_IS_TRUE,
  DK_LOGIC_IS_FALSE,
  DK_LOGIC_AND,
  DK_LOGIC_OR
};

// The first case of operations row by row: the operand as it is.
enum dk_row_case_number { DK_ROW_MOVE };

enum dk_list { DK_LIST_I32, DK_LIST_I64, DK_LIST_F32, DK_LIST_F64 };

// Of steps that write or jump.
enum dk_step_flag {
  DK_SETS = 1,           // a condition becomes a truth value ...
  DK_JUMPS = 2,          // ... or moves rows
  DK_JUMPS_IF_NULL = 4,  //
  DK_FINISHES = 8,       // rows that jump, or are made invalid, are forgotten
  DK_MAKES_VALID = 16,   //
  DK_MAKES_INVALID = 32,
  DK_DISTINCT = 64,          // IS DISTINCT FROM, made of <>, or IS NOT DISTINCT FROM, made of =
  DK_NULL_UNLESS_TRUE = 128  // what is not found gives NULL
};

// Of DK_STEP_AGGREGATE.
enum dk_aggregate_flag {
  DK_LAST_SINK = 1,  // counts the rows
  DK_SQUARES = 2,    // takes the argument's square
  DK_REAL4 = 4,      // the argument is a real ...
  DK_REAL8 = 8       // ... or a double precision
};

// Where an operand is: the low 3 bits. Above them: its place, 13 bits; the mask of its rows that are not NULL, 8 bits
// (of a column: whether it has NULLs); a dk_column_form.
enum dk_operand {
  DK_AT_NOTHING,
  DK_AT_TABLE,   // two words of the table
  DK_AT_VALUE,   // a register of one word a row
  DK_AT_WIDE,    // a register of two words a row
  DK_AT_MASK,    // truth values: a mask
  DK_AT_COLUMN,  // place: of the column's description among the tablet's words
};

// What a range is of: whole numbers, or floats of 4 bytes below, up to, or at a bound.
enum dk_range_kind { DK_RANGE_WHOLE, DK_RANGE_BELOW, DK_RANGE_UP_TO, DK_RANGE_AT };

// How a column of a tablet is read.
enum dk_column_form {
  DK_COLUMN_CODES,    // base + factor * code
  DK_COLUMN_COUNTED,  // base + code
  DK_COLUMN_RAW,      // unsigned numbers, bits of floats
  DK_COLUMN_SIGNED,   // of 4 bytes
  DK_COLUMN_WIDE      // of 16 bytes
};

// What a pass writes of its operand.
enum dk_pass { DK_PASS_LOW, DK_PASS_HIGH, DK_PASS_KNOWN };

// The states of aggregates, in the order of engine/gpu/generator/aggregate_state.h; the last is of bits.
enum dk_state {
  DK_STATE_COUNT,
  DK_STATE_SUM_I64,
  DK_STATE_SUM_I128,
  DK_STATE_SUM192,
  DK_STATE_SUM_F64,
  DK_STATE_LEAST,
  DK_STATE_GREATEST,
  DK_STATE_LEAST_I128,
  DK_STATE_GREATEST_I128,
  DK_STATE_MOMENTS,
  DK_STATE_BITS
};

// The words at the head of a section.
enum dk_section_word {
  DK_SECTION_WORDS_USED,  // in all
  DK_SECTION_TABLET_WORDS,
  DK_SECTION_TABLE,  // place of the table
  DK_SECTION_PASSES,
  DK_SECTION_PASS_COUNT,
  DK_SECTION_STATES,
  DK_SECTION_STATE_COUNT,  // the first state is of the bits that say what came, the last counts the rows
  DK_SECTION_RERUNS,       // not 0: the rows written are computed, so steps run again before they are
  DK_SECTION_RANGES,
  DK_SECTION_RANGE_COUNT,
  DK_SECTION_HEAD_WORDS
};

// What the kernel has room for.
enum dk_interpreter_room {
  DK_SECTION_ROOM = 640,  // words
  DK_TABLET_ROOM = 124,   // words: 20 columns
  DK_VALUE_ROOM = 24,     // words of a row in registers
  DK_MASK_ROOM = 64,
  DK_STATE_ROOM = 40,  // words
  DK_RANGE_ROOM = 24,  // ranges
  DK_ROW_OPERANDS = 6  // of an operation row by row
};

enum dk_interpreter_mask { DK_MASK_ALL, DK_MASK_NONE, DK_MASK_FIRST_FREE };
