// Strings that kernels look up have offsets of 32 bits.
#include "engine/gpu/section_constants.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tablet/dictionary.h"

namespace diptych::gpu {
namespace {

using Kind = KernelParameter::Kind;

// Whether strings of 3, 0 and 5 bytes have room where a dictionary, a set or a lookup may have so many.
bool have_room(Kind kind, size_t most_string_bytes) {
  const char* texts[] = {"abc", "", "defgh"};
  Dictionary dictionary;
  Program program;
  program.lookups.resize(1);
  program.lookups[0].entry.physical = PhysicalType::Text;
  program.sets.resize(1);
  program.sets[0].physical = PhysicalType::Text;
  for (const char* text : texts) {
    dictionary.find_or_append(text);
    program.lookups[0].values.push_back(Value::text(text));
    program.sets[0].values.push_back(Value::text(text));
  }
  SectionKernel kernel;
  kernel.parameters.push_back({kind, 0, 0});
  const Dictionary* dictionaries[] = {&dictionary};
  try {
    const SectionConstants constants(program, kernel, dictionaries, most_string_bytes);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::out_of_memory) << error.message();
    return false;
  }
}

TEST(SectionConstants, StringsOfTooManyBytesAreAnError) {
  for (const Kind kind : {Kind::Dictionary, Kind::SetValues, Kind::LookupEntries}) {
    EXPECT_FALSE(have_room(kind, 0));
    EXPECT_FALSE(have_room(kind, 2));
    EXPECT_FALSE(have_room(kind, 7));
    EXPECT_TRUE(have_room(kind, 8));
    EXPECT_TRUE(have_room(kind, size_t{1} << 20));
  }
}

}  // namespace
}  // namespace diptych::gpu
