#include "shell/edit/line_editor.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <cwchar>
#include <iostream>
#include <new>

namespace diptych::shell {

namespace {

constexpr int history_entries = 5000;

// One UTF-8 character from `descriptor`: 1, or 0 at its end. Bytes that are no character are passed over.
int read_utf8(int descriptor, wchar_t* character) {
  std::mbstate_t state = {};
  while (true) {
    char byte;
    const ssize_t got = ::read(descriptor, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    const size_t used = std::mbrtowc(character, &byte, 1, &state);
    if (used == static_cast<size_t>(-1)) state = {};
    if (used <= 1) return 1;
  }
}

std::string one_line(std::string_view entry) {
  // A line comment would swallow what is joined to it, so its entry stays as it was typed.
  std::string joined(entry);
  while (!joined.empty() && joined.back() == '\n') joined.pop_back();
  if (joined.find("--") != std::string::npos) return joined;
  for (char& c : joined) {
    if (c == '\n') c = ' ';
  }
  return joined;
}

}  // namespace

LineEditor::LineEditor(Completion& completion, const InterruptPipe& interrupts, std::string history_path)
    : editor_(::el_init("diptych", stdin, stdout, stderr)),
      history_(::history_init()),
      completion_(completion),
      interrupts_(interrupts),
      history_path_(std::move(history_path)) {
  if (editor_ == nullptr || history_ == nullptr) throw std::bad_alloc();
  HistEvent event;
  ::history(history_, &event, H_SETSIZE, history_entries);
  ::history(history_, &event, H_SETUNIQUE, 1);
  if (!history_path_.empty()) ::history(history_, &event, H_LOAD, history_path_.c_str());

  ::el_set(editor_, EL_CLIENTDATA, this);
  ::el_set(editor_, EL_PROMPT, &LineEditor::show_prompt);
  ::el_set(editor_, EL_EDITOR, "emacs");
  ::el_set(editor_, EL_HIST, &::history, history_);
  ::el_set(editor_, EL_GETCFN, &LineEditor::read_character);
  ::el_set(editor_, EL_ADDFN, "diptych-complete", "Complete the word", &LineEditor::complete);
  ::el_set(editor_, EL_BIND, "^I", "diptych-complete", nullptr);
  ::el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  ::el_source(editor_, nullptr);
}

LineEditor::~LineEditor() {
  ::el_end(editor_);
  ::history_end(history_);
}

LineEditor::Outcome LineEditor::read(const std::string& prompt, std::string& line) {
  prompt_ = prompt;
  interrupted_ = false;
  interrupts_.take();
  int count = 0;
  const char* text = ::el_gets(editor_, &count);
  if (interrupted_) {
    std::cout << "^C\n" << std::flush;
    return Outcome::Interrupted;
  }
  if (text == nullptr || count <= 0) return Outcome::End;
  line.assign(text);
  if (line.ends_with('\n')) line.pop_back();
  return Outcome::Line;
}

void LineEditor::remember(std::string_view entry) {
  HistEvent event;
  ::history(history_, &event, H_ENTER, one_line(entry).c_str());
  if (!history_path_.empty()) ::history(history_, &event, H_SAVE, history_path_.c_str());
}

LineEditor& LineEditor::of(EditLine* editor) {
  void* self = nullptr;
  ::el_get(editor, EL_CLIENTDATA, &self);
  return *static_cast<LineEditor*>(self);
}

const char* LineEditor::show_prompt(EditLine* editor) { return of(editor).prompt_.c_str(); }

// libedit's own reader restarts after a signal, so that Ctrl-C would go unnoticed: this one waits for both.
int LineEditor::read_character(EditLine* editor, wchar_t* character) {
  LineEditor& self = of(editor);
  pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {self.interrupts_.descriptor(), POLLIN, 0}};
  while (::poll(waits, 2, -1) < 0 && errno == EINTR) {
  }
  if (waits[1].revents != 0 && self.interrupts_.take()) {
    self.interrupted_ = true;
    return -1;
  }
  // A Ctrl-D typed while no line was edited comes as a NUL, which libedit would put into the line.
  int count = read_utf8(STDIN_FILENO, character);
  while (count == 1 && *character == 0) count = read_utf8(STDIN_FILENO, character);
  return count;
}

unsigned char LineEditor::complete(EditLine* editor, int) {
  LineEditor& self = of(editor);
  const LineInfo* info = ::el_line(editor);
  const std::string line(info->buffer, info->cursor);
  const std::string_view word = last_word(line);
  const std::vector<std::string> found = self.completion_.candidates(line);
  if (found.empty()) return CC_REFRESH_BEEP;

  std::string rest = common_prefix(found);
  const size_t typed = word.size();
  rest = rest.size() > typed ? rest.substr(typed) : std::string();
  if (found.size() == 1) rest += ' ';
  if (!rest.empty()) {
    ::el_insertstr(editor, rest.c_str());
    return CC_REFRESH;
  }
  std::cout << '\n';
  for (const std::string& candidate : found) std::cout << candidate << "  ";
  std::cout << '\n' << std::flush;
  return CC_REDISPLAY;
}

}  // namespace diptych::shell
