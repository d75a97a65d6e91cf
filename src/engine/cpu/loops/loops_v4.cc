#define DIPTYCH_ISA v4
#define DIPTYCH_ISA_NAME "v4"
#include "engine/cpu/loops/table.inc"
