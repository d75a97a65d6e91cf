// All of the kernel subset for C++, in the order in which its texts are put together for the other compilers.
#pragma once

// One text has three readers, and not every function uses every parameter that its row in functions.def gives it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
// clang-format off
#include "kernel/dialect.h"
#include "kernel/wide.h"
#include "kernel/integer.h"
#include "kernel/bits.h"
#include "kernel/float.h"
#include "kernel/numeric.h"
#include "kernel/exact_moments.h"
#include "kernel/narrow.h"
#include "kernel/hash.h"
#include "kernel/cast.h"
#include "kernel/calendar.h"
#include "kernel/date.h"
#include "kernel/text.h"
#include "kernel/sort_key.h"
#include "kernel/letter_case.h"
#include "kernel/words.h"
#include "kernel/extract.h"
#include "kernel/like.h"
#include "kernel/text_out.h"
#include "kernel/print.h"
#include "kernel/parse_number.h"
#include "kernel/parse_fields.h"
#include "kernel/parse_date.h"
#include "kernel/parse_interval.h"
#include "kernel/convert_host.h"
// clang-format on
#pragma GCC diagnostic pop

#include <string_view>

// The same bytes, as the functions take them.
inline dk_text dk_text_of(std::string_view text) { return {text.data(), static_cast<dk_i32>(text.size())}; }
