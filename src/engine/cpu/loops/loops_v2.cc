#define DIPTYCH_ISA v2
#define DIPTYCH_ISA_NAME "v2"
#include "engine/cpu/loops/table.inc"
