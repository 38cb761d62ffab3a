/* Scenes of golden answers of springs, with words of them changed. */
#ifndef ABUT_TESTS_SPRING_SCENES_H
#define ABUT_TESTS_SPRING_SCENES_H

#include "spring/golden.h"
#include <abut/world.h>
#include <unistd.h>

static inline char *read_text(const char *path)
{
  FILE *f = fopen(path, "rb");
  REQUIRE(f != NULL);
  char *text = calloc(1 << 16, 1);
  REQUIRE(text && fread(text, 1, (1 << 16) - 1, f) > 0);
  fclose(f);
  return text;
}

/* Writes `text` with the value behind a key replaced. */
static inline void replace_value(char *text, const char *key, const char *value)
{
  char name[64], *at = text;
  snprintf(name, sizeof name, "\"%s\": ", key);
  while ((at = strstr(at, name)) != NULL) {
    at += strlen(name);
    const size_t old = strcspn(at, ",\n}"), rest = strlen(at + old) + 1;
    memmove(at + strlen(value), at + old, rest);
    memcpy(at, value, strlen(value));
  }
}

/* Of a scene's text, which it releases: files that it names are a case's. */
static inline abut_scene scene_of_text(const char *name, char *text)
{
  char path[1024], value[1400];
  abut_scene scene;
  for (char *at = text; (at = strstr(at, "\"file\": \"")) != NULL;) {
    char own[256];
    at += strlen("\"file\": \"");
    if (*at == '/') {
      continue;
    }
    const size_t length = strcspn(at, "\"");
    REQUIRE(length < sizeof own);
    memcpy(own, at, length);
    own[length] = 0;
    snprintf(value, sizeof value, "%s/%s/%s", root, name, own);
    memmove(at + strlen(value), at + length, strlen(at + length) + 1);
    memcpy(at, value, strlen(value));
  }
  snprintf(path, sizeof path, "spring-%ld.scene.json", (long)getpid());
  FILE *f = fopen(path, "wb");
  REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  remove(path);
  free(text);
  return scene;
}

static inline char *text_of(const char *name, const char *file)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s/%s", root, name, file);
  return read_text(path);
}

/* A case's scene with another integrator and step. */
static inline abut_scene scene_of(const char *name, const char *file, const char *integrator,
                                  const char *timestep)
{
  char value[64], *text = text_of(name, file);
  if (integrator) {
    snprintf(value, sizeof value, "\"%s\"", integrator);
    replace_value(text, "integrator", value);
    replace_value(text, "timestep", timestep);
  }
  return scene_of_text(name, text);
}

#endif
