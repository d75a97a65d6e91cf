// Typed lines: editing, history and completion through libedit (emacs keys, ~/.editrc is obeyed). What is pasted goes
// into the line as it is: a tab in it asks for no completion.
#pragma once

#include <histedit.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "shell/edit/completion.h"
#include "shell/interrupt_pipe.h"

namespace diptych::shell {

class LineEditor {
 public:
  enum class Outcome { Line, Interrupted, End };

  // Reads the history file if there is one; an empty path means none is kept. All must outlive the editor.
  LineEditor(Completion& completion, const InterruptPipe& interrupts, std::string history_path);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Shows `prompt` and reads a line, without its line break, into `line`. Interrupted: Ctrl-C; End: Ctrl-D.
  Outcome read(const std::string& prompt, std::string& line);

  // Makes `entry` the newest of the history, here and in the file, with its lines as they are.
  void remember(std::string_view entry);

 private:
  static LineEditor& of(EditLine* editor);
  static const char* show_prompt(EditLine* editor);
  static int read_character(EditLine* editor, wchar_t* character);
  static unsigned char complete(EditLine* editor, int key);
  int next_character(wchar_t* character);
  bool takes_mark(wchar_t first);

  EditLine* editor_;
  History* history_;
  Completion& completion_;
  const InterruptPipe& interrupts_;
  std::string history_path_;
  std::string prompt_;
  const bool marks_pastes_;
  bool interrupted_ = false;
  bool pasting_ = false;       // between the marks of a paste
  bool quoted_ = false;        // the next character is for libedit's quoted insert
  std::deque<wchar_t> ahead_;  // read, but not yet given to libedit
};

}  // namespace diptych::shell
