/* Worlds that move: trees of links with bodies, stepped on the devices of a context with MuJoCo's
 * soft contact law or with hard contacts, on smooth contacts, or with springs between point clouds.
 * docs/scenes.md has the format of scenes, docs/dev/cone-formulas.md, docs/dev/lcp-formulas.md and
 * docs/dev/spring-formulas.md the formulas, and docs/spring.md what of them is not there yet.
 *
 *   abut_scene scene;       abut_load_scene(context, "box.scene.json", &scene);
 *   abut_scene_info info;   abut_get_scene_info(scene, &info);
 *   abut_worlds w = abut_default_worlds();
 *   w.count = 1024;  w.q = ...;  w.v = ...;  w.steps = 100;   // (count, info.nq), (count, info.nv)
 *   w.q_next = ...;  w.v_next = ...;  w.status = ...;
 *   abut_step_worlds(scene, &w);
 */
#ifndef ABUT_WORLD_H
#define ABUT_WORLD_H

#include <abut/field.h>
#include <abut/render.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_scene {
  uint32_t index, generation;
} abut_scene;

/* Bits of a world's status. A world that is not finite, has diverged, whose mass matrix is singular
 * or whose input was bad keeps the last state that it had; others go on. */
typedef enum abut_world_status {
  ABUT_WORLD_OK = 0,
  ABUT_WORLD_NOT_FINITE = 1,
  ABUT_WORLD_DIVERGED = 2,       /* a velocity beyond the scene's `divergence` */
  ABUT_WORLD_OVERFLOW = 4,       /* contacts of a pair beyond the scene's `capacity`, or of a world
                                    beyond its `most_contacts` or `most` hard ones: some are left
                                    out */
  ABUT_WORLD_NOT_CONVERGED = 8,  /* the solver's last iterate was used, or its best */
  ABUT_WORLD_SINGULAR = 16,      /* a mass matrix or a Hessian that is not positive, or an implicit
                                    step without an answer */
  ABUT_WORLD_BAD_INPUT = 32,     /* not finite, a quaternion of length 0, a given contact's
                                    activity that is not between 0 and 1, or given springs whose
                                    mu is below 0 or whose other numbers are not above it */
  ABUT_WORLD_SQUEEZED = 64,      /* hard contacts pushed against each other: they gave way a
                                    little */
  ABUT_WORLD_FAST = 128,         /* bodies of a pair, near enough to meet, went farther against
                                    each other in a step than half of the thinner one: they may
                                    have passed through */
  ABUT_WORLD_GAINED = 256,       /* springs gave more energy in a step than they can have: the
                                    step is too long for them, or they are too stiff */
  ABUT_WORLD_SWEPT = 512,        /* in a scene with "sweep" bodies were stopped within a step
                                    where they would have passed through each other */
  ABUT_WORLD_SWEEP_LIMIT = 1024, /* that happened more than fifteen times in a step: what was left
                                    of the step is lost, for the whole world */
  ABUT_WORLD_DEEP = 2048,        /* bodies of a pair lay so deep in each other that contacts
                                    within their normal cones had less than half of the depth, and
                                    may not have pushed them apart */
  /* The bits with any of which a world has stopped. */
  ABUT_WORLD_STOPS = ABUT_WORLD_NOT_FINITE | ABUT_WORLD_DIVERGED | ABUT_WORLD_SINGULAR |
                     ABUT_WORLD_BAD_INPUT
} abut_world_status;

#define ABUT_WORLD_NEVER UINT32_MAX
#define ABUT_WORLD_STATUSES 12 /* bits of a world's status */

typedef struct abut_scene_info {
  size_t links, pairs, contacts; /* listed pairs; contacts: slots of these together; of springs
                                    between clouds one a pair */
  size_t springs;                /* listed pairs whose contacts are springs: all, or none */
  bool by_springs;               /* its contacts are springs, also where none of its pairs is
                                    listed */
  bool clouds;                   /* these springs are between clouds, of which there is no list of
                                    contacts */
  size_t nq, nv, nu;             /* positions, velocities, controls of a world: one of each
                                    actuator, then six of each moved link, a displacement [m] and a
                                    rotation vector [rad] along the world's axes */
  double timestep;               /* [s] */
  bool hard;                     /* of hard contacts: `iterations` say how a step was solved */
  double cloud_gap;              /* of springs: the most that the field of a body's cloud lies off
                                    its own faces, or is negative on the free way out from these,
                                    as a share of the body's diagonal. Above some 0.045 the mesh
                                    is too coarse or too hollow: bodies fall through it, lie on
                                    openings or gain energy */
  size_t cloud_link, cloud_body; /* whose that is: a link, and which of its bodies */
  double sinking, sinking_share; /* of springs at rest, as the scene starts: how deep the pair
                                    gives way that does most, m g / k of all that rests on it, in
                                    metres and as a share of the smaller body's diagonal. 0 of
                                    other contacts */
  double sinking_k;              /* [N/m] with which that share would be 1 % */
  size_t sinking_pair, sinking_pairs; /* which pair, or candidate, that is; how many have a share
                                         above 1 % */
  size_t suspicious_bodies;           /* of soft and hard contacts: bodies of files with suspicions
                                         (abut_body_info) */
  size_t suspicious_link, suspicious_body; /* the first of them: a link, and which of its bodies; */
  uint32_t suspicions;      /* its bits, misfits and diagonal, and below its report, as
                               abut_suspicion_text takes it */
  double misfit, diagonal;  /* [m] */
  double feature_misfit;    /* [m] */
  bool automatic;           /* Pairs are also found by themselves: the scene's `automatic`
                               (docs/scenes.md) */
  size_t bodies;            /* of all links */
  size_t candidates;        /* pairs that may collide: the listed ones, then the automatic
                               ones */
  size_t kinds;             /* of candidates, and of tiles: those of equal shapes and
                               smoothing are computed together. 0 where contacts are given,
                               or springs */
  size_t parameters;        /* P, columns of friction and of stiffness: the listed pairs,
                               then the bodies that are in automatic ones, by their numbers.
                               Without these it is `pairs` */
  size_t trees;             /* of links: what a joint at the world, or at what cannot move,
                               moves by itself */
  abut_field_report report; /* of the first suspicious body: abut_get_body_report */
  size_t starts;            /* states that the scene names: abut_get_named_start */
  size_t moved;             /* links that controls move: the last 6 `moved` of nu are theirs */
} abut_scene_info;

/* Reads a scene with its bodies, whose files are found from its own folder. Errors: those of
 * abut_load_body; ABUT_ERROR_FORMAT with file, line and cause. */
ABUT_API abut_status abut_load_scene(abut_context context, const char *path, abut_scene *scene);

/* How a scene is read. */
typedef struct abut_scene_options {
  const char *contact_model; /* "cone", "lcp" or "spring", in place of the scene's own; NULL: its
                                own. What of the scene's own model the other has no meaning for is
                                left aside: "lcp" goes by euler, and it and "spring" without a
                                capacity */
  /* Called before each body is made, and while its field is, with the body's place in the scene and
     the share of all bodies that is there; false ends it there with ABUT_ERROR_CANCELLED. May be
     NULL. It must not call abut. */
  bool (*progress)(void *user, const char *what, double share);
  void *user;
  uint32_t cookie;
} abut_scene_options;

ABUT_API abut_scene_options abut_default_scene_options(void);

/* Loads a scene as abut_load_scene does, by some settings in place of its own. Errors: also
 * ABUT_ERROR_ARGUMENT for a contact model that there is not. */
ABUT_API abut_status abut_load_scene_with(abut_context context, const char *path,
                                          const abut_scene_options *options, abut_scene *scene);
ABUT_API abut_status abut_destroy_scene(abut_scene scene);
/* Says what a scene holds. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_scene_info(abut_scene scene, abut_scene_info *info);

/* Positions (nq) of a world as the scene states it: hinges and slides at their `start`, balls not
 * turned. */
ABUT_API abut_status abut_get_scene_start(abut_scene scene, double *q);

/* A state that the scene names, in the order of its file: *name, which is the scene's, positions q
 * (nq), velocities v (nv) and controls u (nu). NULL: not wanted. Errors: ABUT_ERROR_ARGUMENT for an
 * index that is not below abut_scene_info.starts. */
ABUT_API abut_status abut_get_named_start(abut_scene scene, size_t index, const char **name,
                                          double *q, double *v, double *u);

/* Parameters as the scene states them, which worlds have where theirs are NULL: friction
 * (parameters), gravity (3) [m/s^2]; NULL: not wanted. Scales of mass and stiffness are 1. */
ABUT_API abut_status abut_get_scene_parameters(abut_scene scene, double *friction, double *gravity);

/* Likewise the numbers of springs (abut_scene_info.springs, 6): k, mu, v_d, v_s, eps2, eps3 of each
 * pair. Errors: ABUT_ERROR_ARGUMENT where the scene's contacts are no springs. */
ABUT_API abut_status abut_get_scene_springs(abut_scene scene, double *springs);

/* Where the links are at positions q (nq): poses (links, 7) as x, y, z, qw, qx, qy, qz, of length
 * 1. Quaternions of q may have any length but 0. Moved links are at their stated poses, here and
 * wherever no controls are given. Nothing is computed on devices. */
ABUT_API abut_status abut_place_links(abut_scene scene, const double *q, double *poses);

/* A body of a scene, by its number: the bodies of all links, in order. Sets *link to its link, and
 * *place to which of the link's bodies it is. NULL: not wanted. */
ABUT_API abut_status abut_get_scene_body(abut_scene scene, size_t index, size_t *link,
                                         size_t *place);

/* The numbers of the bodies of a candidate, one of abut_scene_info.candidates: body 1 and body 2 of
 * a listed pair, or of an automatic pair. Errors: ABUT_ERROR_ARGUMENT, also of a listed pair
 * without bodies. */
ABUT_API abut_status abut_get_candidate(abut_scene scene, size_t index, size_t *a, size_t *b);

/* Pairs of bodies that may touch in worlds, by worlds, then by candidates. */
typedef struct abut_items {
  size_t count;
  uint32_t *items;      /* (count, 3) the world, and the numbers of the two bodies as
                           abut_get_candidate has them */
  uint32_t *candidates; /* (count) which candidate each is */
} abut_items;

/* Finds the pairs that a step of worlds at positions q (count, nq) looks at: of all others no
 * contact is active there. Where steps leave none out, with "broad_phase": false, of fewer than
 * four candidates, and of kinds that abut_check_scene names, all are found. q is in host memory, in
 * the precision of the scene's context, on whose devices it is computed. Free them with
 * abut_free_items, also before the next call. Errors: ABUT_ERROR_ARGUMENT for a world, which is
 * named, whose positions are not finite or whose quaternion has length 0, and for scenes with pairs
 * without bodies; ABUT_ERROR_MEMORY; those of devices. *items is empty after an error. */
ABUT_API abut_status abut_find_items(abut_scene scene, const void *q, size_t count,
                                     abut_items *items);
ABUT_API void abut_free_items(abut_items *items); /* NULL is allowed */

/* Finds the contacts of worlds at positions q (count, nq), as abut_find_items finds the pairs and
 * abut_contacts their contacts, automatic pairs among them.
 *
 * - items: the pairs that may touch; all candidates where the list's threshold is 0 or below.
 *   Free them as above
 * - list: of abut_contacts, with `grows`: its `pose` is the place of a contact's pair among the
 *   items
 * Errors: those of abut_find_items and of abut_contacts; ABUT_ERROR_ARGUMENT for a list that
 * does not grow, and of scenes whose contacts are springs. */
ABUT_API abut_status abut_find_contacts(abut_scene scene, const void *q, size_t count,
                                        abut_items *items, abut_compact *list);

/* The kinds of a scene's candidates: those of one kind have equal bodies and smoothings. *count
 * becomes how many there are, at most abut_scene_info.kinds.
 *
 * - kinds: (candidates) of each its kind, from 0; NULL: not wanted
 * - pairs: (abut_scene_info.kinds) of each kind the pair by which its contacts are found; they
 *   are the scene's. NULL: not wanted
 * Errors: ABUT_ERROR_ARGUMENT, also of scenes whose contacts are given or springs;
 * ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_get_kinds(abut_scene scene, uint32_t *kinds, abut_pair *pairs,
                                    size_t *count);

/* Finds contacts as abut_find_contacts does, by other pairs: of another smoothing, say.
 *
 * - pairs: (pair_count) of each of abut_get_kinds one, of the kind's own bodies. Where one is
 *   not the scene's own, all candidates are looked at: the broad phase knows the scene's
 *   smoothing alone
 * Errors: those of abut_find_contacts; ABUT_ERROR_ARGUMENT for another number of pairs, and
 * for one of other bodies. */
ABUT_API abut_status abut_find_contacts_by(abut_scene scene, const abut_pair *pairs,
                                           size_t pair_count, const void *q, size_t count,
                                           abut_items *items, abut_compact *list);

/* Finds what single contacts push with in one step, automatic pairs among them: of each its normal
 * force and its friction together. Of hard contacts many have none, since the contact model chooses
 * few of all.
 *
 * - q, v, u: real (count, nq), (count, nv), (count, nu) host memory, where the step begins, and
 *   controls; v or u NULL: 0
 * - items, list: what abut_find_contacts gave for the same q; both NULL: single contacts' forces
 *   are not wanted
 * - forces: real (list->count, 3) [N], on the first body of the contact's candidate, along the
 *   world's axes; the other body has the opposite. NaN where it is not known: in worlds that
 *   stop (ABUT_WORLD_STOPS), and of all contacts of a scene whose candidates have together more
 *   than 2^24 slots
 * - pushes: real (count, links, 3) [N], what all contacts push each link with, and the links that
 *   hang on it, together, along the world's axes. NaN in worlds that stop, and of springs between
 *   clouds for links without a free joint. NULL: not wanted
 * - status: (count) bits ABUT_WORLD_*; NULL: not wanted
 * Errors: those of abut_step_worlds; ABUT_ERROR_ARGUMENT, also of scenes whose contacts are
 * given, and with a list for springs between clouds and for controls that move links. */
ABUT_API abut_status abut_find_contact_forces(abut_scene scene, size_t count, const void *q,
                                              const void *v, const void *u, const abut_items *items,
                                              const abut_compact *list, void *forces, void *pushes,
                                              uint32_t *status);

/* Looks for what is suspicious in a scene: dampers and springs of joints and actuators with which
 * speeds grow from step to step, and the longest step that holds; and where pairs are automatic,
 * that there are none; kinds of pairs that no step can leave out, with the reason; bodies that
 * overlap by more than a tenth of the smaller one's diagonal as the scene starts, the worst ten.
 * For these it computes contacts, on the devices of its context; of springs overlaps are not looked
 * for. *count becomes how many texts there are. Errors: those of abut_contacts. */
ABUT_API abut_status abut_check_scene(abut_scene scene, size_t *count);

/* A text that the last abut_check_scene has found. It is the scene's, and gone with it or with the
 * next check. Errors: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_scene_warning(abut_scene scene, size_t index, const char **text);

/* A listed pair of a scene: for calls that take pairs and poses, as abut_contacts does. It is the
 * scene's: it must not be destroyed, and is gone with the scene. */
typedef struct abut_scene_pair {
  abut_pair pair;  /* null where the caller gives the contacts with each step, and of springs,
                      which are between clouds */
  int32_t link[2]; /* of its bodies; -1 the world */
} abut_scene_pair;

/* index: from 0. */
ABUT_API abut_status abut_get_scene_pair(abut_scene scene, size_t index, abut_scene_pair *pair);

/* Poses of the bodies of a scene's listed pairs at positions q (nq): pose1 and pose2 (pairs, 7)
 * double, for abut_contacts or abut_spring_forces; NaN of a pair without bodies. */
ABUT_API abut_status abut_place_pairs(abut_scene scene, const double *q, double *pose1,
                                      double *pose2);

/* Draws a scene at positions q (nq): all bodies of all links, those of a link in one colour, planes
 * as grey squares of a side of 1, 2 or 5 times a power of ten metres. Bodies have the shape that
 * the smoothing of their first pair gives them. Of `contacts` those of all pairs are drawn. Where
 * contacts are springs, bodies are made with the first picture, of files that are there then, those
 * without a field from their meshes, as bare meshes are; there are no contacts to draw.
 *
 * framed        (count, nq) the camera holds in view the boxes of all bodies at all of these, so
 *               that the frames of a film have one camera; NULL and 0: at q. Planes are not looked
 *               at, nor what cannot move and is more than four times as large as all that moves.
 * rgb           as abut_render Errors: those of abut_render, and ABUT_ERROR_ARGUMENT where the
 * scene has no bodies; of springs those of abut_load_scene too. */
ABUT_API abut_status abut_render_scene(abut_scene scene, const double *q, const double *framed,
                                       size_t count, const abut_view *view, uint8_t *rgb);

/* Positions of worlds and their tangent space, in which derivatives are: of a scene's worlds a step
 * d (nv) moves positions q (nq) to q (+) d. Hinges, slides and positions of free joints add; a
 * quaternion w, x, y, z becomes q/|q| exp(d/2), d in the link's axes. Rows of `count` worlds in
 * host memory, in the precision of the scene's context, computed in double; an output may lie where
 * an input of the same shape does. A world with a number that is not finite, or a quaternion of
 * length 0, becomes a row of NaN. Errors: ABUT_ERROR_ARGUMENT for an array that is NULL, and for an
 * output that overlaps an input otherwise.
 *
 * moved = q (+) d, quaternions of length 1; d = left (-) right: right (+) d is left, where no
 * rotation is beyond pi. */
ABUT_API abut_status abut_add_positions(abut_scene scene, size_t count, const void *q,
                                        const void *d, void *moved);
ABUT_API abut_status abut_subtract_positions(abut_scene scene, size_t count, const void *left,
                                             const void *right, void *d);

/* Derivatives by the nq numbers of positions, and along steps in the tangent space. A quaternion
 * counts by its direction alone, so that a gradient by its numbers is orthogonal to it; it moves at
 * its length, so that each map to the tangent space is the inverse of that from there. */
typedef enum abut_position_map {
  ABUT_SLOPE_TO_TANGENT = 0,     /* (nq) to (nv): how fast q moves, as a step */
  ABUT_SLOPE_FROM_TANGENT = 1,   /* (nv) to (nq): with lengths of 1, derivative of q (+) d by d */
  ABUT_GRADIENT_TO_TANGENT = 2,  /* (nq) to (nv): the transpose of that */
  ABUT_GRADIENT_FROM_TANGENT = 3 /* (nv) to (nq): the transpose of the first */
} abut_position_map;

ABUT_API abut_status abut_map_positions(abut_scene scene, abut_position_map map, size_t count,
                                        const void *q, const void *from, void *to);

/* Contacts that the caller gives in place of the bodies', of `count` slots: links (-1 the world)
 * and the scene's listed pair of each, the same in all worlds; points, distances, normals and
 * activities, real (worlds, count, ...). Activities are between 0 and 1, and all numbers finite, of
 * contacts without activity, too. A force along a normal acts on the owner. */
typedef struct abut_given_contacts {
  size_t count;
  const int32_t *owner, *opposing, *pair;
  const void *p, *d, *n, *activity;
} abut_given_contacts;

/* How much a world has asked of a call, over all its solves: one a step, four of rk4. Numbers stay
 * at 2^32 - 1. */
typedef enum abut_world_count {
  ABUT_COUNT_SOLVES = 0,
  ABUT_COUNT_ITEMS = 1,        /* pairs that were looked at: abut_find_items */
  ABUT_COUNT_ENTRIES = 2,      /* of these, pairs with contacts */
  ABUT_COUNT_CONTACTS = 3,     /* those that a step takes, of any activity above 0 */
  ABUT_COUNT_ISLANDS = 4,      /* of bodies that touch, with soft contacts: what the solver takes
                                  by itself */
  ABUT_COUNT_PANEL_NUMBERS = 5 /* of Newton's matrix, with soft contacts, with what fills them up
                                  to the device's lanes */
} abut_world_count;
#define ABUT_WORLD_COUNTS 6

/* A batch of worlds. All reals are in the context's precision, rows of worlds. */
typedef struct abut_worlds {
  size_t count;
  abut_memory memory; /* of all arrays but status and iterations. In a state, pointers to
                         abut_state_array, and no array is both read and written: a step goes
                         from one pair of arrays to another, the next one back */
  size_t steps;       /* at least 1, as by default. They, and the numbers of a world in an
                         array of all of them, are at most INT_MAX */
  const void *q, *v;  /* (count, nq), (count, nv): free joints as position, quaternion (w,
                         x, y, z), velocity in world axes, angular velocity in link axes */
  const void *w;      /* (count, nv) the last acceleration, from which the solver starts;
                         NULL: 0 */
  const void *u;      /* (count, nu) controls held over all steps, or with `controls` (count,
                         steps, nu); NULL: 0 */
  bool controls;
  const void *mass_scale;   /* (count, links); NULL: 1 */
  const void *friction;     /* (count, parameters); NULL: the scene's. That of an automatic pair
                               is the larger of its bodies' */
  const void *stiffness;    /* (count, parameters); NULL: 1. That of an automatic pair is the
                               root of the product of its bodies' */
  const void *gravity;      /* (count, 3) [m/s^2]; NULL: the scene's */
  const void *springs;      /* (count, pairs, 6) k, mu, v_d, v_s, eps2, eps3 of each pair whose
                               contacts are springs (docs/spring.md), in the place of its own and
                               of `friction`; NULL: the scene's. Automatic pairs have the
                               scene's, with the friction of their bodies */
  const abut_scene *scenes; /* (scene_count) where worlds differ in their bodies, or in anything
                               but their links' parents, joints' types, integrator, contact model,
                               and numbers of pairs, actuators, tendons and equalities: world i is
                               of scenes[scene[i]], and the call's own scene only says the shape.
                               Each gets what a call of its scene gives, to the bit. Not with given
                               contacts, nor in a state. Else NULL */
  size_t scene_count;
  const uint32_t *scene;               /* (count); host memory */
  const abut_given_contacts *contacts; /* NULL: those of the scene's pairs; not of a scene with
                                          "sweep" */
  void *q_next, *v_next;               /* the state after all steps */
  void *w_next;                        /* or NULL, like all that follows */
  size_t record;                       /* every so many steps a state is kept below; 0: none */
  void *q_record, *v_record;           /* (count, steps / record, ...) */
  uint32_t *status;      /* (count) bits ABUT_WORLD_*, or-ed over all steps; host memory */
  uint32_t *status_step; /* (count, ABUT_WORLD_STATUSES) the first step, from 0, of each of
                            these bits, the lowest first; ABUT_WORLD_NEVER: none; host
                            memory */
  uint32_t *iterations;  /* (count) of the solver, in the last solve: that of the last step,
                            with rk4 that of its last stage; of hard contacts how they were
                            solved, abut_lcp_how; host memory */
  void *mass, *bias, *smooth, *acceleration, *constraint; /* at the beginning of the last step:
                                                             (count, nv, nv) its lower triangle
                                                             and zeros, (count, nv) each: M, c,
                                                             M^-1 (f - c), the acceleration (of
                                                             rk4 that of the last stage, as
                                                             w_next), J' lambda */
  void *multipliers;    /* (count, C, 3), there too: the force of each contact on its owner
                           along n, |n| t1 and |n| t2 [N, for n of length 1] as
                           docs/dev/cone-formulas.md, section 7, has them, of hard ones the frame
                           of docs/dev/lcp-formulas.md; of springs between clouds the force on
                           body 1 in the world's axes, of each pair one; C: slots of all pairs,
                           one pair behind the other (abut_scene_info.contacts), or contacts
                           that are given. Not of a scene with automatic pairs, whose slots are
                           too many: abut_find_contact_forces has these */
  void *link_forces;    /* (count, links, 6), there too: what contacts push each link with, all
                           together: a force [N], and its moment about the link's centre of mass
                           [N m], along the world's axes. 0 of a world that had stopped. Not of
                           springs between clouds, as the next two */
  void *pair_forces;    /* (count, candidates, 3) the same of each candidate
                           (abut_scene_info.candidates) on its first body; the second has the
                           opposite. Not with `scenes`, as the next */
  void *pair_normals;   /* (count, candidates) the sum of the candidate's normal forces [N]: above 0
                           where its bodies touch */
  void *energy;         /* (count, 2) kinetic, potential [J], there too */
  void *momentum;       /* (count, 6) linear [kg m/s], then angular about the world's origin */
  void *energy_record;  /* (count, steps / record, 2) of the kept states */
  const void *a;        /* (count, nv) accelerations, for the next; NULL: 0 */
  void *inverse;        /* (count, nv) of worlds of springs: what actuators must push the
                           joints with at the beginning of the last step, that they
                           accelerate so: M a + c - springs, dampers and friction in joints -
                           contacts; exact, without a solve */
  size_t failures;      /* out: devices that failed on the way */
  uint32_t *counts;     /* (count, ABUT_WORLD_COUNTS) sums over all solves, by
                           abut_world_count; 0 of springs, whose pairs are not found so, and
                           of calls with derivatives; host memory */
  double bytes;         /* out: device memory that a world has taken, the most of all chunks;
                           without the scratch in which pairs go through the manifold, which
                           all worlds of a device share */
  uint32_t *fast_links; /* (count, 2) of which two bodies ABUT_WORLD_FAST was said first, by
                           1 more than their links' numbers, and 0 for the world; both 0: of
                           none; host memory */
  uint32_t cookie;
} abut_worlds;

ABUT_API abut_worlds abut_default_worlds(void);

/* Steps all worlds. An output may overlap an input only as a whole, and no other output: else
 * ABUT_ERROR_ARGUMENT. Other errors: those of devices. What becomes of a world is told by its
 * status, not by an error. */
ABUT_API abut_status abut_step_worlds(abut_scene scene, abut_worlds *worlds);

/* ---- derivatives ---- */

/* Cotangents of what steps give, and gradients by what they begin with, in the tangent space of q:
 * q (+) d of docs/dev/cone-formulas.md, section 2, nv numbers. In the worlds' memory and the
 * context's precision; NULL: a cotangent of 0, a gradient that is not wanted. */
typedef struct abut_worlds_gradients {
  const void *state;        /* (count, 2 nv): of q, then v, after all steps */
  const void *record;       /* (count, steps / record, 2 nv): of the states that `record` keeps */
  const void *acceleration; /* (count, nv): of the acceleration in the last step */
  const void *link_forces;  /* (count, links, 6): of what contacts push links with there; soft
                               contacts alone, as the next */
  const void *pair_forces;  /* (count, candidates, 3) */
  void *q, *v;              /* (count, nv) */
  void *u;                  /* (count, nu), or with `controls` (count, steps, nu) */
  void *mass_scale, *friction, *stiffness, *gravity; /* as in abut_worlds, of each world */
  void *springs;              /* (count, pairs, 6) likewise, by the numbers in use */
  void *p, *d, *n, *activity; /* of given contacts, as there; of one step alone */
  size_t segment;    /* states are kept at the beginning of each segment of so many steps and
                        within the one at work; 0: `steps` where the states of all worlds take
                        at most 64 MB in float64, else, and with RK4, the root of `steps`, rounded up.
                        No    number depends on it */
  bool escape;       /* of hard contacts: each step back may take those for open that
                        descent would open, where the gradient by v and u is larger so
                        (docs/dev/lcp-formulas.md) */
  uint32_t *escaped; /* (count) 1 where a step did; host memory. NULL: not wanted */
  uint32_t cookie;
} abut_worlds_gradients;

ABUT_API abut_worlds_gradients abut_default_worlds_gradients(void);

/* The gradient of cotangents . (what abut_step_worlds gives), over all steps; what `worlds` wants
 * is written too. A world that has stopped has no derivatives: its gradients are 0. What a step
 * chooses (zones of the cone, limits, forces' limits, impacts within it) is held. Method: implicit
 * functions at the solver's solution; docs/dev/cone-formulas.md, section 10, and of impacts
 * docs/sweeping.md. Errors: those of abut_step_worlds. */
ABUT_API abut_status abut_vjp_worlds(abut_scene scene, abut_worlds *worlds,
                                     const abut_worlds_gradients *gradients);

/* Tangents of what steps begin with, and of what they give: a NULL tangent is 0, a NULL answer is
 * not wanted. Of q in its tangent space, as above. */
typedef struct abut_worlds_tangents {
  const void *q, *v; /* (count, nv) */
  const void *u;     /* (count, nu), or with `controls` (count, steps, nu) */
  const void *mass_scale, *friction, *stiffness, *gravity;
  void *q_next, *v_next;     /* (count, nv) after all steps */
  void *q_record, *v_record; /* (count, steps / record, nv) of the states that `record` keeps */
  uint32_t cookie;
} abut_worlds_tangents;

ABUT_API abut_worlds_tangents abut_default_worlds_tangents(void);

/* Derivatives of steps along tangents; all else as in abut_vjp_worlds. A world's are 0 from the
 * step on that stops it. */
ABUT_API abut_status abut_jvp_worlds(abut_scene scene, abut_worlds *worlds,
                                     const abut_worlds_tangents *tangents);

/* Matrices of one step: of (q', v') in their tangent space by (q, v), controls, parameters. */
typedef struct abut_worlds_transition {
  void *A;                    /* (count, 2 nv, 2 nv) */
  void *B;                    /* (count, 2 nv, nu) */
  void *mass_scale;           /* (count, 2 nv, links) */
  void *friction, *stiffness; /* (count, 2 nv, parameters) */
  void *gravity;              /* (count, 2 nv, 3) */
  uint32_t cookie;
} abut_worlds_transition;

ABUT_API abut_worlds_transition abut_default_worlds_transition(void);

/* The linear model of one step (worlds->steps must be 1) of each world; all else as in
 * abut_vjp_worlds. What is NULL is not wanted. */
ABUT_API abut_status abut_transition_worlds(abut_scene scene, abut_worlds *worlds,
                                            const abut_worlds_transition *transition);

#ifdef __cplusplus
}
#endif
#endif
