#define DIPTYCH_ISA v3
#define DIPTYCH_ISA_NAME "v3"
#include "engine/cpu/loops/table.inc"
