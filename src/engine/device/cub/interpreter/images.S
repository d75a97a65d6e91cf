/* The texts of the interpreter, and what nvcc made of each (fatbins). The build puts them where .incbin finds them. */
#define DIPTYCH_BYTES(name, file)          \
  .balign 16; .hidden name; .global name; name: .incbin file; \
  .hidden name##_end; .global name##_end; name##_end: .byte 0

  .section .rodata
  DIPTYCH_BYTES(diptych_operators_text, "operators.cu")
  DIPTYCH_BYTES(diptych_operators_image, "operators.fatbin")
  DIPTYCH_BYTES(diptych_functions_text, "functions.cu")
  DIPTYCH_BYTES(diptych_functions_image, "functions.fatbin")
  .section .note.GNU-stack,"",%progbits
