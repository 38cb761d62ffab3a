/* The host's table of primitive families, used by files, checks, packing and pictures. The kernels'
 * part is cl/geometry. The list for both is cl/geometry/families.h. docs/dev/extending.md describes
 * how to add a family. */
#ifndef ABUT_FAMILY_FAMILY_H
#define ABUT_FAMILY_FAMILY_H

#include "base/memory.h"
#include "base/reals.h"
#include "format/json.h"
#include "geometry/families.h"
#include <abut/body.h>

#define OPERATIONS 2 /* ABUT_ADD, ABUT_SUBTRACT */

/* Write position while one operation's primitives of a family are packed. */
typedef struct packer {
  reals *shape;
  size_t at;   /* the next real */
  size_t base; /* the first */
  int *ranges; /* next range of a ranged family, see packer_range */
} packer;

/* One operation's primitives of a family as devices read them: an entry of cl/geometry/layout.h. */
typedef struct packed {
  size_t count;
  const int *ranges;
  size_t base;       /* their first real */
  const void *shape; /* all reals of the body */
  size_t real_bytes;
} packed;

typedef struct box {
  double lower[3], upper[3]; /* HUGE_VAL, -HUGE_VAL: empty; -HUGE_VAL, HUGE_VAL: unbounded */
} box;

/* A point near which a surface is, and the distance. */
typedef struct spot {
  double at[3], reach;
} spot;

typedef struct family {
  const char *key;  /* of their list in body files */
  const char *one;  /* the name of a primitive in error texts */
  size_t size;      /* size of a primitive's definition in bytes */
  size_t operation; /* offset of its operation */
  size_t array;     /* offset of their array in abut_body_def, */
  size_t count;     /* and of their number */
  bool ranged;      /* each has a range in the head; otherwise */
  size_t stride;    /* each has this number of reals */
  bool loose;       /* they may extend beyond their box */
  bool ends;        /* `enclose` always gives a bounded box */
  /* Reads a primitive of a body file without its operation. Allocates its arrays from `memory`. */
  abut_status (*read)(const json_file *f, const json_at *at, arena *memory, void *one);
  /* Rejects values out of range, and names primitive i. */
  abut_status (*check)(const void *one, size_t i);
  /* Returns the number of reals for one operation's primitives. */
  size_t (*room)(const void *const *ones, size_t count);
  /* Packs them in the format that the kernels' NAME_add reads. */
  abut_status (*pack)(packer *p, const void *const *ones, size_t count);
  /* Adds a primitive to the counts of abut_get_body_info, except `primitives`. */
  void (*inform)(const void *one, abut_body_info *info);
  /* Widens a box by added primitives. */
  void (*cover)(const packed *p, box *b);
  /* Widens a box by the region where the added primitives' own distances, as devices compute them,
   * may be at most `reach` >= 0. The box is unbounded if the family cannot bound it. */
  void (*enclose)(const packed *p, double reach, box *b);
  /* Lists points near which the whole surface of added primitives is, and returns their number.
   * spots may be NULL. The function is NULL if a family has no such points. */
  size_t (*spots)(const packed *p, spot *spots);
} family;

extern const family *const families[FAMILY_COUNT];

/* A definition's primitives of a family. */
const void *family_one(const family *f, const abut_body_def *def, size_t i);
size_t family_count(const family *f, const abut_body_def *def);
bool family_given(const family *f, const abut_body_def *def); /* whether its array is not NULL */
abut_operation family_operation(const family *f, const void *one);

/* Sets a definition's array of `count` primitives. */
void family_set(const family *f, abut_body_def *def, const void *array, size_t count);

/* Whether a definition has a primitive of any family. */
bool family_any(const abut_body_def *def);

/* Whether any primitive is added. */
bool family_any_added(const abut_body_def *def);

/* The primitives in a body's head and reals. which: an index into `families`. */
packed packed_of(const int *head, const reals *shape, abut_operation operation, size_t which);

/* Primitive i of these. which: their family's index. */
packed packed_one(const packed *p, size_t which, size_t i);

/* Real i after the base. */
static inline double packed_number(const packed *p, size_t i)
{
  return p->real_bytes == sizeof(double) ? ((const double *)p->shape)[p->base + i]
                                         : (double)((const float *)p->shape)[p->base + i];
}

void box_cover(box *b, const double point[3]);
void box_unbound(box *b); /* makes it unbounded */

#endif
