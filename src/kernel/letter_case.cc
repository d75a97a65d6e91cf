// Case of characters beyond ASCII, by the tables of utf8proc.
#include <utf8proc.h>

#include "kernel/kernel.h"

// utf8proc has a capital for the sharp s, which Unicode's simple mapping and PostgreSQL leave as it is.
dk_i32 dk_unicode_upper(dk_i32 code) { return code == 0xDF ? code : utf8proc_toupper(code); }
dk_i32 dk_unicode_lower(dk_i32 code) { return utf8proc_tolower(code); }

dk_bool dk_unicode_is_alnum(dk_i32 code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL: return 1;
    // Circled letters and the Greek iota below are no letters by their category, but have a case.
    default: return utf8proc_toupper(code) != code || utf8proc_tolower(code) != code;
  }
}
