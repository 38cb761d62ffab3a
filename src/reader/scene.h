/* Reads a file with Assimp as a single triangle mesh. */
#ifndef ABUT_READER_SCENE_H
#define ABUT_READER_SCENE_H

#include <stddef.h>
#include <stdint.h>

typedef struct triangles {
  double *vertices;  /* (vertex_count, 3) */
  uint32_t *corners; /* (triangle_count, 3) */
  size_t vertex_count, triangle_count;
} triangles;

/* Room for an error text. */
#define REASON_BYTES 512

/* Reads a file. Returns 0, or another value with the reason of the failure. */
int scene_read(const char *path, triangles *out, char reason[REASON_BYTES]);

/* Version of the loaded library, such as "5.2.4". */
void assimp_version(char text[32]);

#endif
