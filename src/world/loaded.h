/* A scene that a context has: its definition, what follows from it, its bodies and pairs, and its
 * tables on each device that has needed them. */
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

/* The clouds of a scene's pairs on a device. Only scenes whose contacts are springs have them;
 * others have NULL and 0. */
typedef struct resident_springs {
  buffer *heads, *shapes, *pairs; /* all clouds, packed by query/spring/pack.h; (pairs, 2) the
                                     pairs' clouds */
  size_t room;                    /* how many padded points the largest pair has */
} resident_springs;

/* What a scene that sweeps has on a device. */
typedef struct resident_sweep {
  buffer **settings; /* (pairs) of ccd_bodies; NULL of a pair that is not swept */
  buffer **outward;  /* (bodies) directions out of each mesh that a swept pair has; NULL of other
                        bodies */
  size_t pairs, bodies;
} resident_sweep;

/* What the broad phase has on a device (geometry/world.h). */
typedef struct resident_broad {
  buffer *links, *bodies;         /* (count) ints, (count, BROAD_REALS) of the scene's bodies, and
                                     of parts of those */
  buffer *candidates, *type_runs; /* (runs, CANDIDATE_RUN, CANDIDATE_INTS), (types, TYPE_INTS)
                                     ints */
  size_t count, runs, types;
} resident_broad;

/* The tables of tables.h on a device. */
typedef struct resident_tables {
  world_sizes sizes;
  buffer *head, *ints, *reals, *parameters; /* head is `sizes`, for kernels */
  buffer *bodies; /* (groups, 2, 7) the position and quaternion of each body of a scene's own
                     group on its link */
  buffer *order;  /* (groups) ints: loaded_scene.pair_order, or as they come */
  resident_springs springs;
  resident_sweep *sweep; /* NULL: nothing is swept */
  resident_broad *broad; /* NULL: every pair goes through the manifold */
} resident_tables;

/* The pair that gives way most, for its size, under what rests on it as the scene starts
 * (docs/spring.md). Springs alone give way: with other laws all is 0. */
typedef struct scene_sinking {
  double share, depth, k; /* by which share of the smaller body's diagonal; how deep [m]; the
                             stiffness [N/m] that would make the share 1 % */
  size_t pair, pairs;     /* which pair it is; how many give way by more than 1 % */
} scene_sinking;

/* Groups of pairs of equal bodies and smoothings: those that loaded_scene.pair_order names from
 * `first` on. */
typedef struct pair_type {
  size_t first, count;
} pair_type;

/* How many world pairs and contacts a world has had at most on a member of the context, as means of
 * chunks, and how many contacts its world pairs could have had; 0: none yet. Contacts are not
 * counted where there is room for all of these. */
typedef struct scene_load {
  size_t pairs, contacts, slots;
} scene_load;

/* What the manifold of a group is of: a pair of the scene's bodies, or of parts of them
 * (world/tiles.h), or with the bridge of a seam (world/seams.h). */
typedef struct group_part {
  abut_pair pair;
  int tile; /* PART_WHOLE, PART_FIELD, PART_BRIDGE, or which tile of the body of side `side` */
  int side;
  size_t seam; /* of a bridge, in the place of the body of side `side` */
} group_part;
#define PART_BRIDGE (-3)
#define PART_WHOLE (-2)
#define PART_FIELD (-1)

/* The parts that a body of a scene has been cut into, null handles where nobody needs them. */
typedef struct body_cut {
  abut_body whole, field, *tiles;
  size_t tile_count;
} body_cut;

/* A pair whose body of side `side` is cut, and the pairs of parts that take its place: with the
 * field, then with each tile. */
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
  abut_body
    *bodies; /* (body_count) by scene_body_number. Null handles are those of bodies that no pair
                has, and of springs between clouds, until scene_need_bodies makes them. */
  size_t body_count;
  abut_pair *pairs;      /* (def.pair_count) null handles for springs, and for pairs without
                            bodies */
  contact_group *groups; /* (group_count) of pairs, then of tiles, pair by pair */
  group_part *parts;     /* (group_count) where contacts are the manifold's, else NULL */
  size_t group_count;
  body_cut *body_cuts;
  pair_cut *pair_cuts;
  size_t body_cut_count, pair_cut_count;
  scene_seams *seams;    /* world/seams.h; NULL: there are none */
  pair_type *pair_types; /* (pair_type_count) where contacts are the manifold's and all pairs have
                            bodies; NULL, 0 */
  int *pair_order;       /* (group_count) groups, type by type */
  size_t pair_type_count;
  abut_ccd_mesh *meshes; /* (body_count) of bodies that are swept, else null handles; NULL:
                            nothing is swept */
  char **warnings;       /* (warning_count) that the last abut_check_scene has found */
  size_t warning_count, warning_room;
  arena warning_texts;
  const abut_scene_options
    *progress_to;      /* receives the progress of loading; NULL: none wanted, or done */
  bool given;          /* Some pair has no bodies, so that each call must give its contacts. */
  scene_clouds clouds; /* of springs, and the two below as well; empty with other laws */
  scene_sinking sinking;
  packed_clouds packed;         /* in the context's precision */
  resident_tables *on[MEMBERS]; /* NULL where no call has needed the member yet */
  double rates[MEMBERS];        /* worlds a second, by which the schedule shares worlds among
                                   members */
  scene_load loads[MEMBERS];    /* a member's are written by its own thread */
} loaded_scene;

/* Returns the scene of a handle, or NULL with an error text. */
loaded_scene *scene_get(abut_scene s);

/* Loads a scene from the text of a scene's file, which must name no other files. */
abut_status scene_of_text(abut_context context, const char *text, abut_scene *out);

/* Sets *out to the scene's tables on member `place` of its context; the scene owns them. The first
 * call for a member makes them and brings them there. */
abut_status scene_on(loaded_scene *s, size_t place, const resident_tables **out);

/* Makes the scene's bodies where they are not there yet. Steps go without those of springs between
 * clouds, and without bodies that no pair has; pictures and sweeping need them. */
abut_status scene_need_bodies(loaded_scene *s);

/* Frees the warnings that were found. */
void scene_forget_warnings(loaded_scene *s);

/* Refuses positions (nq) that are not finite, and quaternions of length 0. */
abut_status scene_check_positions(const loaded_scene *s, const double *q);

/* Returns whether positions (nq) are finite and have no quaternion of length 0. scene_put_links
 * fills places with where the links then are. */
bool scene_has_places(const loaded_scene *s, const double *q);
void scene_put_links(const loaded_scene *s, const double *q, double (*places)[PLACE]);

/* Numbers the types of whole pairs, and returns how many there are. pairs (pair_type_count) gets of
 * each type the pair that stands for all, types (pair_count) the type of each candidate. */
size_t scene_number_types(const loaded_scene *s, abut_pair *pairs, uint32_t *types);

/* Fills places (links, PLACE of place.h) with where the links are at the positions q (nq). Refuses
 * positions that are not finite, and quaternions of length 0. */
abut_status scene_place_links(const loaded_scene *s, const double *q, double *places);

/* Makes the scene's tables with `count` groups of contacts and brings them to a device. A call with
 * given contacts has groups of its own. *out is empty on failure. */
abut_status resident_make(const loaded_scene *s, device *d, const contact_group *groups,
                          size_t count, resident_tables *out);
void resident_free_tables(resident_tables *r);

/* Brings numbers to a device as its own reals, and one more, so that there is a buffer where there
 * are none. */
abut_status upload_reals(device *d, const double *from, size_t count, buffer **out);

/* ---- for contact laws ---- */

/* A law's `load` where contacts are the manifold's: makes bodies and pairs, fits smoothings that
 * are not stated whole, and refuses more slots of contacts than kernels count. */
abut_status scene_load_pairs(loaded_scene *s, abut_context c, const scene_bodies *bodies);

/* A law's `inform` where contacts are the manifold's: counts the slots of all pairs, and tells how
 * many bodies of files have diagnostics, with those of the first. */
void scene_inform_of_pairs(const loaded_scene *s, abut_scene_info *info);

#endif
