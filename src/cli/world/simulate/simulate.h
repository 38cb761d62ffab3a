/* A rollout of worlds, and its recorded results. */
#ifndef ABUT_CLI_SIMULATE_SIMULATE_H
#define ABUT_CLI_SIMULATE_SIMULATE_H

#include "core/outputs.h"
#include "world/simulated.h"
#include "world/worlds.h"

/* For all worlds. */
typedef struct state {
  void *q, *v, *w;
} state;

/* The contacts of recorded states, by states, worlds, pairs and slots. */
typedef struct kept_contacts {
  abut_items items;
  abut_compact list;
  uint32_t *counts; /* (rows, worlds, pairs); for a scene with automatic pairs (rows, worlds) */
  uint32_t *bodies; /* (list.count, 2) body numbers for such a scene; else NULL */
} kept_contacts;

/* Quantities computed from recorded states if requested; else NULL. */
typedef struct readings {
  void *poses;                                    /* (rows, worlds, links, 7) */
  void *distances;                                /* (rows, worlds, candidates) */
  void *link_forces, *pair_forces, *pair_normals; /* (rows, worlds, links, 6), (rows, worlds,
                                                     candidates, 3), (rows, worlds, candidates) */
} readings;

typedef struct simulation {
  worlds worlds;
  size_t record, rows; /* steps between recorded states; number of these with both ends */
  void *q, *v;         /* (rows, worlds, ...) */
  double *time;        /* (rows) [s] */
  void *energy;        /* (rows, worlds, 2) kinetic, potential [J] */
  void *held_energy;   /* (worlds, 2) for worlds that have stopped */
  state at[2];         /* the current states, and room for the next ones */
  uint32_t *status, *call_status;    /* (worlds) so far, and in a call */
  uint32_t *status_step, *call_step; /* (worlds, ABUT_WORLD_STATUSES) first steps of their bits,
                                        so far and in a call */
  uint32_t *fast_links, *call_links; /* (worlds, 2) links of the first ABUT_WORLD_FAST, so far
                                        and in a call */
  double seconds;
  const kept_contacts *contacts; /* or NULL */
  readings read;
} simulation;

/* Finds the contacts at the links' places in the states. Free them after a failure, too. */
exit_code find_contacts(kept_contacts *c, const simulation *s);
void free_contacts(kept_contacts *c);
void add_contacts(outputs *l, const kept_contacts *c, const simulation *s);

/* Returns whether an option requests them. */
bool asks_readings(const options *o);
/* Computes them for all recorded states. Free them after a failure, too. */
exit_code find_readings(simulation *s);
void free_readings(readings *r);
void add_readings(outputs *l, const simulation *s);

#endif
