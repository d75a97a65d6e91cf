// All of the kernel subset for C++, in the order in which its texts are put together for the other compilers.
#pragma once

// The files are one text with three readers, and not every reader uses every parameter.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "kernel/bits.h"
#include "kernel/calendar.h"
#include "kernel/cast.h"
#include "kernel/date.h"
#include "kernel/dialect.h"
#include "kernel/extract.h"
#include "kernel/float.h"
#include "kernel/hash.h"
#include "kernel/integer.h"
#include "kernel/like.h"
#include "kernel/numeric.h"
#include "kernel/parse_number.h"
#include "kernel/print.h"
#include "kernel/text.h"
#include "kernel/text_out.h"
#include "kernel/wide.h"
#include "kernel/words.h"
#pragma GCC diagnostic pop
