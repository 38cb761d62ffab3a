/* What the host knows of each family of primitives: one table, which files, checks, packing and
 * pictures walk. The kernels' part is cl/geometry; the list of both is cl/geometry/families.h, and
 * docs/dev/extending.md says how to add a family. */
#ifndef ABUT_FAMILY_FAMILY_H
#define ABUT_FAMILY_FAMILY_H

#include "base/memory.h"
#include "base/reals.h"
#include "format/json.h"
#include "geometry/families.h"
#include <abut/body.h>

#define OPERATIONS 2 /* ABUT_ADD, ABUT_SUBTRACT */

/* Where the next numbers go while one operation's primitives of a family are packed. */
typedef struct packer {
  reals *shape;
  size_t at;   /* the next real */
  size_t base; /* the first */
  int *ranges; /* the next of a ranged family, see packer_range */
} packer;

/* One operation's primitives of a family as devices read them: an entry of cl/geometry/layout.h. */
typedef struct packed {
  size_t count;
  const int *ranges;
  size_t base;       /* their first real */
  const void *shape; /* all of the body's reals */
  size_t real_bytes;
} packed;

typedef struct box {
  double lower[3], upper[3]; /* HUGE_VAL, -HUGE_VAL: holds nothing; -HUGE_VAL, HUGE_VAL: has no
                                end */
} box;

/* A place near which a surface lies, and how near. */
typedef struct spot {
  double at[3], reach;
} spot;

typedef struct family {
  const char *key;  /* of their list in body files */
  const char *one;  /* what errors call a primitive */
  size_t size;      /* bytes of a primitive's definition */
  size_t operation; /* where its operation lies in it */
  size_t array;     /* where abut_body_def has their array, */
  size_t count;     /* and how many there are */
  bool ranged;      /* each has a range in the head; else */
  size_t stride;    /* each has so many reals */
  bool loose;       /* they may reach beyond their box */
  bool ends;        /* what `enclose` finds of them always has an end */
  /* Reads a primitive of a body file, all but its operation. What it points to is of `memory`. */
  abut_status (*read)(const json_file *f, const json_at *at, arena *memory, void *one);
  /* Refuses what is out of range, naming primitive i. */
  abut_status (*check)(const void *one, size_t i);
  /* How many reals one operation's primitives take. */
  size_t (*room)(const void *const *ones, size_t count);
  /* Packs them as NAME_add of the kernels reads them. */
  abut_status (*pack)(packer *p, const void *const *ones, size_t count);
  /* Counts a primitive in what abut_get_body_info tells, but for `primitives`. */
  void (*inform)(const void *one, abut_body_info *info);
  /* Widens a box by added primitives. */
  void (*cover)(const packed *p, box *b);
  /* Widens a box by where added primitives' own distances, as devices compute them, may be `reach`
   * or less; reach >= 0. Where a family knows no end the box has none. */
  void (*enclose)(const packed *p, double reach, box *b);
  /* Places near which alone the surface of added primitives lies; returns how many. spots may be
   * NULL. The whole is NULL where a family knows none. */
  size_t (*spots)(const packed *p, spot *spots);
} family;

extern const family *const families[FAMILY_COUNT];

/* A definition's primitives of a family. */
const void *family_one(const family *f, const abut_body_def *def, size_t i);
size_t family_count(const family *f, const abut_body_def *def);
bool family_given(const family *f, const abut_body_def *def); /* its array is not NULL */
abut_operation family_operation(const family *f, const void *one);

/* Lets a definition have an array of `count` primitives. */
void family_set(const family *f, abut_body_def *def, const void *array, size_t count);

/* Whether a definition has any primitive, of whatever family. */
bool family_any(const abut_body_def *def);

/* Whether any primitive is added. */
bool family_any_added(const abut_body_def *def);

/* The primitives of a body's head and reals. which: an index of `families`. */
packed packed_of(const int *head, const reals *shape, abut_operation operation, size_t which);

/* Primitive i of these alone. which: their family's index. */
packed packed_one(const packed *p, size_t which, size_t i);

/* Real i behind the base. */
static inline double packed_number(const packed *p, size_t i)
{
  return p->real_bytes == sizeof(double) ? ((const double *)p->shape)[p->base + i]
                                         : (double)((const float *)p->shape)[p->base + i];
}

void box_cover(box *b, const double point[3]);
void box_unbound(box *b); /* then it has no end */

#endif
