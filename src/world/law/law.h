/* What contacts of a scene do is told by its law: an entry of one table, which reading, loading,
 * steps and derivatives walk. Nothing outside this folder names a law. docs/extending.md says how to
 * add one. */
#ifndef ABUT_WORLD_LAW_LAW_H
#define ABUT_WORLD_LAW_LAW_H

#include "world/body_shapes.h"
#include "world/extent.h"
#include "world/law/read.h"
#include "world/steps.h"

/* Each NAME is NAME_law of NAME.c. A file that names no law has the first one. */
#define LAWS(X) X(cone) X(lcp) X(spring)

#define INTEGRATOR_BIT(i) (1u << (i))

/* NULL, 0 and false: the law has nothing to do there. Worlds cannot do without load, inform, sizes and
 * solve; pictures and scene_measure_pairs not without load_body and measure; implicit steps, for laws that
 * take them, not without implicit; derivatives not without step_adjoint, contacts_adjoint and jacobian, so that
 * a law that has none refuses them in check_kind. */
struct contact_law {
  /* ---- a scene's file ---- */
  const char *word;      /* of "contact_model" */
  unsigned integrators;  /* INTEGRATOR_BIT of each that its steps may go by */
  integrator usual;      /* the one of a file that names none */
  bool takes_capacity;   /* a scene's `capacity` bounds its contacts */

  /* Reads the law's own settings from a scene's file, and its own numbers from one of its pairs:
   * every law does, since a scene may hold the settings of another law for another time. */
  abut_status (*read)(const json_file *f, const json_at *root, scene_def *s);
  abut_status (*read_pair)(const json_file *f, const json_at *element, scene_pair *p);

  /* Settles what the scene's own law makes of its settings and of a pair, and refuses what has no
   * meaning for it: a result would not be what was asked for. */
  abut_status (*settle)(const reader *r, const json_at *root);
  abut_status (*settle_pair)(const reader *r, const json_at *element, scene_pair *p);

  /* ---- a scene ---- */
  side_points points; /* how many vertices a body has that is a shape */
  bool half_spaces;   /* a plane is all that lies below it, and so has no thickness */
  bool drawable;      /* its pairs are pairs of bodies, whose contacts a picture shows */
  size_t numbers;     /* of each pair that worlds may have their own of: abut_worlds' `springs` */

  /* Loads what its pairs need of their bodies. */
  abut_status (*load)(loaded_scene *s, abut_context c, const scene_bodies *bodies);

  /* A body of a file, where there is need of one. */
  abut_status (*load_body)(abut_context c, const char *path, abut_body *out);

  /* The box of a body of a pair, and how thick it is. */
  abut_status (*measure)(const loaded_scene *s, const scene_pair *p, int side, extent *out);

  /* Brings to a device what the model's tables do not hold. */
  abut_status (*upload)(const loaded_scene *s, device *d, resident_model *out);

  /* What abut_get_scene_info tells of its contacts. */
  void (*inform)(const loaded_scene *s, abut_scene_info *info);

  /* ---- tables of a model ---- */
  /* Sets the sizes that are its own. slots: of a world's contacts. */
  void (*sizes)(const scene_def *s, size_t slots, world_sizes *out);

  /* Whether its steps need to know how far links can move against each other. */
  bool (*needs_mobility)(const scene_def *s, const scene_constants *c, const contact_group *groups,
                         size_t count);

  /* Puts its own numbers into tables that hold all others. */
  void (*put)(const scene_def *s, const scene_constants *c, const contact_group *groups, model *m);

  /* ---- a call ---- */
  /* Refuses what a call of its worlds cannot be asked for, and each scene of a call. What follows from
   * members that are not there is refused for all laws. */
  abut_status (*check)(const abut_worlds *w);
  abut_status (*check_kind)(const steps_call *c, const steps_kind *k);

  /* Runs the self-tests, on a member of the context, of all that its steps need beside the worlds'
   * own. */
  abut_status (*test)(const steps_call *c, size_t place);

  size_t granule; /* chunks are of whole ones, where that is more than a device's lanes */

  /* Adds to on->bytes what its steps need of memory for worlds of a group. */
  abut_status (*bytes)(batch_on *on, size_t slot, size_t group);

  /* How many contacts of a world have a place in `multipliers`. */
  size_t (*slots)(const steps_call *c);

  /* ---- a step ---- */
  /* Sets statuses of a first step by what the caller has given for it. */
  abut_status (*check_step)(const stepping *s);

  /* Finds the contacts of all pairs, where they are not given. */
  abut_status (*find_contacts)(const stepping *s);
  bool keeps_slots; /* it needs to know which slots they are of */

  /* WORLD_ACCELERATION at a state, from an acceleration to start with, after step_tree. */
  abut_status (*solve)(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

  /* Forces of contacts, of the step that has been solved, to OUT_MULTIPLIERS. */
  abut_status (*forces)(const stepping *s);

  /* What actuators must do for the accelerations at IN_A, after `solve`, to OUT_INVERSE. */
  abut_status (*inverse)(const stepping *s, world_buffer q, world_buffer v);

  /* From WORLD_ACCELERATION at the state in WORLD_Q and WORLD_V to WORLD_IMPLICIT, the acceleration
   * of an implicit step. */
  abut_status (*implicit)(const stepping *s);

  bool watches_energy; /* a world that gains energy in a step says so in its status */

  /* ---- derivatives ---- */
  bool escapes;      /* abut_worlds_gradients' `escape` means something to it */
  bool keeps_guess;  /* a step that is solved once more starts from the acceleration that it had */
  bool basis_by_dof; /* WORLD_BASIS has an entry for each degree of freedom, not for each of 6 twists */

  /* Back through one step by Euler's rule or an implicit one, from WORLD_STATE_BAR after it to that
   * before it. is_there: the step has just been made. */
  abut_status (*step_adjoint)(const stepping *s, size_t step, bool is_there);

  /* From WORLD_ACCELERATION_BAR to WORLD_MULTIPLIERS, and to what contacts and joints make of them. */
  abut_status (*contacts_adjoint)(const stepping *s);

  /* The Jacobian of accelerations, of stage `stage` of so many, row by row to WORLD_JACOBIAN; that of
   * an implicit step. */
  abut_status (*jacobian)(const stepping *s, int stage, int stages);
  abut_status (*implicit_jacobian)(const stepping *s);

  /* For jacobian_by_twists: WORLD_BASIS, what unit twists of each group give; then multipliers of
   * WORLD_ACCELERATION_BAR, and what they give by that basis. */
  abut_status (*basis)(const stepping *s);
  abut_status (*multipliers_of_basis)(const stepping *s);
};

#define DECLARE_LAW(name) extern const contact_law name##_law;
LAWS(DECLARE_LAW)
#undef DECLARE_LAW

/* The table, which ends with NULL. */
extern const contact_law *const laws[];

/* Fails where a scene's file asks for an integrator that its law does not take, or for a capacity. */
abut_status law_refuse_integrator(const reader *r, const json_at *root, integrator which,
                                  const char *why);
abut_status law_refuse_capacity(const reader *r, const json_at *root, const char *why);

#endif
