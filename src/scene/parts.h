/* What the files that read scenes' files share. */
#ifndef ABUT_SCENE_PARTS_H
#define ABUT_SCENE_PARTS_H

#include "format/json.h"
#include <stdint.h>
#include "scene/definition.h"

#define LINKS_MOST 4096

typedef struct reader {
  const json_file *file;
  scene_def *s;
  const char *model; /* the contact model that takes the place of the file's, or NULL */
  bool replaced;     /* `model` is another one than the file's */
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

/* Reads a whole number that is at least `least`. */
abut_status scene_count(const json_file *f, const json_at *parent, const char *key, int least,
                        int *out);

/* Reads a vector, refuses 0, and makes its length 1. */
abut_status scene_unit(const json_file *f, const json_at *parent, const char *key, size_t count,
                       double *out);

/* Reads two numbers, of which the first must be below the second. *there tells whether they are
 * given. */
abut_status scene_range(const json_file *f, const json_at *parent, const char *key, double out[2],
                        bool *there);

/* Sets *out to the place among `words` of the word that is given. */
abut_status scene_word(const json_file *f, const json_at *parent, const char *key,
                       const char *const *words, int count, int *out);

/* Sets *out to what the keys `solref` and `solimp` say, or to the defaults, clipped as
 * docs/scenes.md says. */
abut_status scene_softness(const json_file *f, const json_at *parent, const char *solref,
                           const char *solimp, softness *out);

/* Does the same, but what is missing stays as it is. */
abut_status scene_softness_over(const json_file *f, const json_at *parent, const char *solref,
                                const char *solimp, softness *out);

/* Reads how many directions a contact resists in: 1, or 3 with friction. */
abut_status scene_condim(const json_file *f, const json_at *parent, int *out);

/* Reads 32 bits as a whole number. */
abut_status scene_bits(const json_file *f, const json_at *parent, const char *key, uint32_t *out);

/* Fails with the text `why` where the key is there although it is not `allowed`. */
abut_status scene_refuse(const json_file *f, const json_at *parent, const char *key, bool allowed,
                         const char *why);

/* Copy a text, and the path of a file as it is found from the scene's folder, to the scene's
 * memory. */
abut_status scene_text(reader *r, const char *text, char **out);
abut_status scene_path(reader *r, const json_at *at, char **out);

/* Finds an array of at most `most` elements and makes zeroed room for as many things of `size`
 * bytes. Where the key is missing, *count is 0. */
abut_status scene_list(reader *r, const json_at *root, const char *key, size_t size, size_t most,
                       json_at *list, void **out, size_t *count);

/* ---- links (scene_links.c) ---- */

extern const char *const joint_words[];

abut_status scene_links(reader *r, const json_at *root);

/* Finds one of the first `count` links by its number or its name. Where `parent` says that a link's
 * parent is read, -1 stands for the world. */
abut_status scene_link_of(reader *r, const json_at *at, size_t count, bool parent, int *out);

/* Returns the one of the first `count` links that has a name, or WORLD. */
int scene_link_named(const scene_def *s, size_t count, const char *name);

/* ---- tendons and equalities (equalities.c) ---- */

/* Read fixed tendons, and equality constraints, behind the links. */
abut_status scene_tendons(reader *r, const json_at *root);
abut_status scene_equalities(reader *r, const json_at *root);

/* Finds a tendon by its number or its name. */
abut_status scene_tendon_of(reader *r, const json_at *at, int *out);

/* ---- pairs (scene_pairs.c) ---- */

/* Reads what automatic pairs have in common, which bodies start from: before the links. */
abut_status scene_automatic(reader *r, const json_at *root);

/* Reads the listed pairs, and then which links are excluded from automatic ones: behind the
 * links. */
abut_status scene_pairs(reader *r, const json_at *root);
abut_status scene_excluded(reader *r, const json_at *root);

#endif
