/* A shared library needs a source of its own; everything in it comes from the stage libraries. */
typedef int diptych_empty;
