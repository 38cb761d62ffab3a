/* A rollout of worlds, and what is kept of it. */
#ifndef ABUT_CLI_SIMULATE_SIMULATE_H
#define ABUT_CLI_SIMULATE_SIMULATE_H

#include "core/outputs.h"
#include "world/simulated.h"
#include "world/worlds.h"

/* Of all worlds. */
typedef struct state {
  void *q, *v, *w;
} state;

/* The contacts of kept states, by states, worlds, pairs and slots. */
typedef struct kept_contacts {
  abut_items items;
  abut_compact list;
  uint32_t *counts; /* (rows, worlds, pairs), of a scene with automatic pairs (rows, worlds) */
  uint32_t *bodies; /* (list.count, 2) of such a scene, by their numbers; else NULL */
} kept_contacts;

/* What is read of kept states, as far as it is asked for; else NULL. */
typedef struct readings {
  void *poses;                                    /* (rows, worlds, links, 7) */
  void *distances;                                /* (rows, worlds, candidates) */
  void *link_forces, *pair_forces, *pair_normals; /* (rows, worlds, links, 6), (rows, worlds,
                                                     candidates, 3), (rows, worlds, candidates) */
} readings;

typedef struct simulation {
  worlds worlds;
  size_t record, rows; /* every so many steps a state is kept; how many are, with start and end */
  void *q, *v;         /* (rows, worlds, ...) */
  double *time;        /* (rows) [s] */
  void *energy;        /* (rows, worlds, 2) kinetic, potential [J] */
  void *held_energy;   /* (worlds, 2) of worlds that have stopped */
  state at[2];         /* where the worlds are, and room for where they come to */
  uint32_t *status, *call_status;    /* (worlds) so far, and of a call */
  uint32_t *status_step, *call_step; /* (worlds, ABUT_WORLD_STATUSES) first steps of their bits,
                                        the same */
  uint32_t *fast_links, *call_links; /* (worlds, 2) whose ABUT_WORLD_FAST was first, the same */
  double seconds;
  const kept_contacts *contacts; /* or NULL */
  readings read;
} simulation;

/* Finds them where the links are then. Free them after a failure, too. */
exit_code find_contacts(kept_contacts *c, const simulation *s);
void free_contacts(kept_contacts *c);
void add_contacts(outputs *l, const kept_contacts *c, const simulation *s);

/* Whether an option asks for them. */
bool asks_readings(const options *o);
/* Reads them of all kept states. Free them after a failure, too. */
exit_code find_readings(simulation *s);
void free_readings(readings *r);
void add_readings(outputs *l, const simulation *s);

#endif
