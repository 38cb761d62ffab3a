/* A file as Assimp reads it, as one mesh of triangles. */
#ifndef ABUT_READER_SCENE_H
#define ABUT_READER_SCENE_H

#include <stddef.h>
#include <stdint.h>

typedef struct triangles {
  double *vertices;  /* (vertex_count, 3) */
  uint32_t *corners; /* (triangle_count, 3) */
  size_t vertex_count, triangle_count;
} triangles;

/* Room for the reason of a refusal. */
#define REASON_BYTES 512

/* Reads it. 0; else the reason is told. */
int scene_read(const char *path, triangles *out, char reason[REASON_BYTES]);

/* "5.2.4", of the library that runs. */
void assimp_version(char text[32]);

#endif
