/* Steps of worlds on a device: what a call, a chunk of its worlds and a step of them have. */
#ifndef ABUT_WORLD_STEPS_H
#define ABUT_WORLD_STEPS_H

#include "batch/batch.h"
#include "manifold/run.h"
#include "world/loaded.h"

#define POSE_WIDTH 7
#define BANK_OF_WORLDS 1 /* the manifold's runs have the other */

/* Buffers of the worlds' bank. */
typedef enum world_buffer {
  IN_Q,
  IN_V,
  IN_W,
  IN_U,
  IN_MASS_SCALE,
  IN_FRICTION,
  IN_STIFFNESS,
  IN_GRAVITY,
  IN_P,
  IN_D,
  IN_N,
  IN_ACTIVITY,
  OUT_Q,
  OUT_V,
  OUT_W,
  OUT_Q_RECORD,
  OUT_V_RECORD,
  OUT_STATUS,
  OUT_ITERATIONS,
  OUT_MASS,
  OUT_BIAS,
  OUT_SMOOTH,
  OUT_ACCELERATION,
  OUT_CONSTRAINT,
  WORLD_U,
  WORLD_PARAMETERS_OF,
  WORLD_SCRATCH,
  WORLD_SINGULARS,
  WORLD_CONTACTS,
  WORLD_CONTACT_NUMBERS,
  WORLD_MARKS,
  WORLD_WORK,
  WORLD_NEXT_Q,
  WORLD_NEXT_V,
  WORLD_ACCELERATION,
  WORLD_PUSH,
  WORLD_STAGE_Q,
  WORLD_STAGE_V,
  WORLD_RATES,
  WORLD_SUMS /* of RK4 */
} world_buffer;

typedef struct steps_call {
  batch_call base;
  loaded_scene *scene;
  const abut_worlds *worlds;
  contact_group *groups; /* of given contacts, else the scene's */
  size_t group_count;
  int *places; /* of given contacts: those of each group, one group behind the other */
} steps_call;

/* The call at work on a device. */
typedef struct steps_on {
  const resident_model *model;
  resident_model own; /* of given contacts */
  buffer *places;
} steps_on;

/* One step of a chunk. */
typedef struct stepping {
  const steps_call *call;
  const steps_on *at;
  batch_on *on;
  size_t slot, count;
  device *device;
} stepping;

buffer *world_buffer_of(const stepping *s, world_buffer id);

#define OF(s, id) ARG_BUFFER(world_buffer_of(s, id))
#define MODEL(s) ARG_BUFFER((s)->at->model->head), ARG_BUFFER((s)->at->model->ints)
#define REALS(s) ARG_BUFFER((s)->at->model->reals)
#define PARAMETERS_OF(s)                                                      \
  ARG_BUFFER(shares_parameters(s) ? (s)->at->model->parameters                \
                                  : world_buffer_of(s, WORLD_PARAMETERS_OF)), \
    ARG_INT(shares_parameters(s))

/* Bits of the parameters that the caller gives by world. */
int given_parameters(const abut_worlds *w);

/* All worlds have the scene's own parameters. */
bool shares_parameters(const stepping *s);

const world_sizes *sizes_of(const stepping *s);

/* Of LANES worlds, the last one maybe not full. */
size_t world_blocks(const stepping *s);

/* A pair's manifold on a device, for the worlds of a slot. */
abut_status run_of(const steps_call *c, size_t i, batch_on *on, size_t slot, run *r);

/* Contacts of all pairs for the links' places that are there: those of the bodies, or given ones. */
abut_status find_contacts(const stepping *s);

/* Steps a chunk of worlds, all steps one behind the other. */
abut_status steps_launch(batch_on *on, size_t slot, chunk c);

#endif
