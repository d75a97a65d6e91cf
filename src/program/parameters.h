// Where a program has the values of parameters, so that a run with other values puts them in instead of compiling.
//
//   SELECT ... WHERE a < $1 AND s = $2         1 Integer r1 5     <- $1, whose values fit 32 bits
//                                              4 Integer r3 17    <- the code of $2 in the dictionary of s
//   tablets may be left out where a >= 5                          <- $1
//
// A program with other values put in is what compiling with these would have made, but for the ranges that are proven
// of registers: they hold for all values that the facts allow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/value.h"
#include "program/range.h"

namespace diptych {

class Dictionary;
struct Instruction;
struct Program;

struct ParameterUse {
  enum class Kind : uint8_t {
    Load,      // instruction `place` loads it
    Compared,  // so, into a register that is only compared, and whose range is this one value
    Code,      // instruction `place` loads its code in the dictionary; `no_code` for a string that is not there
    Member,    // value `member` of set `place`
    Zone,      // the bound of zone condition `member` of cursor `place`
  };
  Kind kind = Kind::Load;
  int32_t parameter = 0;
  int32_t place = 0;
  int32_t member = 0;
  const Dictionary* dictionary = nullptr;
  uint32_t no_code = 0;
};

// What was taken to be known of a parameter: that its value lies in a range, or that it is just this one.
struct ParameterFact {
  int32_t parameter = 0;
  std::optional<Range> range;  // of integers and numerics (unscaled)
  Value value;                 // without a range
};

struct ParameterUses {
  std::vector<ParameterUse> uses;
  std::vector<ParameterFact> facts;
};

// Puts the values of another run in, none of which is NULL where it was not. False: a fact does not hold, and nothing
// was done.
bool put_parameters(Program& program, std::span<const Value> values);

// Makes the instruction one that loads this integer or numeric.
void put_integer(Instruction& load, const Value& value);
uint32_t code_of(const Dictionary& dictionary, const std::string& text, uint32_t no_code);

}  // namespace diptych
