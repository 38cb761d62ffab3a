/* Declarations shared by the files that read scene files. */
#ifndef ABUT_SCENE_PARTS_H
#define ABUT_SCENE_PARTS_H

#include "format/json.h"
#include <stdint.h>
#include "scene/definition.h"

#define LINKS_MOST 4096

typedef struct reader {
  const json_file *file;
  scene_def *s;
  const char *model; /* the contact model that replaces the file's, or NULL */
  bool replaced;     /* `model` differs from the file's */
} reader;

#define CHECK_KEYS(file, at, keys) json_check_keys(file, at, keys, sizeof(keys) / sizeof *(keys))

/* ---- values (values.c); a missing value leaves *out unchanged ---- */

typedef struct bound {
  double least;
  bool open; /* `least` itself is not allowed */
} bound;

extern const bound bound_any, bound_not_negative, bound_positive;

abut_status scene_number(const json_file *f, const json_at *parent, const char *key, bound b,
                         double *out);
abut_status scene_vector(const json_file *f, const json_at *parent, const char *key, size_t count,
                         double *out);

/* Reads an integer that is at least `least`. */
abut_status scene_count(const json_file *f, const json_at *parent, const char *key, int least,
                        int *out);

/* Reads a vector, refuses 0, and normalizes it to length 1. */
abut_status scene_unit(const json_file *f, const json_at *parent, const char *key, size_t count,
                       double *out);

/* Reads two numbers, the first of which must be less than the second. *there is set if they are
 * given. */
abut_status scene_range(const json_file *f, const json_at *parent, const char *key, double out[2],
                        bool *there);

/* Sets *out to the index of the given word among `words`. */
abut_status scene_word(const json_file *f, const json_at *parent, const char *key,
                       const char *const *words, int count, int *out);

/* Sets *out from the keys `solref` and `solimp`, or to the defaults, clipped as described in
 * docs/scenes.md. */
abut_status scene_softness(const json_file *f, const json_at *parent, const char *solref,
                           const char *solimp, softness *out);

/* Does the same, but missing values leave *out unchanged. */
abut_status scene_softness_over(const json_file *f, const json_at *parent, const char *solref,
                                const char *solimp, softness *out);

/* Reads the number of directions in which a contact resists: 1, or 3 with friction. */
abut_status scene_condim(const json_file *f, const json_at *parent, int *out);

/* Reads 32 bits as an integer. */
abut_status scene_bits(const json_file *f, const json_at *parent, const char *key, uint32_t *out);

/* Fails with the text `why` if the key is present although it is not `allowed`. */
abut_status scene_refuse(const json_file *f, const json_at *parent, const char *key, bool allowed,
                         const char *why);

/* Copy a text, and the path of a file resolved from the scene's folder, to the scene's memory. */
abut_status scene_text(reader *r, const char *text, char **out);
abut_status scene_path(reader *r, const json_at *at, char **out);

/* Finds an array of at most `most` elements and allocates zeroed room for as many objects of `size`
 * bytes. If the key is missing, *count is 0. */
abut_status scene_list(reader *r, const json_at *root, const char *key, size_t size, size_t most,
                       json_at *list, void **out, size_t *count);

/* ---- links (links.c) ---- */

extern const char *const joint_words[];

abut_status scene_links(reader *r, const json_at *root);

/* Finds one of the first `count` links by its number or its name. If `parent` is set, a link's
 * parent is read and -1 is the world. */
abut_status scene_link_of(reader *r, const json_at *at, size_t count, bool parent, int *out);

/* Returns the link with a name among the first `count`, or WORLD. */
int scene_link_named(const scene_def *s, size_t count, const char *name);

/* ---- tendons and equalities (equalities.c) ---- */

/* Read fixed tendons, and equality constraints; called after the links are read. */
abut_status scene_tendons(reader *r, const json_at *root);
abut_status scene_equalities(reader *r, const json_at *root);

/* Finds a tendon by its number or its name. */
abut_status scene_tendon_of(reader *r, const json_at *at, int *out);

/* ---- pairs (pairs.c) ---- */

/* Reads the common settings of automatic pairs, which are the defaults of bodies: called before the
 * links. */
abut_status scene_automatic(reader *r, const json_at *root);

/* Read the listed pairs, and the links that are excluded from automatic ones: called after the
 * links. */
abut_status scene_pairs(reader *r, const json_at *root);
abut_status scene_excluded(reader *r, const json_at *root);

#endif
