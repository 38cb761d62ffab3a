/* A scene as its file describes it (docs/scenes.md): trees of links, what
 * acts on them, and the pairs of bodies that may touch. All worlds of a scene share it. SI units;
 * quaternions are w, x, y, z. */
#ifndef ABUT_SCENE_DEFINITION_H
#define ABUT_SCENE_DEFINITION_H

#include "base/memory.h"
#include "geometry/joints.h"
#include <abut/manifold.h>
#include <abut/spring.h>

#define WORLD (-1)                /* in the place of a link's number: the world itself */
#define SCENE_DOFS_MOST 4096      /* of a world: a law may take fewer */
#define TREE_DOFS_MOST 128        /* of a tree: the links behind one that moves against the world */
#define SCENE_COLLIDING_MOST 4096 /* bodies that automatic pairs may have */
#define SPRING_NUMBERS 6          /* k, mu, v_d, v_s, eps2, eps3 */

typedef enum integrator {
  INTEGRATOR_EULER = 0,
  INTEGRATOR_RK4 = 1,
  INTEGRATOR_IMPLICIT = 2
} integrator;

/* How contacts push: an entry of the table in world/law/law.h. */
typedef struct contact_law contact_law;

/* The settings of hard contacts, by the names of docs/dev/lcp-formulas.md: sections 1, 5 and 8. */
typedef struct hard_settings {
  double error_reduction, slop, correction; /* [-], [m], [m/s] */
  double margin, limit_margin;              /* [m]; a margin below 0: a share of the pair's size */
  double bounce, threshold;                 /* [m/s], [-] */
  int most;                                 /* how many contacts of a world are chosen */
  int tangents;                             /* friction rows of a contact: 2, 4 or 8 */
  int elastic;                              /* HARD_STIFF, HARD_COLLISION, HARD_PAPER of
                                               geometry/world.h */
} hard_settings;

/* How a row of the soft law gives way (docs/dev/cone-formulas.md, section 8): solref is time
 * constant and damping ratio, or stiffness and damping with the sign changed; solimp is the
 * impedance over depth. */
typedef struct softness {
  double solref[2], solimp[5];
} softness;

typedef struct joint {
  joint_type type;
  double position[3], axis[3]; /* axis: unit */
  double start; /* of a hinge or a slide: where it begins, and where weights of rows are computed */
  double damping, armature, stiffness, rest, friction_loss;
  bool limited;
  double limits[2];
  double limit_spring[3];   /* k, eps3, v_d of a limit where contacts are springs
                               (docs/dev/spring-formulas.md) */
  softness limit, friction; /* of a limit and of friction loss where contacts are soft */
} joint;

/* What a body is: a file's, or a shape (scene/body_shapes.h). Behind each are its sizes. */
typedef enum body_shape {
  SHAPE_FILE = 0,
  SHAPE_BOX = 1,         /* half lengths */
  SHAPE_SPHERE = 2,      /* radius */
  SHAPE_CAPSULE = 3,     /* radius, half the length of its straight part, along z */
  SHAPE_CYLINDER = 4,    /* radius, half its length, along z */
  SHAPE_ELLIPSOID = 5,   /* half lengths */
  SHAPE_PLANE = 6,       /* half lengths along x and y; its upper face is z = 0 */
  SHAPE_HEIGHT_FIELD = 7 /* none: an abut_height_field says all */
} body_shape;

#define BODY_SHAPES 8
/* the longer by the shorter length of a capsule or cylinder, at most */
#define SHAPE_SLENDER_MOST 50.0

/* The names of shapes in files, and how many sizes each has. */
extern const char *const body_shape_words[BODY_SHAPES];
extern const size_t body_shape_sizes[BODY_SHAPES];

/* How a body collides in automatic pairs: those whose bits meet, contype of one with conaffinity of
 * the other. */
typedef struct body_contact {
  uint32_t contype, conaffinity;
  double friction, margin;
  softness soft;
  int condim;
} body_contact;

typedef struct scene_body {
  body_shape shape;
  char *file; /* its path as found from the scene's folder; NULL where the body is a shape */
  double size[3];
  double round;                      /* radius of the edges of a box or a cylinder [m]; 0: sharp */
  const abut_height_field *heights;  /* of a height field; else NULL */
  double position[3], quaternion[4]; /* on its link */
  double eps1; /* [m^2] of its cloud, for springs; 0: as the body's file states it, or by its
                  faces */
  body_contact contact;
} scene_body;

typedef struct scene_link {
  char *name;                        /* NULL: it has none */
  int parent;                        /* WORLD, or a link before this one */
  double position[3], quaternion[4]; /* in the parent, where its joint is at 0 */
  double mass, com[3], inertia[9];   /* the inertia about com, in the link's axes, row by row */
  double density; /* above 0: mass, com and inertia are those of the bodies, filled so [kg/m^3] */
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

/* A joint with one degree of freedom, and how much of its position a tendon's length is. */
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
  bool rests;     /* `rest` is stated, else the spring rests at the length where the scene begins */
  double rest[2]; /* between which lengths it does not pull */
} tendon;

typedef enum equality_kind {
  EQUALITY_OF_POINTS = 0,  /* two points of links are at one place */
  EQUALITY_OF_PLACES = 1,  /* and do not turn against each other */
  EQUALITY_OF_JOINTS = 2,  /* the position of a joint is a polynomial of another's */
  EQUALITY_OF_TENDONS = 3, /* the same of tendons' lengths */
  EQUALITY_KINDS = 4
} equality_kind;

/* An equality constraint, which is soft as contacts are. */
typedef struct equality {
  equality_kind kind;
  int of[2]; /* links, WORLD for the world; or tendons, and NOTHING where there is no second one */
  double position[2][3], quaternion[2][4]; /* on the links */
  bool meets;  /* The place on the second link is stated; else it is where the first one is as the
                  scene begins. */
  bool turned; /* the same of its quaternion */
  double torque_scale, polynomial[5];
  softness soft;
} equality;

#define NOTHING (-1) /* in the place of an equality's second joint or tendon */

/* Its force is gain u + bias - kp l - kv l', with l = gear q, of every kind. */
typedef struct actuator {
  actuator_kind kind;
  int link;
  int tendon; /* that it pulls, NOTHING where it moves the joint of `link` */
  int dof;    /* which of the joint's degrees of freedom a motor moves */
  double gear, gain, bias, kp, kv;
  bool limited, clamped;
  double force_limits[2], control_limits[2];
} actuator;

/* A state that the scene names. */
typedef struct scene_start {
  char *name;
  double *q, *v, *u; /* (nq), (nv), (actuators) */
} scene_start;

typedef struct scene_pair {
  int link[2], body[2]; /* the body's number on its link; link WORLD: there is none, contacts are
                           given */
  int column[2];        /* of friction and of stiffness: of a listed pair twice its own, else its
                           bodies' */
  size_t alike;         /* Automatic pairs with bodies of the same shapes are all alike: the
                           first; else itself */
  double friction, margin, restitution;
  /* What follows from the loaded bodies, 0 until then and for pairs without bodies: the diagonal of
   * the larger body that scene_pair_fits names [m], which clouds do not get; half the thickness of
   * the thinner body [m], 0 where that is not known or does not matter; and spheres around the
   * bodies, each with its centre in its link and its radius [m]. */
  double size;
  double half;
  double thin; /* the same of both bodies, also beside a plane */
  double ball[2][4];
  /* Where the scene sweeps: `half` for it, 0 where the pair is left out; at which distance it stops
   * them [m]. */
  double sweep_half, apart;
  softness soft;                 /* of soft contacts */
  int condim;                    /* 1, without friction, or 3 */
  double spring[SPRING_NUMBERS]; /* of springs, as are dissipation and reaction */
  abut_dissipation dissipation;
  abut_reaction reaction;
  bool fitted;     /* The file does not state all of the smoothing: the rest is fitted to the
                      bodies. */
  uint64_t stated; /* which members it states, as bits of smoothing_read_some */
  abut_smoothing smoothing;
} scene_pair;

typedef struct scene_def {
  double timestep, gravity[3], impratio;
  integrator integrator;
  const contact_law *law;
  int clouds; /* whether springs are between clouds: 1 or 0 where the file says so, else -1 */
  hard_settings hard;
  bool pyramidal, exact_diagonal;
  bool broad_phase; /* Pairs whose bodies cannot touch are left out. */
  bool tiles;       /* Bodies with many vertices are cut, where the law does so. */
  bool sweep; /* Bodies that would pass through each other within a step are stopped where they
                 meet. */
  int iterations, line_iterations;
  double tolerance, line_tolerance; /* tolerance 0: as the context's precision allows */
  double cone_smoothing, limit_smoothing, divergence;
  size_t capacity;
  int most_contacts; /* of a world, 0: no bound */
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
  bool says_pairs;         /* The file has `pairs` or `automatic`, be it for none. */
  bool automatic, parents; /* Pairs are found by themselves; also those of links that a joint
                              joins. */
  scene_pair usual;        /* what automatic pairs have in common */
  int (*excluded)[2];      /* (excluded_count) links whose bodies are in no automatic pair */
  size_t excluded_count;
  size_t column_count; /* of friction and of stiffness: listed pairs, then bodies of automatic
                          pairs */
  int *column_bodies;  /* (column_count - listed_count) these bodies, by scene_body_number */
  char *file, *text;   /* the file's name and content, for faults that are found later; NULL without
                          a file */
  size_t text_bytes;
  arena memory;
} scene_def;

void scene_def_free(scene_def *s);

/* Return how many positions and how many degrees of freedom a joint has. */
int joint_positions(joint_type type);
int joint_dofs(joint_type type);

/* Whether a link with this joint can be elsewhere than what bears it says. */
bool joint_moves(joint_type type);

/* Returns how many controls a world has: one of each actuator, then those of moved links, link by
 * link. */
size_t scene_control_count(const scene_def *s);

/* Returns the first link whose quaternion in positions q is 0, or the number of links. */
size_t scene_bad_quaternion(const scene_def *s, const double *q);

/* Returns the first link on the way from the world to a link that can move against what bears it,
 * or the link itself where none can. The links behind it are a tree, and the mass matrix has zeros
 * between trees. */
size_t scene_root(const scene_def *s, size_t link);

/* Returns how many degrees of freedom the links up to this one have that are of its tree. */
int scene_tree_dofs(const scene_def *s, size_t link);

/* Bodies of a scene are numbered link by link. Returns the number of a link's first body; with
 * link_count it returns how many bodies there are. */
size_t scene_body_number(const scene_def *s, size_t link);

/* Returns the body of a side, 0 or 1, of a pair that has bodies. */
const scene_body *scene_side(const scene_def *s, const scene_pair *p, int side);

/* Returns whether a body is ground that others lie on: a plane or a height field, whose size means
 * nothing for their contacts. */
bool scene_body_is_ground(const scene_body *b);

/* Returns that body's number, by scene_body_number. */
size_t scene_pair_body(const scene_def *s, const scene_pair *p, int side);

/* Whether a pair was not listed, but found. */
bool scene_pair_is_automatic(const scene_def *s, size_t i);

/* Returns the friction of a column: that of a listed pair, or a body's in its automatic pairs. */
double scene_column_friction(const scene_def *s, size_t column);

/* Returns the link of the body with this number. */
size_t scene_body_link(const scene_def *s, size_t number);

/* Returns the side, 0 or 1, of a pair with bodies whose body alone says how large the contact is,
 * to which its smoothing is fitted, because the other body is ground, whose size means nothing.
 * Returns -1 where both bodies say it. */
int scene_pair_fits(const scene_def *s, const scene_pair *p);

/* Whether a pair's file states that edges make contacts with edges. */
bool scene_pair_states_edge_pairs(const scene_pair *p);

/* Gives a pair a smoothing that was fitted to its bodies, but for the members that its file
 * states. */
void scene_pair_fit(scene_pair *p, const abut_smoothing *fitted);

#endif
