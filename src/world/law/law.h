/* A contact law defines the forces of a scene's contacts. Each law is one entry of a table.
 * Reading, loading, stepping and differentiation use the table, so nothing outside this folder
 * depends on a particular law. docs/dev/extending.md describes how to add one. */
#ifndef ABUT_WORLD_LAW_LAW_H
#define ABUT_WORLD_LAW_LAW_H

#include "scene/body_shapes.h"
#include "world/extent.h"
#include "scene/law.h"
#include "world/reverse.h"
#include <abut/field.h>

/* NAME stands for NAME_law in NAME.c. The first law is the default of a scene's file. */
#define LAWS(X) X(cone) X(lcp) X(spring)

#define INTEGRATOR_BIT(i) (1u << (i))
#define DENSE_DOFS_MOST 64 /* dofs_most of laws with dense matrices */

/* The members are in the order of their use: read a file, load a scene, make its tables, check a
 * call, make a step, differentiate it. If a comment says that a function may be NULL, NULL means
 * that the law does nothing, refuses nothing, or answers false there. All other functions are
 * required, unless the comment states when they are needed. */
struct contact_law {
  /* ---- a scene's file ---- */
  const char *word;     /* its name in scenes' files, under "contact_model" */
  unsigned integrators; /* INTEGRATOR_BIT of each that the law supports. If a call replaces the
                           file's law, any other integrator of the file becomes "euler". In the
                           law's own files `settle` refuses it with a better message. */
  integrator usual;     /* the default integrator of a file */
  int dofs_most;        /* the most degrees of freedom of a world, at most SCENE_DOFS_MOST */
  bool dampers_within;  /* Euler's step treats joint damping implicitly: M + h damping. */
  bool margins; /* The law uses a pair's margin: the distance at which its contacts begin to push,
                   and at which their activity is one half. */
  bool takes_equalities; /* Scenes may have equality constraints. */
  bool takes_capacity; /* A scene's `capacity` bounds its contacts. If false, `capacity` is dropped
                          from a file of another law and refused in the law's own files. */

  /* Read the law's own settings from a scene's file, and its own numbers from a listed pair or from
   * the entry of automatic pairs. Every law reads every file, so a file may hold settings of
   * several laws. Both may be NULL. */
  abut_status (*read)(const json_file *f, const json_at *root, scene_def *s);
  abut_status (*read_pair)(const json_file *f, const json_at *element, scene_pair *p);

  /* Called only for the scene's own law. They make its last changes to the settings and to a pair
   * (or to the common values of automatic pairs), and refuse settings that the law does not
   * support. Both may be NULL. */
  abut_status (*settle)(const reader *r, const json_at *root);
  abut_status (*settle_pair)(const reader *r, const json_at *element, scene_pair *p);

  /* Sets *out to the law of a scene whose definition has been read: this law, or another one of the
   * same word. NULL: this law. */
  abut_status (*choose)(const scene_def *s, const contact_law **out);

  /* ---- a scene ---- */
  bool cuts;        /* Bodies with many vertices are cut into tiles (world/tiles.h). */
  bool half_spaces; /* A plane is a half-space: everything below it is solid. */
  bool drawable;    /* `load` fills loaded_scene.pairs, so pictures can show contacts. */
  size_t numbers;   /* how many numbers each world may set for a pair: the width of
                       abut_worlds.springs and of abut_get_scene_springs; 0: refused */

  /* Loads the data of the pairs' bodies, fills loaded_scene.groups with one group per pair, and
   * calls scene_measure_pairs for the pairs' sizes. */
  abut_status (*load)(loaded_scene *s, abut_context c, const scene_bodies *bodies);

  /* Loads a body from a file, with the field settings of a bare mesh. Needed for pictures, and if
   * `load` calls scene_load_pairs. */
  abut_status (*load_body)(abut_context c, const char *path, const abut_field_options *options,
                           abut_body *out);

  /* Sets *out to the box and the thickness of a pair's body that is not a plane.
   * scene_measure_pairs needs it. */
  abut_status (*measure)(const loaded_scene *s, const scene_pair *p, int side, extent *out);

  /* Uploads the law's data beyond the scene's tables to a device. May be NULL. */
  abut_status (*upload)(const loaded_scene *s, device *d, resident_tables *out);

  /* Fills in the contacts' part of abut_get_scene_info. */
  void (*inform)(const loaded_scene *s, abut_scene_info *info);

  /* ---- tables of a scene ---- */
  /* Sets the law's own sizes. `damped` means that Euler's step includes dampers. pair_springs,
   * zero_stiffness, active_reals and newton (geometry/world.h) are 0 unless set here; active_reals
   * is needed if the law's kernels sum over the contacts of active pairs. `slots` is the number of
   * contact slots of a world. */
  void (*sizes)(const scene_def *s, size_t slots, world_sizes *out);

  /* Whether steps need the mobilities X M^-1 X' of groups and the diagonal of M^-1 at each state
   * (kernel world_mobility). May be NULL. */
  bool (*needs_mobility)(const scene_def *s, const scene_constants *c, const contact_group *groups,
                         size_t count);

  /* Writes the law's own numbers into the tables, after all others. May be NULL. */
  void (*put)(const scene_def *s, const scene_constants *c, const contact_group *groups,
              scene_tables *m);

  /* ---- a call ---- */
  /* Refuse calls that the law does not support: `check` any call, `check_type` a call with worlds
   * of a given scene. Both may be NULL. Requests for members that are NULL are refused for all laws
   * elsewhere. */
  abut_status (*check)(const abut_worlds *w);
  abut_status (*check_type)(const steps_call *c, const world_type *k);

  /* Runs the self-tests of the kernels that only this law needs, on a member of the context. May be
   * NULL. */
  abut_status (*test)(const steps_call *c, size_t place);

  size_t granule; /* how many worlds one of its kernels processes together. Buffers are sized in
                     multiples of this, or of the device's lanes if that is more. */

  /* Sets in on->bytes the size of each buffer per world of a group. May be NULL. */
  abut_status (*bytes)(batch_on *on, size_t slot, size_t group);

  /* Returns the number of slots of a world in `multipliers`, three numbers each. NULL: no
   * multipliers. */
  size_t (*slots)(const steps_call *c);

  /* ---- a step ---- */
  /* Sets statuses before the first step if the caller's input for the law's contacts is out of
   * range. May be NULL. */
  abut_status (*check_step)(const stepping *s);

  /* Finds the contacts of all pairs for the link poses in WORLD_SCRATCH, unless contacts are given.
   * NULL: the law has no contacts to find. */
  abut_status (*find_contacts)(const stepping *s);
  bool keeps_slots; /* WORLD_SLOTS is written in every step, not only when multipliers are
                       requested. */

  /* Computes WORLD_ACCELERATION at a state, after step_tree, and WORLD_CONSTRAINT_FORCE if it is
   * read later; adds to statuses. Iterations start at the acceleration `start`. */
  abut_status (*solve)(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

  /* Writes the contact forces of the last `solve` to OUT_MULTIPLIERS, in the frame given by
   * steps_call.in_world. NULL: multipliers are refused. */
  abut_status (*forces)(const stepping *s);

  /* Writes the contact forces of each world pair of the last `solve` to WORLD_PUSHES. NULL: forces
   * on links and of pairs are refused. */
  abut_status (*pushes)(const stepping *s);

  /* Inverse dynamics: writes to OUT_INVERSE the actuator forces that produce the accelerations
   * IN_A, after `solve`. NULL: refused. */
  abut_status (*inverse)(const stepping *s, world_buffer q, world_buffer v);

  /* Computes WORLD_IMPLICIT, the acceleration of an implicit step, from WORLD_ACCELERATION at the
   * state in WORLD_Q and WORLD_V. Needed if `integrators` has INTEGRATOR_IMPLICIT. */
  abut_status (*implicit)(const stepping *s);

  bool watches_energy; /* A world gets the status WORLD_GAINED if its contacts add energy that they
                          cannot have. Not with RK4, whose tree is no longer that of the step's
                          start. */

  /* ---- derivatives: required unless `check_type` refuses all calls for them ---- */
  bool pulls_pushes; /* contacts_adjoint accepts cotangents of contact forces (WORLD_PUSHES). */
  bool escapes;      /* The law supports abut_worlds_gradients.escape. */
  bool keeps_guess;  /* The reverse pass solves a step again from the same start, so it needs
                        WORLD_W. */
  bool basis_by_dof; /* WORLD_BASIS has one entry per degree of freedom, instead of one for each of
                        6 unit twists. */

  /* Reverse pass through one Euler or implicit step. WORLD_STATE_BAR holds the cotangent of (q',
   * v') and receives that of (q, v). The step's start is in WORLD_Q and WORLD_V, its final velocity
   * in WORLD_NEXT_V, its acceleration in WORLD_ACCELERATION. is_there: the device has just made
   * this step, so its tree, contacts and solution are still valid. RK4 steps go back stage by stage
   * without this function. */
  abut_status (*step_adjoint)(const stepping *s, size_t step, bool is_there);

  /* Computes WORLD_MULTIPLIERS from WORLD_ACCELERATION_BAR, then WORLD_GROUP_ADJOINT and
   * WORLD_ROW_ADJOINT, after step_tree. */
  abut_status (*contacts_adjoint)(const stepping *s);
  /* An additional reverse pass through the tree for contacts, before the tree's own. NULL: none. */
  abut_status (*tree_adjoint)(const stepping *s);

  /* Fill WORLD_JACOBIAN (see acceleration_jacobian) for explicit and for implicit steps. The second
   * is needed if `integrators` has INTEGRATOR_IMPLICIT. */
  abut_status (*jacobian)(const stepping *s, int stage, int stages);
  abut_status (*implicit_jacobian)(const stepping *s);

  /* Needed if `jacobian` is jacobian_by_twists. `basis` fills WORLD_BASIS with the group adjoints
   * of the six unit twists of each group. multipliers_of_basis does the same as contacts_adjoint,
   * but computes WORLD_GROUP_ADJOINT as a combination of that basis. */
  abut_status (*basis)(const stepping *s);
  abut_status (*multipliers_of_basis)(const stepping *s);
};

static inline const contact_law *law_of(const steps_call *c)
{
  return c->scene->def.law;
}

#define DECLARE_LAW(name) extern const contact_law name##_law;
LAWS(DECLARE_LAW)
#undef DECLARE_LAW

/* For `settle`: fail with the text `why` at the place in the file if the scene uses this
 * integrator, or has a capacity. */
abut_status law_refuse_integrator(const reader *r, const json_at *root, integrator which,
                                  const char *why);
abut_status law_refuse_capacity(const reader *r, const json_at *root, const char *why);

#endif
