/* What the program that reads meshes by Assimp (src/reader) hands over: vertices, triangles, and
 * behind them an end that says how many. It stands at the end of what the program writes, so that a
 * word of a library before it does no harm. Numbers are in the machine's own form. */
#ifndef ABUT_FORMAT_ASSIMP_RECORD_H
#define ABUT_FORMAT_ASSIMP_RECORD_H

#include <stdint.h>

#define ASSIMP_RECORD_MARK UINT64_C(0x314853454d54554a)

/* Behind 3 doubles a vertex and 3 uint32_t a triangle. */
typedef struct assimp_record_end {
  uint64_t vertices, triangles;
  uint64_t mark;
} assimp_record_end;

/* The program's exit status where the file is at fault; standard error says why. */
#define ASSIMP_READER_REFUSES 2

#endif
