#include "io/cell_text.h"

#include <cstring>

#include "base/format.h"
#include "tablet/dictionary.h"

namespace diptych {
void append_cell(std::string& out, const ColumnView& view, const Type& type, int64_t row) {
  switch (type.id) {
    case TypeId::Boolean: return append_boolean(out, integer_at(view, row) != 0);
    case TypeId::Null:
    case TypeId::SmallInt:
    case TypeId::Integer:
    case TypeId::BigInt: return append_integer(out, static_cast<int64_t>(integer_at(view, row)));
    case TypeId::Real: return append_float(out, plain_at<float>(view, row));
    case TypeId::Double: return append_double(out, plain_at<double>(view, row));
    case TypeId::Numeric: return append_numeric(out, integer_at(view, row), type.scale);
    case TypeId::Date: return append_date(out, static_cast<int32_t>(integer_at(view, row)));
    case TypeId::Timestamp: return append_timestamp(out, static_cast<int64_t>(integer_at(view, row)));
    case TypeId::Interval: return append_interval(out, plain_at<Interval>(view, row));
    case TypeId::Text:
    case TypeId::Varchar: out.append(string_at(view, row)); return;
    case TypeId::Char: return append_padded(out, string_at(view, row), type.length);
  }
}

}  // namespace diptych
