#include "api/handles.h"

#include <algorithm>

namespace diptych {

void ErrorState::set(const Error& error, std::string_view text) {
  sqlstate_ = code_of(error.state());
  message_ = error.message();
  hint_ = error.hint();
  position_ = 0;
  if (error.position() < 0) return;
  const auto before = text.substr(0, static_cast<size_t>(error.position()));
  const auto is_first_byte = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  position_ = std::count_if(before.begin(), before.end(), is_first_byte) + 1;
}

void ErrorState::set(SqlState state, std::string message) {
  clear();
  sqlstate_ = code_of(state);
  message_ = std::move(message);
}

diptych_error ErrorState::view() const { return {sqlstate_.c_str(), message_.c_str(), hint_.c_str(), position_}; }

}  // namespace diptych
