// The table lineorder: orders, each of one to seven lines, which are its rows.
#pragma once

#include <cstdint>
#include <string>

#include "scale.h"

namespace ssb {

//   1|1|18238|155190|828|19960130|2-HIGH|0|17|2116823|10523209|4|2032150|74711|2|19960311|TRUCK|
// Money is in cents.
void append_orders(const Scale& scale, int64_t first_order, int64_t orders, std::string& text);

}  // namespace ssb
