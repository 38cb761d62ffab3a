/* A scene as described in its file (docs/scenes.md): trees of links, what acts on them, and the
 * pairs of bodies that may touch. All worlds of a scene share it. SI units; quaternions are w, x,
 * y, z. */
#ifndef ABUT_SCENE_DEFINITION_H
#define ABUT_SCENE_DEFINITION_H

#include "base/memory.h"
#include "geometry/joints.h"
#include <abut/manifold.h>
#include <abut/spring.h>

#define WORLD (-1)           /* in place of a link's number: the world itself */
#define SCENE_DOFS_MOST 4096 /* per world: a law may allow fewer */
#define TREE_DOFS_MOST 128   /* per tree: a link that moves against the world and its descendants */
#define SCENE_COLLIDING_MOST 4096 /* bodies in automatic pairs */
#define SPRING_NUMBERS 6          /* k, mu, v_d, v_s, eps2, eps3 */

typedef enum integrator {
  INTEGRATOR_EULER = 0,
  INTEGRATOR_RK4 = 1,
  INTEGRATOR_IMPLICIT = 2
} integrator;

/* A contact force law: an entry of the table in world/law/law.h. */
typedef struct contact_law contact_law;

/* The settings of hard contacts, named as in docs/dev/lcp-formulas.md, sections 1, 5 and 8. */
typedef struct hard_settings {
  double error_reduction, slop, correction; /* [-], [m], [m/s] */
  double margin, limit_margin; /* [m]; a margin below 0: a fraction of the pair's size */
  double bounce, threshold;    /* [m/s], [-] */
  int most;                    /* largest number of contacts chosen per world */
  int tangents;                /* friction rows per contact: 2, 4 or 8 */
  int elastic;                 /* HARD_STIFF, HARD_COLLISION, HARD_PAPER of
                                  geometry/world.h */
} hard_settings;

/* Softness of a row in the soft law (docs/dev/cone-formulas.md, section 8). solref is time constant
 * and damping ratio, or negated stiffness and damping; solimp is the impedance over depth. */
typedef struct softness {
  double solref[2], solimp[5];
} softness;

typedef struct joint {
  joint_type type;
  double position[3], axis[3]; /* axis: unit */
  double start; /* initial position of a hinge or slide; row weights are computed there */
  double damping, armature, stiffness, rest, friction_loss;
  bool limited;
  double limits[2];
  double limit_spring[3];   /* k, eps3, v_d of a limit if contacts are springs
                               (docs/dev/spring-formulas.md) */
  softness limit, friction; /* of a limit and of friction loss if contacts are soft */
} joint;

/* The kind of a body: from a file, or a shape (scene/body_shapes.h) with the given sizes. */
typedef enum body_shape {
  SHAPE_FILE = 0,
  SHAPE_BOX = 1,         /* half lengths */
  SHAPE_SPHERE = 2,      /* radius */
  SHAPE_CAPSULE = 3,     /* radius, half the length of its straight part, along z */
  SHAPE_CYLINDER = 4,    /* radius, half its length, along z */
  SHAPE_ELLIPSOID = 5,   /* half lengths */
  SHAPE_PLANE = 6,       /* half lengths along x and y; its upper face is z = 0 */
  SHAPE_HEIGHT_FIELD = 7 /* no sizes: an abut_height_field defines it */
} body_shape;

#define BODY_SHAPES 8
/* largest ratio of the longer to the shorter length of a capsule or cylinder */
#define SHAPE_SLENDER_MOST 50.0

/* The names of shapes in files, and the number of sizes of each. */
extern const char *const body_shape_words[BODY_SHAPES];
extern const size_t body_shape_sizes[BODY_SHAPES];

/* Collision in automatic pairs: two bodies collide if contype of one shares a bit with conaffinity
 * of the other. */
typedef struct body_contact {
  uint32_t contype, conaffinity;
  double friction, margin;
  softness soft;
  int condim;
} body_contact;

typedef struct scene_body {
  body_shape shape;
  char *file; /* path resolved from the scene's folder; NULL if the body is a shape */
  double size[3];
  double round;                      /* radius of the edges of a box or a cylinder [m]; 0: sharp */
  const abut_height_field *heights;  /* of a height field; else NULL */
  double position[3], quaternion[4]; /* on its link */
  double eps1; /* [m^2] of its cloud, for springs; 0: from the body's file, or from its faces */
  body_contact contact;
} scene_body;

typedef struct scene_link {
  char *name;                        /* NULL: it has none */
  int parent;                        /* WORLD, or a link before this one */
  double position[3], quaternion[4]; /* in the parent, with its joint at 0 */
  double mass, com[3], inertia[9];   /* the inertia about com, in the link's axes, row by row */
  double density; /* above 0: mass, com and inertia are computed from the bodies filled with it
                     [kg/m^3] */
  joint joint;
  scene_body *bodies;
  size_t body_count;
  size_t first_body; /* by scene_body_number */
} scene_link;

typedef enum actuator_kind {
  ACTUATOR_MOTOR = 0,
  ACTUATOR_POSITION = 1,
  ACTUATOR_VELOCITY = 2,
  ACTUATOR_AFFINE = 3
} actuator_kind;

/* A joint with one degree of freedom, and the factor of its position in a tendon's length. */
typedef struct tendon_part {
  int link;
  double coefficient;
} tendon_part;

/* A fixed tendon: its length is a weighted sum of joints' positions. */
typedef struct tendon {
  char *name; /* NULL: it has none */
  tendon_part *parts;
  size_t part_count;
  double stiffness, damping;
  bool rests;     /* `rest` is stated; otherwise the spring is at rest at the initial length */
  double rest[2]; /* range of lengths without a spring force */
} tendon;

typedef enum equality_kind {
  EQUALITY_OF_POINTS = 0,  /* two points of links coincide */
  EQUALITY_OF_PLACES = 1,  /* and do not rotate relative to each other */
  EQUALITY_OF_JOINTS = 2,  /* the position of a joint is a polynomial of that of another joint */
  EQUALITY_OF_TENDONS = 3, /* the same for the lengths of tendons */
  EQUALITY_KINDS = 4
} equality_kind;

/* An equality constraint, which is soft like contacts. */
typedef struct equality {
  equality_kind kind;
  int of[2]; /* links, WORLD for the world; or tendons, and NOTHING if there is no second one */
  double position[2][3], quaternion[2][4]; /* on the links */
  bool meets;  /* The position on the second link is stated; otherwise it coincides with the first
                  one initially. */
  bool turned; /* the same for the quaternion */
  double torque_scale, polynomial[5];
  softness soft;
} equality;

#define NOTHING (-1) /* in place of an equality's second joint or tendon */

/* The force of every kind is gain u + bias - kp l - kv l', with l = gear q. */
typedef struct actuator {
  actuator_kind kind;
  int link;
  int tendon; /* tendon that it pulls, NOTHING if it moves the joint of `link` */
  int dof;    /* index of the joint's degree of freedom that a motor moves */
  double gear, gain, bias, kp, kv;
  bool limited, clamped;
  double force_limits[2], control_limits[2];
} actuator;

/* A named initial state of the scene. */
typedef struct scene_start {
  char *name;
  double *q, *v, *u; /* (nq), (nv), (actuators) */
} scene_start;

typedef struct scene_pair {
  int link[2], body[2]; /* the body's number on its link; if link is WORLD there is none, and
                           contacts are given */
  int column[2]; /* of friction and of stiffness: a listed pair has its own column twice, other
                    pairs those of their bodies */
  size_t alike;  /* Automatic pairs of bodies with the same shapes are alike: the first of them;
                    otherwise the pair itself */
  double friction, margin, restitution;
  /* Computed from the loaded bodies; 0 until then and for pairs without bodies. size: the diagonal
   * of the body named by scene_pair_fits, or of the larger body [m]; not set for clouds. half: half
   * the thickness of the thinner body [m], 0 if unknown or irrelevant. ball: spheres around the
   * bodies, each with its centre in its link's frame and its radius [m]. */
  double size;
  double half;
  double thin; /* as `half`, of both bodies, even beside a plane */
  double ball[2][4];
  /* If the scene sweeps: sweep_half is `half` for sweeping, 0 if the pair is omitted; apart is the
   * distance at which bodies are stopped [m]. */
  double sweep_half, apart;
  softness soft;                 /* for soft contacts */
  int condim;                    /* 1, without friction, or 3 */
  double spring[SPRING_NUMBERS]; /* for springs, like dissipation and reaction */
  abut_dissipation dissipation;
  abut_reaction reaction;
  bool fitted; /* The file does not state the whole smoothing: the rest is fitted to the bodies. */
  uint64_t stated; /* the stated members, as bits of smoothing_read_some */
  abut_smoothing smoothing;
} scene_pair;

typedef struct scene_def {
  double timestep, gravity[3], impratio;
  integrator integrator;
  const contact_law *law;
  int clouds; /* whether springs are between clouds: 1 or 0 if the file states it, else -1 */
  hard_settings hard;
  bool pyramidal, exact_diagonal;
  bool broad_phase; /* Pairs whose bodies cannot touch are skipped. */
  bool tiles;       /* Bodies with many vertices are split into tiles if the law does so. */
  bool sweep; /* Bodies that would pass through each other within a step are stopped where they
                 meet. */
  int iterations, line_iterations;
  double tolerance, line_tolerance; /* tolerance 0: depends on the context's precision */
  double cone_smoothing, limit_smoothing, divergence;
  size_t capacity;
  int most_contacts; /* per world, 0: no bound */
  scene_link *links;
  size_t link_count;
  tendon *tendons;
  size_t tendon_count;
  equality *equalities;
  size_t equality_count;
  actuator *actuators;
  size_t actuator_count;
  scene_start *starts;
  size_t start_count;
  scene_pair *pairs; /* the listed ones, then the automatic ones (world/candidates.h) */
  size_t pair_count, listed_count;
  bool says_pairs;         /* The file has `pairs` or `automatic`, possibly empty. */
  bool automatic, parents; /* Pairs are found automatically; with `parents`, also pairs of links
                              that a joint connects. */
  scene_pair usual;        /* the common settings of automatic pairs */
  int (*excluded)[2];      /* (excluded_count) pairs of links without automatic pairs */
  size_t excluded_count;
  size_t column_count; /* of friction and stiffness: listed pairs, then bodies of automatic ones */
  int *column_bodies;  /* (column_count - listed_count) these bodies, by scene_body_number */
  char *file, *text;   /* the file's name and content, for later errors; NULL without a file */
  size_t text_bytes;
  arena memory;
} scene_def;

void scene_def_free(scene_def *s);

/* Return the number of positions and of degrees of freedom of a joint. */
int joint_positions(joint_type type);
int joint_dofs(joint_type type);

/* Returns whether a link with this joint can move relative to its parent. */
bool joint_moves(joint_type type);

/* Returns the number of controls of a world: one per actuator, then those of moved links, link by
 * link. */
size_t scene_control_count(const scene_def *s);

/* Returns the first link whose quaternion in positions q is 0, or the number of links. */
size_t scene_bad_quaternion(const scene_def *s, const double *q);

/* Returns the first link on the path from the world to a link that can move relative to its parent,
 * or the link itself if none can. That link and its descendants are a tree; the mass matrix is zero
 * between trees. */
size_t scene_root(const scene_def *s, size_t link);

/* Returns the number of degrees of freedom of this link's tree, counted up to this link. */
int scene_tree_dofs(const scene_def *s, size_t link);

/* Bodies of a scene are numbered link by link. Returns the number of a link's first body. For
 * link_count it returns the number of all bodies. */
size_t scene_body_number(const scene_def *s, size_t link);

/* Returns the body on a side, 0 or 1, of a pair with bodies. */
const scene_body *scene_side(const scene_def *s, const scene_pair *p, int side);

/* Returns whether a body is ground that others rest on: a plane or a height field, whose size is
 * irrelevant for their contacts. */
bool scene_body_is_ground(const scene_body *b);

/* Returns that body's number, by scene_body_number. */
size_t scene_pair_body(const scene_def *s, const scene_pair *p, int side);

/* Returns whether a pair is automatic, not listed. */
bool scene_pair_is_automatic(const scene_def *s, size_t i);

/* Returns the friction of a column: that of a listed pair, or that of a body in its automatic
 * pairs. */
double scene_column_friction(const scene_def *s, size_t column);

/* Returns the link of the body with this number. */
size_t scene_body_link(const scene_def *s, size_t number);

/* Returns the side, 0 or 1, of the only body that determines the contact's size, because the other
 * body is ground. The smoothing is fitted to this size. Returns -1 if both bodies determine it. */
int scene_pair_fits(const scene_def *s, const scene_pair *p);

/* Returns whether a pair's file requests contacts between edges. */
bool scene_pair_states_edge_pairs(const scene_pair *p);

/* Gives a pair a smoothing that was fitted to its bodies, except for the members that its file
 * states. */
void scene_pair_fit(scene_pair *p, const abut_smoothing *fitted);

#endif
