// The appender of the C API.
#include "session/appender.h"

#include <optional>

#include "api/handles.h"

using diptych::guard;

struct diptych_appender {
  diptych::ErrorState error;
  std::optional<diptych::Appender> appender;
};

namespace {

template <typename Body>
diptych_status run(diptych_appender* appender, Body&& body) {
  return guard(appender->error, {}, [&] {
    if (!appender->appender)
      throw diptych::Error(diptych::SqlState::invalid_transaction_state, "the appender has finished");
    body(*appender->appender);
    return DIPTYCH_OK;
  });
}

}  // namespace

extern "C" {

diptych_status diptych_append_begin(diptych_connection* connection, const char* table, diptych_appender** appender) {
  *appender = nullptr;
  return guard(connection->error, {}, [&] {
    auto made = std::make_unique<diptych_appender>();
    made->appender.emplace(connection->connection, table);
    *appender = made.release();
    return DIPTYCH_OK;
  });
}

diptych_status diptych_append_null(diptych_appender* appender) {
  return run(appender, [](diptych::Appender& rows) { rows.append_null(); });
}

diptych_status diptych_append_int64(diptych_appender* appender, int64_t value) {
  return run(appender, [&](diptych::Appender& rows) { rows.append(value); });
}

diptych_status diptych_append_double(diptych_appender* appender, double value) {
  return run(appender, [&](diptych::Appender& rows) { rows.append(value); });
}

diptych_status diptych_append_text(diptych_appender* appender, const char* text, int64_t bytes) {
  return run(appender, [&](diptych::Appender& rows) {
    rows.append(bytes < 0 ? std::string_view(text) : std::string_view(text, static_cast<size_t>(bytes)));
  });
}

diptych_status diptych_append_end_row(diptych_appender* appender) {
  return run(appender, [](diptych::Appender& rows) { rows.end_row(); });
}

diptych_status diptych_append_finish(diptych_appender* appender) {
  const diptych_status status = run(appender, [](diptych::Appender& rows) { rows.finish(); });
  if (status == DIPTYCH_OK) appender->appender.reset();
  return status;
}

void diptych_append_abandon(diptych_appender* appender) { delete appender; }

diptych_error diptych_append_error(const diptych_appender* appender) { return appender->error.view(); }
}
