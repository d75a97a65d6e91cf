#include "api/handles.h"

#include <algorithm>

namespace diptych {

void ErrorState::clear() noexcept {
  sqlstate_ = "00000";
  message_.clear();
  hint_.clear();
  position_ = 0;
}

void ErrorState::set_from_exception(std::string_view text) noexcept {
  clear();
  try {
    try {
      throw;
    } catch (const Error& error) {
      set(error, text);
    } catch (const std::bad_alloc&) {
      set(Error(SqlState::out_of_memory, "out of memory"), {});
    } catch (const std::exception& error) {
      set(Error(SqlState::internal_error, error.what()), {});
    } catch (...) {
      set(Error(SqlState::internal_error, "an exception of unknown type"), {});
    }
  } catch (...) {
    sqlstate_ = code_of(SqlState::out_of_memory);  // there is not even room for a message
  }
}

void ErrorState::set(const Error& error, std::string_view text) {
  sqlstate_ = code_of(error.state());
  message_ = error.message();
  hint_ = error.hint();
  if (error.position() < 0) return;
  const auto before = text.substr(0, static_cast<size_t>(error.position()));
  const auto is_first_byte = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  position_ = std::count_if(before.begin(), before.end(), is_first_byte) + 1;
}

diptych_error ErrorState::view() const noexcept { return {sqlstate_, message_.c_str(), hint_.c_str(), position_}; }

}  // namespace diptych
