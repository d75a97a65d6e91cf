// The appender of the C API.
#include "session/appender.h"

#include <optional>

#include "api/handles.h"

using diptych::guard;
using diptych::not_null;

struct diptych_appender {
  mutable diptych::ErrorState error;
  std::shared_ptr<diptych::Session> session;  // what the appender stands on
  std::optional<diptych::Appender> appender;  // nothing: it has finished
};

namespace {

template <typename Body>
diptych_status run(diptych_appender* appender, Body&& body) {
  return guard(appender, {}, [&] {
    if (!appender->appender)
      throw diptych::Error(diptych::SqlState::invalid_transaction_state, "the appender has finished");
    body(*appender->appender);
    return DIPTYCH_OK;
  });
}

}  // namespace

extern "C" {

diptych_status diptych_append_begin(diptych_connection* connection, const char* table, diptych_appender** appender) {
  if (appender) *appender = nullptr;
  return guard(connection, {}, [&] {
    not_null(table, "the name of the table");
    not_null(appender, "the place for the appender");
    auto made = std::make_unique<diptych_appender>();
    made->session = connection->session;
    connection->session->connection.start_statement();
    made->appender.emplace(connection->session->connection, table);
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
  return run(appender, [&](diptych::Appender& rows) { rows.append(diptych::text_argument(text, bytes)); });
}

diptych_status diptych_append_end_row(diptych_appender* appender) {
  return run(appender, [](diptych::Appender& rows) { rows.end_row(); });
}

diptych_status diptych_append_finish(diptych_appender* appender) {
  return run(appender, [&](diptych::Appender& rows) {
    rows.finish();
    appender->appender.reset();
  });
}

void diptych_append_abandon(diptych_appender* appender) { delete appender; }

diptych_error diptych_append_error(const diptych_appender* appender) { return diptych::error_of(appender); }
}
