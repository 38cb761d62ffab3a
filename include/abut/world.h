/* Worlds that move: trees of links with bodies, stepped on the devices of a context. Contacts are
 * smooth and follow MuJoCo's soft contact law or are hard, or they are springs between point
 * clouds. docs/scenes.md has the format of scenes. docs/dev/cone-formulas.md,
 * docs/dev/lcp-formulas.md and docs/dev/spring-formulas.md have the formulas, and docs/spring.md
 * lists what is not implemented yet.
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

/* Bits of a world's status. A world that is not finite, has diverged, has a singular mass matrix or
 * had bad input keeps its last valid state. The other worlds continue. */
typedef enum abut_world_status {
  ABUT_WORLD_OK = 0,
  ABUT_WORLD_NOT_FINITE = 1,
  ABUT_WORLD_DIVERGED = 2,       /* a velocity beyond the scene's `divergence` */
  ABUT_WORLD_OVERFLOW = 4,       /* a pair has more contacts than the scene's `capacity`, or a
                                    world more than its `most_contacts` or `most` hard ones: some
                                    are left out */
  ABUT_WORLD_NOT_CONVERGED = 8,  /* the solver did not converge; its last or best iterate was
                                    used */
  ABUT_WORLD_SINGULAR = 16,      /* a mass matrix or a Hessian is not positive, or an implicit
                                    step has no solution */
  ABUT_WORLD_BAD_INPUT = 32,     /* a number that is not finite, a quaternion of length 0, a
                                    given contact's activity that is not between 0 and 1, or
                                    given springs whose mu is below 0 or whose other numbers are
                                    not above 0 */
  ABUT_WORLD_SQUEEZED = 64,      /* hard contacts pushed against each other and gave way a little */
  ABUT_WORLD_FAST = 128,         /* bodies of a pair that were near enough to meet moved against
                                    each other in one step by more than half of the thinner one:
                                    they may have passed through */
  ABUT_WORLD_GAINED = 256,       /* springs gave more energy in a step than they can have: the
                                    step is too long for them, or they are too stiff */
  ABUT_WORLD_SWEPT = 512,        /* in a scene with "sweep", bodies were stopped within a step
                                    because they would have passed through each other */
  ABUT_WORLD_SWEEP_LIMIT = 1024, /* bodies were stopped more than fifteen times in one step: the
                                    rest of the step is lost, for the whole world */
  ABUT_WORLD_DEEP = 2048,        /* bodies of a pair were so deep in each other that contacts
                                    within their normal cones had less than half of the depth,
                                    and may not have pushed them apart */
  /* A world with any of these bits has stopped. */
  ABUT_WORLD_STOPS = ABUT_WORLD_NOT_FINITE | ABUT_WORLD_DIVERGED | ABUT_WORLD_SINGULAR |
                     ABUT_WORLD_BAD_INPUT
} abut_world_status;

#define ABUT_WORLD_NEVER UINT32_MAX
#define ABUT_WORLD_STATUSES 12 /* bits of a world's status */

typedef struct abut_scene_info {
  size_t links, pairs, contacts; /* `pairs`: listed pairs. `contacts`: their contact slots
                                    together; springs between clouds have one per pair */
  size_t springs;                /* listed pairs whose contacts are springs: all of them, or none */
  bool by_springs;               /* contacts are springs, even if no pair is listed */
  bool clouds;                   /* the springs are between clouds and have no list of contacts */
  size_t nq, nv, nu;             /* positions, velocities and controls of a world. Controls: one
                                    of each actuator, then six of each moved link, a displacement
                                    [m] and a rotation vector [rad] along the world's axes */
  double timestep;               /* [s] */
  bool hard;                     /* contacts are hard: `iterations` reports how a step was solved */
  double cloud_gap;              /* of springs: how far the field of a body's cloud is at most
                                    off its own faces, or negative on the free path out from
                                    them, as a share of the body's diagonal. Above about 0.045
                                    the mesh is too coarse or too hollow: bodies fall through it,
                                    rest on openings or gain energy */
  size_t cloud_link, cloud_body; /* the body with this gap: its link, and its index among the
                                    link's bodies */
  double sinking, sinking_share; /* of springs at rest in the scene's start state: depth m g / k
                                    to which the pair that gives way most sinks under everything
                                    that rests on it, in metres and as a share of the smaller
                                    body's diagonal. 0 for other contacts */
  double sinking_k;              /* stiffness [N/m] with which that share would be 1 % */
  size_t sinking_pair, sinking_pairs; /* that pair, or candidate; and the number of pairs with a
                                         share above 1 % */
  size_t suspicious_bodies;           /* of soft and hard contacts: number of bodies from files
                                         with suspicions (abut_body_info) */
  size_t suspicious_link, suspicious_body; /* the first of these bodies: its link, and its index
                                              among the link's bodies; */
  uint32_t suspicions;      /* its bits, then its misfits and diagonal, and below its report, as
                               arguments of abut_suspicion_text */
  double misfit, diagonal;  /* [m] */
  double feature_misfit;    /* [m] */
  bool automatic;           /* pairs are also found automatically: the scene's `automatic`
                               (docs/scenes.md) */
  size_t bodies;            /* number of bodies of all links */
  size_t candidates;        /* pairs that may collide: the listed pairs, then the automatic pairs */
  size_t kinds;             /* kinds of candidates, and of tiles: candidates of equal shapes and
                               smoothing are computed together. 0 if contacts are given or
                               springs */
  size_t parameters;        /* P, columns of friction and of stiffness: the listed pairs, then
                               the bodies of automatic pairs, by their numbers. Without automatic
                               pairs it equals `pairs` */
  size_t trees;             /* trees of links: a joint to the world, or to a fixed link, starts
                               each tree */
  abut_field_report report; /* of the first suspicious body: see abut_get_body_report */
  size_t starts;            /* number of states that the scene names: see abut_get_named_start */
  size_t moved;             /* number of links that controls move; the last 6 `moved` controls of
                               nu are theirs */
} abut_scene_info;

/* Reads a scene with its bodies, whose files are relative to the scene's folder. Errors: those of
 * abut_load_body; ABUT_ERROR_FORMAT with file, line and cause. */
ABUT_API abut_status abut_load_scene(abut_context context, const char *path, abut_scene *scene);

/* Options of reading a scene. */
typedef struct abut_scene_options {
  const char *contact_model; /* "cone", "lcp" or "spring", instead of the scene's own; NULL: the
                                scene's own. Settings of the scene that have no meaning in the
                                other model are ignored: "lcp" uses the Euler integrator, and
                                "lcp" and "spring" have no capacity */
  /* Called before each body is made, and while its field is made, with the body's place in the
     scene and the finished share of all bodies. Returning false stops the call with
     ABUT_ERROR_CANCELLED. May be NULL. It must not call abut. */
  bool (*progress)(void *user, const char *what, double share);
  void *user;
  uint32_t cookie;
} abut_scene_options;

ABUT_API abut_scene_options abut_default_scene_options(void);

/* Loads a scene as abut_load_scene does, with some settings instead of the scene's own. Errors:
 * also ABUT_ERROR_ARGUMENT for an unknown contact model. */
ABUT_API abut_status abut_load_scene_with(abut_context context, const char *path,
                                          const abut_scene_options *options, abut_scene *scene);

/* Destroys a scene with its bodies and pairs. */
ABUT_API abut_status abut_destroy_scene(abut_scene scene);
/* Gets the sizes and properties of a scene. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_scene_info(abut_scene scene, abut_scene_info *info);

/* Gets the positions (nq) of a world in the scene's start state: hinges and slides at their
 * `start`, balls not turned. */
ABUT_API abut_status abut_get_scene_start(abut_scene scene, double *q);

/* Gets a state that the scene names, in the order of its file: *name, which belongs to the scene,
 * positions q (nq), velocities v (nv) and controls u (nu). NULL: not wanted. Errors:
 * ABUT_ERROR_ARGUMENT for an index that is not below abut_scene_info.starts. */
ABUT_API abut_status abut_get_named_start(abut_scene scene, size_t index, const char **name,
                                          double *q, double *v, double *u);

/* Gets the parameters that the scene states, which worlds use if their own are NULL: friction
 * (parameters), gravity (3) [m/s^2]. NULL: not wanted. Scales of mass and stiffness are 1. */
ABUT_API abut_status abut_get_scene_parameters(abut_scene scene, double *friction, double *gravity);

/* Gets the numbers of springs that the scene states, (abut_scene_info.springs, 6): k, mu, v_d, v_s,
 * eps2, eps3 of each pair. Errors: ABUT_ERROR_ARGUMENT if the scene's contacts are not springs. */
ABUT_API abut_status abut_get_scene_springs(abut_scene scene, double *springs);

/* Computes the poses of the links at positions q (nq): poses (links, 7) as x, y, z, qw, qx, qy, qz,
 * with quaternions of length 1. Quaternions of q may have any length except 0. Moved links are at
 * their stated poses, here and wherever no controls are given. Nothing is computed on devices. */
ABUT_API abut_status abut_place_links(abut_scene scene, const double *q, double *poses);

/* Gets a body of a scene by its number: bodies are numbered over all links, in order. Sets *link to
 * the body's link, and *place to its index among the link's bodies. NULL: not wanted. */
ABUT_API abut_status abut_get_scene_body(abut_scene scene, size_t index, size_t *link,
                                         size_t *place);

/* Gets the numbers of the two bodies of a candidate, one of abut_scene_info.candidates: body 1 and
 * body 2 of a listed pair or of an automatic pair. Errors: ABUT_ERROR_ARGUMENT, also for a listed
 * pair without bodies. */
ABUT_API abut_status abut_get_candidate(abut_scene scene, size_t index, size_t *a, size_t *b);

/* Pairs of bodies that may touch in worlds, sorted by world, then by candidate. */
typedef struct abut_items {
  size_t count;
  uint32_t *items;      /* (count, 3) the world, and the numbers of the two bodies as from
                           abut_get_candidate */
  uint32_t *candidates; /* (count) index of the candidate */
} abut_items;

/* Finds the pairs that a step of worlds at positions q (count, nq) considers; no contact of any
 * other pair is active there. All pairs are found if steps leave none out: with "broad_phase":
 * false, with fewer than four candidates, and for kinds that abut_check_scene names. q is in host
 * memory, in the precision of the scene's context, and the context's devices find the pairs. Free
 * the items with abut_free_items, also before the next call. Errors: ABUT_ERROR_ARGUMENT for scenes
 * with pairs without bodies, and for a world whose positions are not finite or whose quaternion has
 * length 0, which the text names; ABUT_ERROR_MEMORY; those of devices. *items is empty after an
 * error. */
ABUT_API abut_status abut_find_items(abut_scene scene, const void *q, size_t count,
                                     abut_items *items);
ABUT_API void abut_free_items(abut_items *items); /* NULL is allowed */

/* Finds the contacts of worlds at positions q (count, nq), including those of automatic pairs.
 * abut_find_items finds the pairs and abut_contacts their contacts.
 *
 * - items: the pairs that may touch; all candidates if the list's threshold is 0 or below. Free
 *   them as above
 * - list: as for abut_contacts, with `grows`. Its `pose` is the index of a contact's pair among the
 *   items
 * Errors: those of abut_find_items and of abut_contacts; ABUT_ERROR_ARGUMENT for a list without
 * `grows`, and for scenes whose contacts are springs. */
ABUT_API abut_status abut_find_contacts(abut_scene scene, const void *q, size_t count,
                                        abut_items *items, abut_compact *list);

/* Gets the kinds of a scene's candidates. Candidates of one kind have equal bodies and smoothing.
 * *count is set to the number of kinds, at most abut_scene_info.kinds.
 *
 * - kinds: (candidates) the kind of each candidate, from 0; NULL: not wanted
 * - pairs: (abut_scene_info.kinds) the pair that finds the contacts of each kind. The pairs belong
 *   to the scene. NULL: not wanted
 * Errors: ABUT_ERROR_ARGUMENT, also for scenes whose contacts are given or springs;
 * ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_get_kinds(abut_scene scene, uint32_t *kinds, abut_pair *pairs,
                                    size_t *count);

/* Finds contacts as abut_find_contacts does, with other pairs, for example of another smoothing.
 *
 * - pairs: (pair_count) one for each kind of abut_get_kinds, of the kind's own bodies. If one is
 *   not the scene's own, all candidates are considered, because the broad phase is made for the
 *   scene's smoothing only
 * Errors: those of abut_find_contacts; ABUT_ERROR_ARGUMENT for another number of pairs, and for a
 * pair of other bodies. */
ABUT_API abut_status abut_find_contacts_by(abut_scene scene, const abut_pair *pairs,
                                           size_t pair_count, const void *q, size_t count,
                                           abut_items *items, abut_compact *list);

/* Finds the force of every single contact in one step, including those of automatic pairs. The
 * force is the normal force and the friction together. Many hard contacts have none, since the
 * contact model chooses only a few of them.
 *
 * - q, v, u: real (count, nq), (count, nv), (count, nu) in host memory: the state at the beginning
 *   of the step, and controls; v or u NULL: 0
 * - items, list: the results of abut_find_contacts for the same q; both NULL: forces of single
 *   contacts are not wanted
 * - forces: real (list->count, 3) [N], on the first body of the contact's candidate, along the
 *   world's axes; the other body has the opposite force. NaN where the force is unknown: in worlds
 *   that stop (ABUT_WORLD_STOPS), and for all contacts of a scene whose candidates have together
 *   more than 2^24 slots
 * - pushes: real (count, links, 3) [N], the sum of all contact forces on each link and on the links
 *   that hang on it, along the world's axes. NaN in worlds that stop, and with springs between
 *   clouds for links without a free joint. NULL: not wanted
 * - status: (count) bits ABUT_WORLD_*; NULL: not wanted
 * Errors: those of abut_step_worlds; ABUT_ERROR_ARGUMENT, also for scenes whose contacts are given,
 * for a list with springs between clouds, and for a list with controls that move links. */
ABUT_API abut_status abut_find_contact_forces(abut_scene scene, size_t count, const void *q,
                                              const void *v, const void *u, const abut_items *items,
                                              const abut_compact *list, void *forces, void *pushes,
                                              uint32_t *status);

/* Checks a scene for suspicious settings. The findings are:
 *
 * - dampers and springs of joints and actuators with which speeds grow from step to step, with the
 *   longest step that is stable
 * - automatic pairs, if there are none of them
 * - kinds of pairs that no step can leave out, with the reason
 * - bodies that overlap by more than a tenth of the smaller one's diagonal in the scene's start
 *   state, the worst ten. Contacts are computed for this, on the devices of the scene's context.
 *   With springs, overlaps are not checked
 * *count is set to the number of texts. Errors: those of abut_contacts. */
ABUT_API abut_status abut_check_scene(abut_scene scene, size_t *count);

/* Gets a text of the last abut_check_scene. It belongs to the scene, and is valid until the scene
 * is destroyed or checked again. Errors: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_scene_warning(abut_scene scene, size_t index, const char **text);

/* A listed pair of a scene, for calls that take pairs and poses, such as abut_contacts. It belongs
 * to the scene: it must not be destroyed, and is destroyed with the scene. */
typedef struct abut_scene_pair {
  abut_pair pair;  /* null if the caller gives the contacts with each step, and with springs,
                      which are between clouds */
  int32_t link[2]; /* links of the two bodies; -1: the world */
} abut_scene_pair;

/* Gets a listed pair of a scene by its index, from 0. */
ABUT_API abut_status abut_get_scene_pair(abut_scene scene, size_t index, abut_scene_pair *pair);

/* Computes the poses of the bodies of a scene's listed pairs at positions q (nq): pose1 and pose2
 * (pairs, 7) double, for abut_contacts or abut_spring_forces. NaN for a pair without bodies. */
ABUT_API abut_status abut_place_pairs(abut_scene scene, const double *q, double *pose1,
                                      double *pose2);

/* Draws a scene at positions q (nq). All bodies of all links are drawn, those of one link in one
 * colour. Planes are grey squares with a side of 1, 2 or 5 times a power of ten metres. Bodies have
 * the shape that the smoothing of their first pair gives them. `contacts` draws the contacts of all
 * pairs. If contacts are springs, there are no contacts to draw. Their bodies are made with the
 * first picture, from the files as they are then. Those without a field are made from their meshes,
 * like bare meshes.
 *
 * framed        (count, nq) positions for one camera: it holds in view the boxes of all bodies at
 *               all of these, so that the frames of a film have one camera; NULL and 0: only at q.
 *               Planes are ignored, and so are fixed bodies more than four times as large as all
 *               that moves.
 * rgb           as in abut_render
 * Errors: those of abut_render, and ABUT_ERROR_ARGUMENT if the scene has no bodies; with springs
 * also those of abut_load_scene. */
ABUT_API abut_status abut_render_scene(abut_scene scene, const double *q, const double *framed,
                                       size_t count, const abut_view *view, uint8_t *rgb);

/* Moves positions of worlds by steps in their tangent space: moved = q (+) d, with quaternions of
 * length 1. Derivatives with respect to positions are in this tangent space: a step d (nv) moves
 * positions q (nq) to q (+) d. Hinges, slides and positions of free joints add; a quaternion w, x,
 * y, z becomes q/|q| exp(d/2), with d in the link's axes. Arrays are rows of `count` worlds in host
 * memory, in the precision of the scene's context, computed in double. An output may be the same
 * array as an input of the same shape. A world with a number that is not finite, or a quaternion of
 * length 0, gives a row of NaN. Errors: ABUT_ERROR_ARGUMENT for an array that is NULL, and for any
 * other overlap of an output and an input. */
ABUT_API abut_status abut_add_positions(abut_scene scene, size_t count, const void *q,
                                        const void *d, void *moved);

/* Computes the step between positions of worlds: d = left (-) right, so that right (+) d is left if
 * no rotation is beyond pi. All else is as in abut_add_positions. */
ABUT_API abut_status abut_subtract_positions(abut_scene scene, size_t count, const void *left,
                                             const void *right, void *d);

/* Maps between derivatives with respect to the nq numbers of positions and derivatives along steps
 * in the tangent space. Only the direction of a quaternion has an effect, so that a gradient with
 * respect to its numbers is orthogonal to it. Motion keeps the quaternion's length, so that each
 * map to the tangent space is the inverse of the map from it. */
typedef enum abut_position_map {
  ABUT_SLOPE_TO_TANGENT = 0,     /* (nq) to (nv): rate of q, as a step */
  ABUT_SLOPE_FROM_TANGENT = 1,   /* (nv) to (nq): for lengths of 1, the derivative of q (+) d by
                                    d */
  ABUT_GRADIENT_TO_TANGENT = 2,  /* (nq) to (nv): the transpose of ABUT_SLOPE_FROM_TANGENT */
  ABUT_GRADIENT_FROM_TANGENT = 3 /* (nv) to (nq): the transpose of ABUT_SLOPE_TO_TANGENT */
} abut_position_map;

/* Maps derivatives with respect to positions to the tangent space, or back, by one of
 * abut_position_map. All else is as in abut_add_positions. */
ABUT_API abut_status abut_map_positions(abut_scene scene, abut_position_map map, size_t count,
                                        const void *q, const void *from, void *to);

/* Contacts that the caller gives instead of the bodies', in `count` slots. Each slot has links (-1
 * the world) and a listed pair of the scene, the same in all worlds. Points, distances, normals and
 * activities are real (worlds, count, ...). Activities are between 0 and 1, and all numbers must be
 * finite, also those of contacts without activity. A force along a normal acts on the owner. */
typedef struct abut_given_contacts {
  size_t count;
  const int32_t *owner, *opposing, *pair;
  const void *p, *d, *n, *activity;
} abut_given_contacts;

/* Counts of a world's work in a call, over all its solves: one per step, four with rk4. Counts
 * saturate at 2^32 - 1. */
typedef enum abut_world_count {
  ABUT_COUNT_SOLVES = 0,
  ABUT_COUNT_ITEMS = 1,        /* pairs that were considered: abut_find_items */
  ABUT_COUNT_ENTRIES = 2,      /* those of them with contacts */
  ABUT_COUNT_CONTACTS = 3,     /* contacts that a step uses, of any activity above 0 */
  ABUT_COUNT_ISLANDS = 4,      /* islands of bodies that touch, with soft contacts: the solver
                                  solves each separately */
  ABUT_COUNT_PANEL_NUMBERS = 5 /* numbers in Newton's matrix, with soft contacts, including the
                                  padding to the device's lanes */
} abut_world_count;
#define ABUT_WORLD_COUNTS 6

/* A batch of worlds. All reals are in the context's precision, one row per world. */
typedef struct abut_worlds {
  size_t count;
  abut_memory memory; /* of all arrays except status and iterations. In a state, arrays are
                         pointers to abut_state_array, and no array is both read and written: a
                         step goes from one pair of arrays to another, and the next step goes
                         back */
  size_t steps;       /* at least 1, the default. The steps, and the numbers of a world in an
                         array for all of them, are at most INT_MAX */
  const void *q, *v;  /* (count, nq), (count, nv): free joints as position, quaternion (w,
                         x, y, z), velocity in world axes, angular velocity in link axes */
  const void *w;      /* (count, nv) the last acceleration, from which the solver starts; NULL: 0 */
  const void *u;      /* (count, nu) controls for all steps, or with `controls` (count, steps,
                         nu); NULL: 0 */
  bool controls;
  const void *mass_scale;   /* (count, links); NULL: 1 */
  const void *friction;     /* (count, parameters); NULL: the scene's. An automatic pair has the
                               larger value of its bodies */
  const void *stiffness;    /* (count, parameters); NULL: 1. An automatic pair has the root of
                               the product of its bodies' values */
  const void *gravity;      /* (count, 3) [m/s^2]; NULL: the scene's */
  const void *springs;      /* (count, pairs, 6) k, mu, v_d, v_s, eps2, eps3 of each pair whose
                               contacts are springs (docs/spring.md), instead of the pair's own
                               and of `friction`; NULL: the scene's. Automatic pairs have the
                               scene's values, with the friction of their bodies */
  const abut_scene *scenes; /* (scene_count) scenes for worlds that differ: world i is of
                               scenes[scene[i]], and the call's own scene only defines the shape.
                               The scenes may differ in their bodies and in everything except
                               their links' parents, joints' types, integrator, contact model,
                               and numbers of pairs, actuators, tendons and equalities. Each
                               world gets the same results, to the bit, as in a call with its
                               scene. Not with given contacts, nor in a state. Else NULL */
  size_t scene_count;
  const uint32_t *scene;               /* (count); host memory */
  const abut_given_contacts *contacts; /* NULL: those of the scene's pairs; not for a scene with
                                          "sweep" */
  void *q_next, *v_next;               /* the state after all steps */
  void *w_next;                        /* or NULL, like all arrays below */
  size_t record;                       /* number of steps after which a state is recorded below;
                                          0: none */
  void *q_record, *v_record;           /* (count, steps / record, ...) */
  uint32_t *status;      /* (count) bits ABUT_WORLD_*, combined over all steps; host memory */
  uint32_t *status_step; /* (count, ABUT_WORLD_STATUSES) the first step, from 0, with each of
                            these bits, the lowest bit first; ABUT_WORLD_NEVER: none; host memory */
  uint32_t *iterations;  /* (count) iterations of the solver in the last solve: that of the last
                            step, with rk4 that of its last stage. With hard contacts how they
                            were solved, abut_lcp_how; host memory */
  void *mass, *bias, *smooth, *acceleration, *constraint; /* at the beginning of the last step:
                                                             M, (count, nv, nv) its lower
                                                             triangle and zeros; then (count, nv)
                                                             each: c, M^-1 (f - c), the
                                                             acceleration (with rk4 that of the
                                                             last stage, as w_next), J' lambda */
  void *multipliers;    /* (count, C, 3), there too: the force of each contact on its owner along
                           n, |n| t1 and |n| t2 [N, for n of length 1], as in
                           docs/dev/cone-formulas.md, section 7. Hard contacts have the frame of
                           docs/dev/lcp-formulas.md. Springs between clouds have one force per
                           pair, on body 1, in the world's axes. C: slots of all pairs, one pair
                           after the other (abut_scene_info.contacts), or given contacts. Not for
                           a scene with automatic pairs, which have too many slots: use
                           abut_find_contact_forces */
  void *link_forces;    /* (count, links, 6), there too: the sum of all contact forces on each
                           link: a force [N], and its moment about the link's centre of mass [N
                           m], along the world's axes. 0 for a world that had stopped. Not with
                           springs between clouds; neither are the next two */
  void *pair_forces;    /* (count, candidates, 3) the same for each candidate
                           (abut_scene_info.candidates), on its first body; the second body has
                           the opposite. Not with `scenes`, like the next array */
  void *pair_normals;   /* (count, candidates) the sum of the candidate's normal forces [N]:
                           above 0 if its bodies touch */
  void *energy;         /* (count, 2) kinetic and potential [J], there too */
  void *momentum;       /* (count, 6) linear [kg m/s], then angular about the world's origin */
  void *energy_record;  /* (count, steps / record, 2) of the recorded states */
  const void *a;        /* (count, nv) accelerations, for `inverse`; NULL: 0 */
  void *inverse;        /* (count, nv) for worlds of springs: the forces with which actuators
                           must push the joints at the beginning of the last step for these
                           accelerations: M a + c - springs, dampers and friction in joints -
                           contacts. Exact, without a solve */
  size_t failures;      /* out: devices that failed during the call */
  uint32_t *counts;     /* (count, ABUT_WORLD_COUNTS) sums over all solves, by abut_world_count.
                           0 for springs, whose pairs are found differently, and in calls with
                           derivatives; host memory */
  double bytes;         /* out: largest device memory of a world over all chunks, without the
                           scratch for contacts of pairs, which all worlds of a device share */
  uint32_t *fast_links; /* (count, 2) the two bodies for which ABUT_WORLD_FAST was set first:
                           their links' numbers plus 1, and 0 for the world; both 0: none; host
                           memory */
  uint32_t cookie;
} abut_worlds;

ABUT_API abut_worlds abut_default_worlds(void);

/* Steps all worlds. An output may overlap an input only as a whole array, and must not overlap
 * another output; otherwise ABUT_ERROR_ARGUMENT. Other errors: those of devices. A failure of a
 * single world sets its status and is not an error. */
ABUT_API abut_status abut_step_worlds(abut_scene scene, abut_worlds *worlds);

/* ---- derivatives ---- */

/* Cotangents of the results of steps, and gradients with respect to their inputs, in the tangent
 * space of q: q (+) d of docs/dev/cone-formulas.md, section 2, nv numbers. Arrays are in the
 * worlds' memory and the context's precision. NULL: a cotangent of 0, or a gradient that is not
 * wanted. */
typedef struct abut_worlds_gradients {
  const void *state;        /* (count, 2 nv): of q, then v, after all steps */
  const void *record;       /* (count, steps / record, 2 nv): of the recorded states */
  const void *acceleration; /* (count, nv): of the acceleration in the last step */
  const void *link_forces;  /* (count, links, 6): of the contact forces on links in the last
                               step; only with soft contacts, like the next array */
  const void *pair_forces;  /* (count, candidates, 3) */
  void *q, *v;              /* (count, nv) */
  void *u;                  /* (count, nu), or with `controls` (count, steps, nu) */
  void *mass_scale, *friction, *stiffness, *gravity; /* as in abut_worlds, for each world */
  void *springs;              /* (count, pairs, 6) likewise, by the numbers in use */
  void *p, *d, *n, *activity; /* of given contacts, with the same shapes; for one step only */
  size_t segment;    /* number of steps in a segment. States are stored at the beginning of each
                        segment and within the current one; 0: `steps` if the states of all
                        worlds take at most 64 MB in float64; otherwise, and with RK4, the root
                        of `steps`, rounded up. No result depends on it */
  bool escape;       /* of hard contacts: each backward step may treat contacts as open that
                        gradient descent would open, if the gradient with
                        respect to v and u is larger so (docs/dev/lcp-formulas.md) */
  uint32_t *escaped; /* (count) 1 if a step did so; host memory. NULL: not wanted */
  uint32_t cookie;
} abut_worlds_gradients;

ABUT_API abut_worlds_gradients abut_default_worlds_gradients(void);

/* Computes the gradient of the results of abut_step_worlds times their cotangents, over all steps.
 * The results that `worlds` wants are written, too. A world that has stopped has no derivatives:
 * its gradients are 0. Choices of a step are held fixed: zones of the cone, limits, forces' limits,
 * impacts within the step. Method: implicit functions at the solver's solution;
 * docs/dev/cone-formulas.md, section 10, and for impacts docs/sweeping.md. Errors: those of
 * abut_step_worlds. */
ABUT_API abut_status abut_vjp_worlds(abut_scene scene, abut_worlds *worlds,
                                     const abut_worlds_gradients *gradients);

/* Tangents of the inputs of steps, and of their results. An input that is NULL is 0, and a result
 * that is NULL is not wanted. Tangents of q are in its tangent space, as above. */
typedef struct abut_worlds_tangents {
  const void *q, *v; /* (count, nv) */
  const void *u;     /* (count, nu), or with `controls` (count, steps, nu) */
  const void *mass_scale, *friction, *stiffness, *gravity;
  void *q_next, *v_next;     /* (count, nv) after all steps */
  void *q_record, *v_record; /* (count, steps / record, nv) of the recorded states */
  uint32_t cookie;
} abut_worlds_tangents;

ABUT_API abut_worlds_tangents abut_default_worlds_tangents(void);

/* Computes derivatives of steps along tangents. All else is as in abut_vjp_worlds. A world's
 * derivatives are 0 from the step that stops it. */
ABUT_API abut_status abut_jvp_worlds(abut_scene scene, abut_worlds *worlds,
                                     const abut_worlds_tangents *tangents);

/* Matrices of one step: derivatives of (q', v') in their tangent space by (q, v), controls and
 * parameters. */
typedef struct abut_worlds_transition {
  void *A;                    /* (count, 2 nv, 2 nv) */
  void *B;                    /* (count, 2 nv, nu) */
  void *mass_scale;           /* (count, 2 nv, links) */
  void *friction, *stiffness; /* (count, 2 nv, parameters) */
  void *gravity;              /* (count, 2 nv, 3) */
  uint32_t cookie;
} abut_worlds_transition;

ABUT_API abut_worlds_transition abut_default_worlds_transition(void);

/* Computes the linear model of one step (worlds->steps must be 1) of each world. All else is as in
 * abut_vjp_worlds. Arrays that are NULL are not wanted. */
ABUT_API abut_status abut_transition_worlds(abut_scene scene, abut_worlds *worlds,
                                            const abut_worlds_transition *transition);

#ifdef __cplusplus
}
#endif
#endif
