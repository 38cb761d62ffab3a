#include "world/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 0.1   /* [m] or [rad]: step of each coordinate */
#define MOVED 0.01 /* smallest change of a pose's numbers that counts */
#define POSE 7

/* The effect of a coordinate. */
typedef struct moving {
  size_t link; /* the first moving link: that of its joint */
  bool turns;
} moving;

typedef struct probe {
  double *q;                  /* (nq) */
  void *start, *step, *moved; /* reals: (nq), (nv), (nq) */
  double *from, *to;          /* (links, 7) */
  moving *of;                 /* (nv) */
} probe;

static void put_real(const comparison *c, void *to, size_t i, double x)
{
  if (c->worlds.session.precision == ABUT_FLOAT64) {
    ((double *)to)[i] = x;
  } else {
    ((float *)to)[i] = (float)x;
  }
}

static exit_code probe_open(probe *p, const comparison *c)
{
  const worlds *w = &c->worlds;
  const size_t nq = w->info.nq, nv = w->info.nv, links = w->info.links;
  p->q = calloc(nq + 1, sizeof *p->q);
  p->from = calloc(links + 1, POSE * sizeof *p->from);
  p->to = calloc(links + 1, POSE * sizeof *p->to);
  p->of = calloc(nv + 1, sizeof *p->of);
  if (!p->q || !p->from || !p->to || !p->of) {
    return report(EXIT_RUN, "no memory for %zu links", links);
  }
  CLI_TRY(worlds_reals(w, nq, 1, 1, &p->start));
  CLI_TRY(worlds_reals(w, nv, 1, 1, &p->step));
  return worlds_reals(w, nq, 1, 1, &p->moved);
}

static void probe_close(probe *p)
{
  free(p->q);
  free(p->start);
  free(p->step);
  free(p->moved);
  free(p->from);
  free(p->to);
  free(p->of);
}

static moving what_moves(const probe *p, size_t links)
{
  moving m = {links, false};
  for (size_t i = 0; i < links * POSE && m.link == links; ++i) {
    m.link = fabs(p->to[i] - p->from[i]) > MOVED ? i / POSE : links;
  }
  for (size_t i = 3; i < POSE && m.link < links; ++i) {
    m.turns = m.turns || fabs(p->to[m.link * POSE + i] - p->from[m.link * POSE + i]) > MOVED;
  }
  return m;
}

/* Moves each coordinate separately, and finds which links move. */
static exit_code probe_all(probe *p, const comparison *c)
{
  const worlds *w = &c->worlds;
  const abut_scene links = c->runs[0].links;
  CLI_TRY(report_status(abut_get_scene_start(links, p->q)));
  CLI_TRY(report_status(abut_place_links(links, p->q, p->from)));
  for (size_t i = 0; i < w->info.nq; ++i) {
    put_real(c, p->start, i, p->q[i]);
  }
  for (size_t k = 0; k < w->info.nv; ++k) {
    put_real(c, p->step, k, STEP);
    CLI_TRY(report_status(abut_add_positions(links, 1, p->start, p->step, p->moved)));
    put_real(c, p->step, k, 0.0);
    for (size_t i = 0; i < w->info.nq; ++i) {
      p->q[i] = real_at(p->moved, w->session.precision, i);
    }
    CLI_TRY(report_status(abut_place_links(links, p->q, p->to)));
    p->of[k] = what_moves(p, w->info.links);
  }
  return EXIT_GOOD;
}

/* Coordinates of one joint are consecutive. */
static void name(comparison *c, const moving *of)
{
  static const char axes[] = "xyz";
  const size_t nv = c->worlds.info.nv, k = c->coordinate;
  size_t first = k, end = k;
  while (first && of[first - 1].link == of[k].link) {
    --first;
  }
  while (end < nv && of[end].link == of[k].link) {
    ++end;
  }
  const char axis = axes[(k - first) % 3];
  if (end - first == 1) {
    snprintf(c->label, sizeof c->label, "%s of link %zu", of[k].turns ? "angle" : "length",
             of[k].link);
  } else if (of[k].turns) {
    snprintf(c->label, sizeof c->label, "turn about %c of link %zu", axis, of[k].link);
  } else {
    snprintf(c->label, sizeof c->label, "%c of link %zu", axis, of[k].link);
  }
}

exit_code compare_coordinates(comparison *c)
{
  const size_t nv = c->worlds.info.nv;
  probe p = {0};
  exit_code code = EXIT_GOOD;
  if (!nv) {
    return report(EXIT_INPUT, "%s: nothing moves, so there is no final state to differentiate",
                  c->worlds.o->operands[0]);
  }
  if (!c->default_coordinate && c->coordinate >= nv) {
    return usage_error(c->worlds.o->command,
                       "--coordinate: %zu is not in [0, %zu], the coordinates of the scene",
                       c->coordinate, nv - 1);
  }
  CLI_TRY_DONE(probe_open(&p, c));
  CLI_TRY_DONE(probe_all(&p, c));
  c->turns = calloc(nv, sizeof *c->turns);
  CLI_TRY_DONE(c->turns ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu velocities", nv));
  for (size_t i = 0; i < nv; ++i) {
    c->turns[i] = p.of[i].turns;
  }
  if (c->default_coordinate) { /* the first of the last joint */
    c->coordinate = nv - 1;
    while (c->coordinate && p.of[c->coordinate - 1].link == p.of[nv - 1].link) {
      --c->coordinate;
    }
  }
  name(c, p.of);
done:
  probe_close(&p);
  return code;
}
