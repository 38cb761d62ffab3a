/* Output format of the program that reads meshes with Assimp (src/reader): vertices, triangles, and
 * a trailer with their counts. The record is at the end of the output, so earlier messages of a
 * library are harmless. Numbers are in native format. */
#ifndef ABUT_FORMAT_ASSIMP_RECORD_H
#define ABUT_FORMAT_ASSIMP_RECORD_H

#include <stdint.h>

#define ASSIMP_RECORD_MARK UINT64_C(0x314853454d54554a)

/* The trailer, which follows 3 doubles per vertex and 3 uint32_t per triangle. */
typedef struct assimp_record_end {
  uint64_t vertices, triangles;
  uint64_t mark;
} assimp_record_end;

/* The program's exit status if the file is faulty. Standard error has the reason. */
#define ASSIMP_READER_REFUSES 2

#endif
