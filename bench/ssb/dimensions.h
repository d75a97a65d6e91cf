// The tables customer, supplier and part. Rows are counted from 0 and come out the same in whatever runs they are asked
// for.
#pragma once

#include <cstdint>
#include <string>

#include "scale.h"

namespace ssb {

//   1|Customer#000000001|j5JsirBM9P|MOROCCO  6|MOROCCO|AFRICA|25-214-662-5265|BUILDING|
void append_customers(const Scale& scale, int64_t first_row, int64_t rows, std::string& text);

//   1|Supplier#000000001|sdrGnXCDRcfriBvY0KL,i|PERU     9|PERU|AMERICA|27-989-741-2988|
void append_suppliers(int64_t first_row, int64_t rows, std::string& text);

//   1|lace spring|MFGR#1|MFGR#11|MFGR#1121|goldenrod|PROMO BURNISHED COPPER|7|JUMBO PKG|
void append_parts(int64_t first_row, int64_t rows, std::string& text);

}  // namespace ssb
