// What a program takes for granted of the rows of a source that it reads: how many there are, and of its columns
// bounds, NULLs and dictionaries. The compiler learns of rows here alone, so that a program may run again over other
// rows of which the same holds.
//
//   rows      at most 1000
//   a         bigint in 32 bits, in [3, 99], never NULL
//   city      text, perhaps NULL; dictionary 17, which has 12 entries
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace diptych {

// Whether no row of the source was deleted.
bool has_all_rows(const TabletSource& source);

// Of the source's rows as they are now, and of these columns alone.
SourceFacts facts_of(const TabletSource& source, std::span<const size_t> columns);

// Whether a program that was compiled for the facts is right for the source, which has the same columns. Rows of which
// more is known (tighter bounds, fewer of them, no NULLs) will do; a dictionary must be the same and have the same
// entries, since lookups have one value for each, and a string that is not there has a code behind them.
bool hold(const SourceFacts& facts, const TabletSource& source);

}  // namespace diptych
