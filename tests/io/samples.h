/* Good files of every format, made here: for damaging them, and as seeds of the fuzz targets. */
#ifndef ABUT_TESTS_IO_SAMPLES_H
#define ABUT_TESTS_IO_SAMPLES_H

#include "base/mesh_formats.h"

#include <stddef.h>

#define SAMPLE_FORMAT(extension, id) SAMPLE_##id

typedef enum sample_kind {
  MESH_FORMATS(SAMPLE_FORMAT, MESH_COMMA, MESH_COMMA), /* by the numbers of mesh_format */
  SAMPLE_BODY,
  SAMPLE_SMOOTHING,
  SAMPLE_NPZ,
  SAMPLE_CSV,
  SAMPLE_POSES, /* .npy, read by ranges */
  SAMPLE_TUNING,
  SAMPLE_PAIRS,
  SAMPLE_GRID,
  SAMPLE_HEIGHTS, /* .npy and .png */
  SAMPLE_SCENE,
  SAMPLE_SHAPES,
  SAMPLE_ASSIMP, /* what the program that reads meshes by Assimp hands over */
  SAMPLE_TABLE,  /* of superquadrics: text with commas, with blanks, and .npy */
  SAMPLE_KINDS
} sample_kind;

typedef struct sample {
  char *bytes;
  size_t count;
} sample;

#define SAMPLE_LIMIT 8

/* Fills out[] and returns how many there are. Free each one's bytes. Aborts without memory. */
size_t samples_make(sample_kind kind, sample out[SAMPLE_LIMIT]);

/* How much of the end of sample `number` may be missing unseen: blanks, a name, or all but a line
 * of a text that has no end mark (SIZE_MAX). Everything shorter must be refused. */
size_t sample_loss(sample_kind kind, size_t number);

/* Room for bytes in the making. */
typedef struct buffer {
  char *bytes;
  size_t count, room;
} buffer;

void buffer_put(buffer *b, const void *bytes, size_t count);
void buffer_text(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_u32(buffer *b, unsigned value, int big_endian);
void buffer_f32(buffer *b, float value, int big_endian);

/* A tetrahedron as binary STL, whose header starts with `title`. */
void buffer_binary_stl(buffer *b, const char *title, unsigned triangles);

/* A square pyramid as PLY: format is "ascii", "binary_little_endian" or "binary_big_endian". */
void buffer_ply(buffer *b, const char *format);

#endif
