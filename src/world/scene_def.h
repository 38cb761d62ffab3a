/* A scene as its file describes it: trees of links, what acts on them, pairs of bodies that touch
 * (shared constants of N worlds). SI units; quaternions are w, x, y, z, as MuJoCo's. */
#ifndef ABUT_WORLD_SCENE_DEF_H
#define ABUT_WORLD_SCENE_DEF_H

#include "base/memory.h"
#include <abut/manifold.h>
#include <abut/spring.h>

#define WORLD (-1) /* a link that is no link */
#define SCENE_DOFS_MOST 64 /* matrices of a world are dense */
#define SPRING_NUMBERS 6 /* k, mu, v_d, v_s, eps2, eps3 */

typedef enum integrator {
  INTEGRATOR_EULER = 0,
  INTEGRATOR_RK4 = 1,
  INTEGRATOR_IMPLICIT = 2
} integrator;

/* What contacts do: world/law/law.h. */
typedef struct contact_law contact_law;

/* Constants of hard contacts; docs/lcp-formulas.md. */
typedef struct hard_settings {
  double error_reduction, slop, correction; /* [-], [m], [m/s] */
  double margin, limit_margin;              /* [m]; margin below 0: by the bodies */
  double bounce, threshold;                 /* [m/s], [-] */
  int most;                                 /* contacts of a world */
  int elastic;                              /* HARD_... of geometry/world.h */
} hard_settings;

typedef enum joint_type {
  JOINT_FIXED = 0,
  JOINT_HINGE = 1,
  JOINT_SLIDE = 2,
  JOINT_BALL = 3,
  JOINT_FREE = 4
} joint_type;

/* How a row yields [M]: time constant and damping ratio, or negative stiffness and damping; and
 * impedance over depth. */
typedef struct softness {
  double solref[2], solimp[5];
} softness;

typedef struct joint {
  joint_type type;
  double position[3], axis[3]; /* axis: unit */
  double damping, armature, stiffness, rest, friction_loss;
  bool limited;
  double limits[2];
  double limit_spring[3]; /* of springs: stiffness, temperature, velocity of dissipation */
  softness limit, friction;
} joint;

/* What a body is: a file, or a shape (world/body_shapes.h). */
typedef enum body_shape {
  SHAPE_FILE = 0,
  SHAPE_BOX = 1,       /* half lengths */
  SHAPE_SPHERE = 2,    /* radius */
  SHAPE_CAPSULE = 3,   /* radius, half the length of its straight part, along z */
  SHAPE_CYLINDER = 4,  /* radius, half its length, along z */
  SHAPE_ELLIPSOID = 5, /* half lengths */
  SHAPE_PLANE = 6      /* half lengths along x and y; its upper face is z = 0 */
} body_shape;

#define BODY_SHAPES 7
#define SHAPE_SLENDER_MOST 50.0 /* of capsules and cylinders: the longer by the shorter length */

/* Their words in files, and how many sizes each has. */
extern const char *const body_shape_words[BODY_SHAPES];
extern const size_t body_shape_sizes[BODY_SHAPES];

typedef struct scene_body {
  body_shape shape;
  char *file; /* found from the scene's folder; NULL of a shape */
  double size[3];
  double position[3], quaternion[4];
  double eps1; /* [m^2] of the cloud that springs are between; 0: as the body's file has it, or by its faces */
} scene_body;

typedef struct scene_link {
  char *name; /* NULL: it has none */
  int parent; /* WORLD or a link before */
  double position[3], quaternion[4];
  double mass, com[3], inertia[9]; /* about com, in the link's axes */
  double density;                  /* above 0: mass, com and inertia are the bodies' */
  joint joint;
  scene_body *bodies;
  size_t body_count;
} scene_link;

typedef enum actuator_kind {
  ACTUATOR_MOTOR = 0,
  ACTUATOR_POSITION = 1,
  ACTUATOR_VELOCITY = 2
} actuator_kind;

typedef struct actuator {
  actuator_kind kind;
  int link;
  int dof; /* within the joint, of motors */
  double gear, kp, kv;
  bool limited;
  double force_limits[2];
} actuator;

typedef struct scene_pair {
  int link[2], body[2]; /* body: of the link's; link WORLD: contacts are given with each step */
  double friction, margin, restitution;
  double size; /* of the larger body: its diagonal [m]; 0 of a pair without bodies */
  double half;    /* of the thickness of its thinner body [m], planes apart; 0: not known */
  double ball[2][4]; /* around its bodies: centre in the link, radius [m] */
  softness soft;
  int condim;  /* 1 or 3 */
  double spring[SPRING_NUMBERS]; /* of springs */
  abut_dissipation dissipation;
  abut_reaction reaction;
  bool fitted;     /* not all of a smoothing was stated */
  uint32_t stated; /* of which these were: smoothing_read_some */
  abut_smoothing smoothing;
} scene_pair;

typedef struct scene_def {
  double timestep, gravity[3], impratio;
  integrator integrator;
  const contact_law *law;
  hard_settings hard;
  bool pyramidal, exact_diagonal;
  int iterations, line_iterations;
  double tolerance, line_tolerance; /* tolerance 0: by precision */
  double cone_smoothing, limit_smoothing, divergence;
  size_t capacity;
  scene_link *links;
  size_t link_count;
  actuator *actuators;
  size_t actuator_count;
  scene_pair *pairs;
  size_t pair_count;
  char *file, *text; /* of its file, for what is found wrong later; NULL without one */
  size_t text_bytes;
  arena memory;
} scene_def;

void scene_def_free(scene_def *s);

/* Positions and degrees of freedom of a joint. */
int joint_positions(joint_type type);
int joint_dofs(joint_type type);

/* How many bodies all links have, and the number of a link's first among them: bodies are counted
 * by links, in the links' order. link_count gives the whole. */
size_t scene_body_number(const scene_def *s, size_t link);

/* The body of a side, 0 or 1, of a pair. */
const scene_body *scene_side(const scene_def *s, const scene_pair *p, int side);

/* The number, by scene_body_number, of the body of a side, 0 or 1, of a pair. */
size_t scene_pair_body(const scene_def *s, const scene_pair *p, int side);

/* Of a pair without smoothing whose links are not WORLD: the side, 0 or 1, whose body alone tells
 * the size that its smoothing is fitted to, because the other is a plane, which may be as large as
 * it likes; -1: both do. */
int scene_pair_fits(const scene_def *s, const scene_pair *p);

/* Gives a pair a smoothing that was fitted to its bodies, with reach as dynamics need it (they want no
 * edge contact to fade with depth). */
void scene_pair_fit(scene_pair *p, const abut_smoothing *fitted);

/* `near` where a smoothing is stated without one: its edges may not have to `agree`. */
double scene_near(const abut_smoothing *s);

#endif
