/* A contact law says how the contacts of a scene push. Each is one entry of a table by which
 * reading, loading, steps and derivatives find what is particular to it, so that nothing outside
 * this folder names a law. docs/dev/extending.md says how to add one. */
#ifndef ABUT_WORLD_LAW_LAW_H
#define ABUT_WORLD_LAW_LAW_H

#include "scene/body_shapes.h"
#include "world/extent.h"
#include "scene/law.h"
#include "world/reverse.h"
#include <abut/field.h>

/* Each NAME stands for NAME_law of NAME.c. A scene's file that names no law has the first one. */
#define LAWS(X) X(cone) X(lcp) X(spring)

#define INTEGRATOR_BIT(i) (1u << (i))
#define DENSE_DOFS_MOST 64 /* dofs_most of laws whose matrices are dense */

/* The sections are in the order in which members are used: a file is read, a scene loaded, its
 * tables made, a call checked, a step made, and differentiated. Where a comment says that a
 * function may be NULL, the law then does nothing there, refuses nothing, or answers false. Where
 * it says neither that nor when the function is needed, the function must be there. */
struct contact_law {
  /* ---- a scene's file ---- */
  const char *word;      /* its name in scenes' files, under "contact_model" */
  unsigned integrators;  /* INTEGRATOR_BIT of each that it takes. Where a call puts it in the place
                            of the file's law, a file's integrator that is none of these becomes
                            "euler"; in files of its own it is refused, by `settle` in better
                            words. */
  integrator usual;      /* the integrator of a file that names none */
  int dofs_most;         /* of a world, at most SCENE_DOFS_MOST */
  bool dampers_within;   /* Euler's step takes joints' dampers as they are at its end: M + h
                            damping. */
  bool margins;          /* A pair's margin is where its contacts begin to push, and where they are
                            half active. */
  bool takes_equalities; /* Scenes may have equality constraints. */
  bool takes_capacity;   /* A scene's `capacity` bounds its contacts. Where it is false, a file of
                            another law loses its capacity, and one in files of its own is
                            refused. */

  /* Read the law's own settings from a scene's file, and its own numbers from one of the pairs
   * there, or from what it says of automatic pairs. Every law reads every file, so that a file may
   * hold settings for several laws. Both may be NULL. */
  abut_status (*read)(const json_file *f, const json_at *root, scene_def *s);
  abut_status (*read_pair)(const json_file *f, const json_at *element, scene_pair *p);

  /* The scene's own law alone makes its last changes to the settings and to a pair, or to what
   * automatic pairs have in common, and refuses what has no meaning for it, since otherwise the
   * result would not be what the file asks for. Both may be NULL. */
  abut_status (*settle)(const reader *r, const json_at *root);
  abut_status (*settle_pair)(const reader *r, const json_at *element, scene_pair *p);

  /* Tells the law of a scene whose definition is read: this one, or another one of the same word.
   * NULL: this one. */
  abut_status (*choose)(const scene_def *s, const contact_law **out);

  /* ---- a scene ---- */
  bool cuts;        /* Bodies with many vertices are cut into tiles (world/tiles.h). */
  bool half_spaces; /* A plane is all that lies below it, so that nothing can pass through it. */
  bool drawable;    /* `load` fills loaded_scene.pairs, whose contacts a picture shows. */
  size_t numbers;   /* how many numbers of a pair worlds may have of their own, which
                       abut_worlds' `springs` brings and abut_get_scene_springs tells; 0: these
                       are refused */

  /* Loads what its pairs need of their bodies, fills loaded_scene.groups with one group a pair, and
   * has scene_measure_pairs find the pairs' sizes. */
  abut_status (*load)(loaded_scene *s, abut_context c, const scene_bodies *bodies);

  /* Loads a body of a file, with settings for the field of a bare mesh. It is needed where `load`
   * calls scene_load_pairs, and for pictures. */
  abut_status (*load_body)(abut_context c, const char *path, const abut_field_options *options,
                           abut_body *out);

  /* Tells the box and the thickness of a pair's body that is no plane. scene_measure_pairs needs
   * it. */
  abut_status (*measure)(const loaded_scene *s, const scene_pair *p, int side, extent *out);

  /* Brings to a device what its kernels need beside the scene's tables. May be NULL. */
  abut_status (*upload)(const loaded_scene *s, device *d, resident_tables *out);

  /* Sets what abut_get_scene_info tells of its contacts. */
  void (*inform)(const loaded_scene *s, abut_scene_info *info);

  /* ---- tables of a scene ---- */
  /* Sets the sizes that are its own, among which `damped` says that Euler's step takes dampers in;
   * pair_springs, zero_stiffness, active_reals and newton are what the law asks for
   * (geometry/world.h), and 0 unless it sets them: active_reals is needed where its kernels add up
   * the contacts of active pairs. slots is how many slots a world's contacts have. */
  void (*sizes)(const scene_def *s, size_t slots, world_sizes *out);

  /* Whether its steps need the mobilities X M^-1 X' of groups and the diagonal of M^-1 at each
   * state, which the kernel world_mobility makes. May be NULL. */
  bool (*needs_mobility)(const scene_def *s, const scene_constants *c, const contact_group *groups,
                         size_t count);

  /* Puts its own numbers into the tables, after all others have been put there. May be NULL. */
  void (*put)(const scene_def *s, const scene_constants *c, const contact_group *groups,
              scene_tables *m);

  /* ---- a call ---- */
  /* Refuse what a call of its worlds cannot have: any call, and with regard to each of the scenes
   * of its worlds. Both may be NULL; what a call asks of members that are not there is refused for
   * all laws. */
  abut_status (*check)(const abut_worlds *w);
  abut_status (*check_type)(const steps_call *c, const world_type *k);

  /* Runs, on a member of the context, the self-tests of all that its steps need beside what worlds
   * of every law need. May be NULL. */
  abut_status (*test)(const steps_call *c, size_t place);

  size_t granule; /* how many worlds one of its kernels takes together: buffers have room for
                     whole multiples of this, or of the device's lanes where these are more */

  /* Sets in on->bytes how much of each buffer its steps need for a world of a group. May be
   * NULL. */
  abut_status (*bytes)(batch_on *on, size_t slot, size_t group);

  /* How many slots a world has in `multipliers`, three numbers each. NULL: multipliers have no
   * numbers. */
  size_t (*slots)(const steps_call *c);

  /* ---- a step ---- */
  /* Sets statuses before the first step where what the caller gives for its contacts is out of
   * range. May be NULL. */
  abut_status (*check_step)(const stepping *s);

  /* Finds the contacts of all pairs at the places of links in WORLD_SCRATCH, unless contacts are
   * given. May be NULL: there are none to be found. */
  abut_status (*find_contacts)(const stepping *s);
  bool keeps_slots; /* WORLD_SLOTS is written in every step, not only where multipliers are asked
                       for. */

  /* Finds WORLD_ACCELERATION at a state, after step_tree, and WORLD_CONSTRAINT_FORCE where that is
   * read later; adds to statuses. What is iterated starts at the acceleration `start`. */
  abut_status (*solve)(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

  /* Writes the forces of the contacts of the last `solve` to OUT_MULTIPLIERS, as
   * steps_call.in_world says. NULL: multipliers are refused. */
  abut_status (*forces)(const stepping *s);

  /* Writes to WORLD_PUSHES what the contacts of each world pair of the last `solve` push with.
   * NULL: forces on links and of pairs are refused. */
  abut_status (*pushes)(const stepping *s);

  /* Writes to OUT_INVERSE the forces by which actuators would make the accelerations at IN_A, after
   * `solve`. NULL: that is refused. */
  abut_status (*inverse)(const stepping *s, world_buffer q, world_buffer v);

  /* Makes WORLD_IMPLICIT, the acceleration of an implicit step, of WORLD_ACCELERATION at the state
   * in WORLD_Q and WORLD_V. It is needed where `integrators` has INTEGRATOR_IMPLICIT. */
  abut_status (*implicit)(const stepping *s);

  bool watches_energy; /* A world whose contacts give it energy that they cannot have gets
                          WORLD_GAINED, but not with RK4, whose tree is not that of the step's
                          beginning any more. */

  /* ---- derivatives: needed unless `check_type` refuses calls that ask for any ---- */
  bool pulls_pushes; /* Its contacts_adjoint takes cotangents of what contacts push with. */
  bool escapes;      /* abut_worlds_gradients' `escape` means something to it. */
  bool keeps_guess;  /* The reverse pass solves a step again from the same start, and so needs
                        WORLD_W. */
  bool basis_by_dof; /* WORLD_BASIS has an entry for each degree of freedom, not for each of 6
                        unit twists. */

  /* Goes back through one step, by Euler's rule or implicit: WORLD_STATE_BAR is that of (q', v')
   * and becomes that of (q, v). The step's beginning is in WORLD_Q and WORLD_V, its end in
   * WORLD_NEXT_V, its acceleration in WORLD_ACCELERATION. is_there says that the device has just
   * made this step, so that its tree, contacts and answers need not be made anew. Steps of RK4 go
   * back stage by stage, without it. */
  abut_status (*step_adjoint)(const stepping *s, size_t step, bool is_there);

  /* Of WORLD_ACCELERATION_BAR it makes WORLD_MULTIPLIERS, and of these WORLD_GROUP_ADJOINT and
   * WORLD_ROW_ADJOINT, after step_tree. */
  abut_status (*contacts_adjoint)(const stepping *s);
  /* What else of contacts goes through the tree by a pass of its own, before the tree's. NULL:
   * none. */
  abut_status (*tree_adjoint)(const stepping *s);

  /* Fill WORLD_JACOBIAN, which acceleration_jacobian describes, for explicit and for implicit
   * steps. The second is needed where `integrators` has INTEGRATOR_IMPLICIT. */
  abut_status (*jacobian)(const stepping *s, int stage, int stages);
  abut_status (*implicit_jacobian)(const stepping *s);

  /* Needed where `jacobian` is jacobian_by_twists. `basis` fills WORLD_BASIS with the group
   * adjoints of each group's six unit twists. multipliers_of_basis does what contacts_adjoint does,
   * but sums up WORLD_GROUP_ADJOINT from that basis. */
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

/* For `settle`: fail, with the text `why` at the place in the file, where the scene has this
 * integrator, and where it has a capacity. */
abut_status law_refuse_integrator(const reader *r, const json_at *root, integrator which,
                                  const char *why);
abut_status law_refuse_capacity(const reader *r, const json_at *root, const char *why);

#endif
