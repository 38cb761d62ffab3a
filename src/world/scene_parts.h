/* What the files that read scenes share. */
#ifndef ABUT_WORLD_SCENE_PARTS_H
#define ABUT_WORLD_SCENE_PARTS_H

#include "format/json.h"
#include "world/scene_def.h"

#define LINKS_MOST 4096

typedef struct reader {
  const json_file *file;
  scene_def *s;
  const char *model; /* contact model in place of the file's; NULL: the file's */
  bool replaced;     /* it is another one */
} reader;

#define CHECK_KEYS(file, at, keys) json_check_keys(file, at, keys, sizeof(keys) / sizeof *(keys))

/* ---- values (scene_values.c); what is missing leaves *out as it is ---- */

typedef struct bound {
  double least;
  bool open; /* `least` itself is not allowed */
} bound;

extern const bound bound_any, bound_not_negative, bound_positive;

abut_status scene_number(const json_file *f, const json_at *parent, const char *key, bound b,
                         double *out);
abut_status scene_vector(const json_file *f, const json_at *parent, const char *key, size_t count,
                         double *out);

/* A whole number from `least` on. */
abut_status scene_count(const json_file *f, const json_at *parent, const char *key, int least,
                        int *out);

/* A vector that is not 0, made of length 1. */
abut_status scene_unit(const json_file *f, const json_at *parent, const char *key, size_t count,
                       double *out);

/* Two numbers, the first below the second; *there tells whether they are given. */
abut_status scene_range(const json_file *f, const json_at *parent, const char *key, double out[2],
                        bool *there);

/* The number of one of several words. */
abut_status scene_word(const json_file *f, const json_at *parent, const char *key,
                       const char *const *words, int count, int *out);

/* Sets it to what `solref` and `solimp` say, or to the defaults. */
abut_status scene_softness(const json_file *f, const json_at *parent, const char *solref,
                           const char *solimp, softness *out);

/* Fails, with a text, where a key is there that must not be. */
abut_status scene_refuse(const json_file *f, const json_at *parent, const char *key, bool allowed,
                         const char *why);

/* A text, and a file's name as it is found from the scene's folder, both of the scene's memory. */
abut_status scene_text(reader *r, const char *text, char **out);
abut_status scene_path(reader *r, const json_at *at, char **out);

/* An array of things, which may be missing: their list and zeroed room for them. */
abut_status scene_list(reader *r, const json_at *root, const char *key, size_t size, size_t most,
                       json_at *list, void **out, size_t *count);

/* ---- links (scene_links.c) ---- */

extern const char *const joint_words[];

abut_status scene_links(reader *r, const json_at *root);

/* A link by its number or its name, of the first `count`; -1 is the world where `parent` says
 * that a link's parent is asked for. */
abut_status scene_link_of(reader *r, const json_at *at, size_t count, bool parent, int *out);

#endif
