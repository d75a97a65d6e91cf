// MD5 (RFC 1321): sqllogictest files keep long results as the digest of their text.
#pragma once

#include <string>
#include <string_view>

namespace slt {

// The digest of `text` as 32 lower-case hexadecimal digits.
std::string md5_hex(std::string_view text);

}  // namespace slt
