/* A scene of a context: its definition, derived data, bodies, pairs, and its tables on each device
 * that has used it. */
#ifndef ABUT_WORLD_LOADED_H
#define ABUT_WORLD_LOADED_H

#include "body/ccd_bodies.h"
#include "engine/device/context.h"
#include "query/spring/pack.h"
#include "scene/bodies.h"
#include "scene/clouds.h"
#include "scene/place.h"
#include "world/tables.h"
#include <abut/world.h>

/* The point clouds of a scene's pairs on a device. Only scenes of springs have them; otherwise NULL
 * and 0. */
typedef struct resident_springs {
  buffer *heads, *shapes,
    *pairs;    /* all clouds, packed by query/spring/pack.h; (pairs, 2) the clouds of each pair */
  size_t room; /* the padded points of the largest pair */
} resident_springs;

/* Data of a scene that sweeps, on a device. */
typedef struct resident_sweep {
  buffer **settings; /* (pairs) settings of ccd_bodies; NULL for a pair that is not swept */
  buffer **outward;  /* (bodies) outward directions of each swept mesh; NULL for other bodies */
  size_t pairs, bodies;
} resident_sweep;

/* Data of the broad phase on a device (geometry/world.h). */
typedef struct resident_broad {
  buffer *links,
    *bodies; /* (count) ints, (count, BROAD_REALS): the scene's bodies and parts of bodies */
  buffer *candidates,
    *type_runs; /* (runs, CANDIDATE_RUN, CANDIDATE_INTS), (types, TYPE_INTS) ints */
  size_t count, runs, types;
} resident_broad;

/* The tables of tables.h on a device. */
typedef struct resident_tables {
  world_sizes sizes;
  buffer *head, *ints, *reals, *parameters; /* head: `sizes` for kernels */
  buffer *bodies; /* (groups, 2, 7) position and quaternion of each group's bodies on their links;
                     only for the scene's own groups */
  buffer *order;  /* (groups) ints: loaded_scene.pair_order, or 0, 1, 2 ... without it */
  resident_springs springs;
  resident_sweep *sweep; /* NULL: nothing is swept */
  resident_broad *broad; /* NULL: all pairs go through the manifold */
} resident_tables;

/* The pair with the largest relative penetration at rest in the scene's initial state
 * (docs/spring.md). All zero for laws other than springs. */
typedef struct scene_sinking {
  double share, depth, k; /* penetration as a share of the smaller body's diagonal; penetration [m];
                             the stiffness [N/m] at which the share would be 1 % */
  size_t pair, pairs;     /* the pair; how many pairs penetrate by more than 1 % */
} scene_sinking;

/* The groups with equal bodies and smoothings: `count` entries of loaded_scene.pair_order from
 * `first` on. */
typedef struct pair_type {
  size_t first, count;
} pair_type;

/* The largest chunk means of world pairs, contacts, and contact slots per world, on one member of
 * the context; 0: none yet. Contacts are not counted if there is memory for all slots. */
typedef struct scene_load {
  size_t pairs, contacts, slots;
} scene_load;

/* The pair whose manifold gives a group's contacts. Its bodies are bodies of the scene, parts of
 * them (world/tiles.h), or the bridge of a seam (world/seams.h). */
typedef struct group_part {
  abut_pair pair;
  int tile; /* PART_WHOLE, PART_FIELD, PART_BRIDGE, or a tile of the body of side `side` */
  int side;
  size_t seam; /* the bridge that replaces the body of side `side` */
} group_part;
#define PART_BRIDGE (-3)
#define PART_WHOLE (-2)
#define PART_FIELD (-1)

/* The parts of a body that is cut into tiles; null handles if not needed. */
typedef struct body_cut {
  abut_body whole, field, *tiles;
  size_t tile_count;
} body_cut;

/* A pair whose body of side `side` is cut, and the pairs that replace it: one with the field, then
 * one per tile. */
typedef struct pair_cut {
  abut_pair whole, *parts;
  size_t tile_count;
  int side;
} pair_cut;

typedef struct scene_seams scene_seams;

typedef struct loaded_scene {
  owned base;
  context *context;
  scene_def def;
  scene_constants constants;
  abut_body *bodies; /* (body_count) by scene_body_number. Null until scene_need_bodies makes them:
                        bodies without pairs, and bodies of springs between clouds. */
  size_t body_count;
  abut_pair *pairs; /* (def.pair_count) null handles for springs, and for pairs without bodies */
  contact_group *groups; /* (group_count) the pairs, then the tiles pair by pair */
  group_part *parts;     /* (group_count) if contacts come from the manifold, else NULL */
  size_t group_count;
  body_cut *body_cuts;
  pair_cut *pair_cuts;
  size_t body_cut_count, pair_cut_count;
  scene_seams *seams;    /* world/seams.h; NULL: none */
  pair_type *pair_types; /* (pair_type_count) if contacts come from the manifold and all pairs have
                            bodies; else NULL and 0 */
  int *pair_order;       /* (group_count) the groups, ordered by type */
  size_t pair_type_count;
  abut_ccd_mesh *meshes; /* (body_count) meshes of swept bodies, null handles for others; NULL:
                            nothing is swept */
  char **warnings;       /* (warning_count) warnings of the last abut_check_scene */
  size_t warning_count, warning_room;
  arena warning_texts;
  const abut_scene_options
    *progress_to;      /* receives the progress of loading; NULL: none wanted, or done */
  bool given;          /* Some pair has no bodies, so each call must give its contacts. */
  scene_clouds clouds; /* for springs, as are the next two; empty for other laws */
  scene_sinking sinking;
  packed_clouds packed;         /* in the precision of the context */
  resident_tables *on[MEMBERS]; /* NULL until a call needs the member */
  double rates[MEMBERS];        /* worlds per second, by which the schedule shares worlds */
  scene_load loads[MEMBERS];    /* each is written only by its member's thread */
} loaded_scene;

/* Returns the scene of a handle, or NULL with an error text. */
loaded_scene *scene_get(abut_scene s);

/* Loads a scene from text in the file format, which must not refer to other files. */
abut_status scene_of_text(abut_context context, const char *text, abut_scene *out);

/* Sets *out to the scene's tables on member `place` of its context. The first call for a member
 * makes and uploads them. The scene owns them. */
abut_status scene_on(loaded_scene *s, size_t place, const resident_tables **out);

/* Makes the bodies that are still missing. Steps do without the bodies of springs between clouds
 * and without bodies that no pair uses; pictures and sweeping need them. */
abut_status scene_need_bodies(loaded_scene *s);

/* Frees the warnings that were found. */
void scene_forget_warnings(loaded_scene *s);

/* Refuses positions (nq) that are not finite, and quaternions of length 0. */
abut_status scene_check_positions(const loaded_scene *s, const double *q);

/* scene_has_places returns whether positions (nq) are finite and all quaternions have nonzero
 * length. scene_put_links fills places with the link poses there. */
bool scene_has_places(const loaded_scene *s, const double *q);
void scene_put_links(const loaded_scene *s, const double *q, double (*places)[PLACE]);

/* Numbers the pair types of whole pairs and returns their count. pairs (pair_type_count) receives a
 * representative pair of each type, types (pair_count) the type of each candidate. */
size_t scene_number_types(const loaded_scene *s, abut_pair *pairs, uint32_t *types);

/* Fills places (links, PLACE of place.h) with the link poses at positions q (nq). Refuses positions
 * that are not finite and quaternions of length 0. */
abut_status scene_place_links(const loaded_scene *s, const double *q, double *places);

/* Makes the scene's tables for `count` contact groups and uploads them. A call with given contacts
 * has its own groups. *out is empty on failure. */
abut_status resident_make(const loaded_scene *s, device *d, const contact_group *groups,
                          size_t count, resident_tables *out);
void resident_free_tables(resident_tables *r);

/* Uploads numbers in the device's precision, plus one more, so the buffer is never empty. */
abut_status upload_reals(device *d, const double *from, size_t count, buffer **out);

/* ---- for contact laws ---- */

/* The `load` of laws whose contacts come from the manifold: makes bodies and pairs, fits smoothings
 * that are not fully stated, and refuses more contact slots than kernels can count. */
abut_status scene_load_pairs(loaded_scene *s, abut_context c, const scene_bodies *bodies);

/* The `inform` of laws whose contacts come from the manifold: counts the slots of all pairs and the
 * bodies of files with diagnostics, and reports those of the first such body. */
void scene_inform_of_pairs(const loaded_scene *s, abut_scene_info *info);

#endif
