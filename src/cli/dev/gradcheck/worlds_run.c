#include "dev/gradcheck/worlds_check_up.h"

#include "core/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_WORLDS 16
#define DIRECTIONS 4      /* per world and input */
#define MOVES (2 * STEPS) /* both ways at each step */
/* Number of attempts with shorter steps, and the factor between them. */
#define ROUNDS 4
#define SHORTER 8.0
#define TINY 1e-280

/* Steps of each input, relative to that of positions: a state depends far less on the others. */
static const double step_shares[WORLD_INPUTS] = {1.0, 10.0, 10.0, 1.0, 1.0, 1.0, 100.0, 1.0};

/* All initial values of worlds, and their final states. */
typedef struct point {
  size_t count;
  double *x[WORLD_INPUTS], *w;
  double *q, *v; /* the last state */
  uint32_t *status;
} point;

/* Some worlds, each in DIRECTIONS rows. */
typedef struct block {
  worlds_check_up *g;
  int span, input;
  const size_t *worlds;
  point middle, moved;
  double *cotangent;              /* (rows, 2 nv) of the last state */
  double *gradient[WORLD_INPUTS]; /* (rows, tangents) */
  double *direction;              /* (rows, tangents) for the input */
  double *along_q, *along_v;      /* (rows, nv) derivative of the last state along it */
  double *apart;                  /* (nv) */
  double shrink;                  /* factor of the steps in this round */
  entry *entries;                 /* (rows) */
} block;

/* ---- sizes and memory ---- */

static size_t span_steps(const worlds_check_up *g, int span)
{
  return span == OF_STEP ? 1 : g->worlds.steps;
}

size_t tangent_width(const worlds_check_up *g, int input)
{
  const size_t each = input == BY_U && g->worlds.each ? g->worlds.steps : 1;
  return world_input_width(&g->worlds.info, input) * each;
}

size_t input_width(const worlds_check_up *g, int input)
{
  return input == BY_Q ? g->worlds.info.nq : tangent_width(g, input);
}

/* A single step uses only the controls of the first step. */
static size_t used(const block *b, int input, size_t width)
{
  return input == BY_U && b->span == OF_STEP ? b->g->worlds.info.nu : width;
}

static size_t row_width(const block *b, int input)
{
  return used(b, input, input_width(b->g, input));
}

static size_t row_tangents(const block *b, int input)
{
  return used(b, input, tangent_width(b->g, input));
}

static exit_code open_point(const worlds *w, const block *b, size_t count, point *p)
{
  void *memory[WORLD_INPUTS + 3] = {NULL};
  exit_code code = EXIT_GOOD;
  p->count = count;
  for (int i = 0; i < WORLD_INPUTS && code == EXIT_GOOD; ++i) {
    code = worlds_reals(w, count, row_width(b, i), 1, &memory[i]);
    p->x[i] = memory[i];
  }
  for (int i = 0; i < 3 && code == EXIT_GOOD; ++i) {
    code = worlds_reals(w, count, i == 1 ? w->info.nq : w->info.nv, 1, &memory[WORLD_INPUTS + i]);
  }
  p->w = memory[WORLD_INPUTS];
  p->q = memory[WORLD_INPUTS + 1];
  p->v = memory[WORLD_INPUTS + 2];
  p->status = calloc(count, sizeof *p->status);
  return code == EXIT_GOOD && !p->status ? report(EXIT_RUN, "no memory for %zu worlds", count)
                                         : code;
}

static void close_point(point *p)
{
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    free(p->x[i]);
  }
  free(p->w);
  free(p->q);
  free(p->v);
  free(p->status);
}

static exit_code open_numbers(const block *b, size_t rows, size_t width, double **out)
{
  void *memory = NULL;
  const exit_code code = worlds_reals(&b->g->worlds, rows, width, 1, &memory);
  *out = memory;
  return code;
}

static exit_code open_block(block *b, size_t rows)
{
  const worlds *w = &b->g->worlds;
  size_t most = 0;
  CLI_TRY(open_point(w, b, rows, &b->middle));
  CLI_TRY(open_point(w, b, MOVES * rows, &b->moved));
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    const size_t width = row_tangents(b, i);
    most = width > most ? width : most;
    CLI_TRY(open_numbers(b, rows, width, &b->gradient[i]));
  }
  CLI_TRY(open_numbers(b, rows, 2 * w->info.nv, &b->cotangent));
  CLI_TRY(open_numbers(b, rows, most, &b->direction));
  CLI_TRY(open_numbers(b, rows, w->info.nv, &b->along_q));
  CLI_TRY(open_numbers(b, rows, w->info.nv, &b->along_v));
  CLI_TRY(open_numbers(b, 1, w->info.nv, &b->apart));
  b->entries = calloc(rows, sizeof *b->entries);
  return b->entries ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for %zu comparisons", rows);
}

static void close_block(block *b)
{
  close_point(&b->middle);
  close_point(&b->moved);
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    free(b->gradient[i]);
  }
  free(b->cotangent);
  free(b->direction);
  free(b->along_q);
  free(b->along_v);
  free(b->apart);
  free(b->entries);
}

/* ---- calls of the library ---- */

/* Springs replace `friction`, so the derivatives with respect to `friction` are checked without
 * them. */
static bool uses_springs(const block *b)
{
  return b->input == BY_SPRINGS || b->g->worlds.springs;
}

static abut_worlds describe(const block *b, const point *p)
{
  abut_worlds a = abut_default_worlds();
  a.count = p->count;
  a.steps = span_steps(b->g, b->span);
  a.q = p->x[BY_Q];
  a.v = p->x[BY_V];
  a.w = p->w;
  a.u = p->x[BY_U];
  a.controls = b->g->worlds.each;
  a.mass_scale = p->x[BY_MASS_SCALE];
  a.friction = p->x[BY_FRICTION];
  a.stiffness = p->x[BY_STIFFNESS];
  a.gravity = p->x[BY_GRAVITY];
  a.springs = uses_springs(b) ? p->x[BY_SPRINGS] : NULL;
  a.q_next = p->q;
  a.v_next = p->v;
  a.status = p->status;
  return a;
}

/* Computes the gradients of all inputs, and the last state. */
static exit_code pull_back(const block *b)
{
  void *to[WORLD_INPUTS];
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    to[i] = b->gradient[i];
  }
  abut_worlds a = describe(b, &b->middle);
  abut_worlds_gradients g = world_gradients(to);
  g.state = b->cotangent;
  g.springs = uses_springs(b) ? b->gradient[BY_SPRINGS] : NULL;
  return report_status(abut_vjp_worlds(b->g->worlds.links, &a, &g));
}

static exit_code push_forward(const block *b)
{
  abut_worlds a = describe(b, &b->middle);
  abut_worlds_tangents t = abut_default_worlds_tangents();
  const void **to[BY_SPRINGS] = {&t.q,        &t.v,         &t.u,      &t.mass_scale,
                                 &t.friction, &t.stiffness, &t.gravity};
  *to[b->input] = b->direction;
  t.q_next = b->along_q;
  t.v_next = b->along_v;
  return report_status(abut_jvp_worlds(b->g->worlds.links, &a, &t));
}

/* ---- rows ---- */

static place place_of(const block *b, size_t row)
{
  return (place){b->worlds[row / DIRECTIONS], row % DIRECTIONS};
}

static void take_rows(const block *b)
{
  const worlds *w = &b->g->worlds;
  for (size_t row = 0; row < b->middle.count; ++row) {
    const size_t world = b->worlds[row / DIRECTIONS], nv = w->info.nv;
    for (int i = 0; i < WORLD_INPUTS; ++i) {
      const size_t width = row_width(b, i);
      memcpy(b->middle.x[i] + row * width, b->g->x[i] + world * input_width(b->g, i),
             width * sizeof(double));
    }
    if (w->w) {
      memcpy(b->middle.w + row * nv, (const double *)w->w + world * nv, nv * sizeof(double));
    }
  }
}

static void fill_random(const block *b, double *to, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    to[i] = random_normal(&b->g->random);
  }
}

static double inner(const double *a, const double *b, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* Computes the length of a vector whose squares may underflow: forces of springs decay with
 * distance and lose all digits in the end. */
static double length(const double *a, size_t count)
{
  double most = TINY, sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(a[i]));
  }
  for (size_t i = 0; i < count; ++i) {
    sum += a[i] / most * (a[i] / most);
  }
  return most * sqrt(fmax(sum, 1.0));
}

/* Computes the displacement of a row's last state from that of the middle, along the cotangent. NaN
 * if a world had a nonzero status, which makes its row meaningless. */
static exit_code value_of(const block *b, size_t move, size_t row, double *out)
{
  const abut_scene_info *info = &b->g->worlds.info;
  const size_t at = move * b->middle.count + row, nv = info->nv;
  const double *c = b->cotangent + row * 2 * nv;
  CLI_TRY(report_status(abut_subtract_positions(b->g->worlds.links, 1, b->moved.q + at * info->nq,
                                                b->middle.q + row * info->nq, b->apart)));
  *out = b->moved.status[at] ? NAN : inner(c, b->apart, nv);
  for (size_t i = 0; i < nv; ++i) {
    *out += c[nv + i] * (b->moved.v[at * nv + i] - b->middle.v[row * nv + i]);
  }
  return EXIT_GOOD;
}

/* Returns the magnitude of the numbers whose rounding affects the values. */
static double magnitude(const block *b, size_t row)
{
  const size_t nq = b->g->worlds.info.nq, nv = b->g->worlds.info.nv;
  const double *c = b->cotangent + row * 2 * nv, *q = b->middle.q + row * nq,
               *v = b->middle.v + row * nv;
  return sqrt(inner(c, c, 2 * nv) * (inner(q, q, nq) + inner(v, v, nv)));
}

/* ---- comparisons ---- */

static double step_of(const block *b)
{
  return b->g->step * step_shares[b->input] * b->shrink;
}

static exit_code move_positions(const block *b, size_t move, double h)
{
  const size_t rows = b->middle.count, nv = b->g->worlds.info.nv;
  for (size_t i = 0; i < rows * nv; ++i) {
    b->along_q[i] = h * b->direction[i];
  }
  return report_status(abut_add_positions(b->g->worlds.links, rows, b->middle.x[BY_Q], b->along_q,
                                          b->moved.x[BY_Q] + move * rows * b->g->worlds.info.nq));
}

/* Moves every row both ways along its direction at every step. */
static exit_code move_rows(const block *b)
{
  const size_t rows = b->middle.count, width = row_width(b, b->input);
  for (size_t m = 0; m < MOVES; ++m) {
    const double h = (m % 2 ? 1.0 : -1.0) * step_of(b) / (double)(1u << m / 2);
    for (int i = 0; i < WORLD_INPUTS; ++i) {
      const size_t numbers = rows * row_width(b, i);
      memcpy(b->moved.x[i] + m * numbers, b->middle.x[i], numbers * sizeof(double));
    }
    memcpy(b->moved.w + m * rows * b->g->worlds.info.nv, b->middle.w,
           rows * b->g->worlds.info.nv * sizeof(double));
    if (b->input == BY_Q) {
      CLI_TRY(move_positions(b, m, h));
    }
    for (size_t i = 0; i < rows * width && b->input != BY_Q; ++i) {
      b->moved.x[b->input][m * rows * width + i] += h * b->direction[i];
    }
  }
  abut_worlds a = describe(b, &b->moved);
  return report_status(abut_step_worlds(b->g->worlds.links, &a));
}

/* *done: the row needs no shorter steps. */
static exit_code compare_row(const block *b, size_t row, bool *done)
{
  const size_t width = row_tangents(b, b->input);
  const double *g = b->gradient[b->input] + row * width;
  const double derivative = inner(g, b->direction + row * width, width);
  quotients q = {.middle = 0.0}, rounded = {.middle = magnitude(b, row)};
  for (size_t s = 0; s < STEPS; ++s) {
    q.span[s] = rounded.span[s] = 2.0 * step_of(b) / (double)(1u << s);
    CLI_TRY(value_of(b, 2 * s, row, &q.low[s]));
    CLI_TRY(value_of(b, 2 * s + 1, row, &q.high[s]));
  }
  *done =
    entry_agrees(&b->entries[row]) ||
    entry_try(&b->entries[row], &q, derivative, fmax(length(g, width), rounding_scale(&rounded)));
  return EXIT_GOOD;
}

/* Compares gradients times directions with quotients, with successively shorter steps. */
static exit_code compare_quotients(block *b)
{
  tally *t = &b->g->gradients[b->span][b->input];
  const size_t rows = b->middle.count;
  size_t left = rows;
  for (size_t row = 0; row < rows; ++row) {
    b->entries[row] = entry_start();
  }
  b->shrink = 1.0;
  for (int round = 0; round < ROUNDS && left; ++round) {
    CLI_TRY(move_rows(b));
    left = 0;
    for (size_t row = 0; row < rows; ++row) {
      bool done = false;
      CLI_TRY(compare_row(b, row, &done));
      left += !done;
    }
    b->shrink /= SHORTER;
  }
  for (size_t row = 0; row < rows; ++row) {
    tally_entry(t, &b->entries[row], place_of(b, row));
  }
  return EXIT_GOOD;
}

/* Compares tangents times cotangents with gradients times directions. */
static void compare_tangents(const block *b)
{
  const size_t width = row_tangents(b, b->input), nv = b->g->worlds.info.nv;
  for (size_t row = 0; row < b->middle.count; ++row) {
    const double *g = b->gradient[b->input] + row * width, *d = b->direction + row * width;
    const double *c = b->cotangent + row * 2 * nv;
    const double along =
      inner(c, b->along_q + row * nv, nv) + inner(c + nv, b->along_v + row * nv, nv);
    /* Smaller values are within the states' own rounding: a limit of 1e-8 of this is 1e-14 of the
     * states. */
    const double least = 1e-6 * magnitude(b, row);
    tally_exact(&b->g->tangents[b->span][b->input], along, inner(g, d, width),
                fmax(length(g, width), least), place_of(b, row));
  }
}

/* Spring numbers differ widely in magnitude, so each moves by a fraction of itself. */
static void scale_direction(const block *b, size_t width)
{
  for (size_t i = 0; i < b->middle.count * width; ++i) {
    b->direction[i] *= b->middle.x[b->input][i];
  }
}

static exit_code check_block(block *b)
{
  take_rows(b);
  fill_random(b, b->cotangent, b->middle.count * 2 * b->g->worlds.info.nv);
  CLI_TRY(pull_back(b));
  for (b->input = 0; b->input < WORLD_INPUTS; ++b->input) {
    const size_t width = row_tangents(b, b->input);
    if (!width) {
      continue;
    }
    fill_random(b, b->direction, b->middle.count * width);
    if (b->input == BY_SPRINGS) {
      scale_direction(b, width);
      CLI_TRY(pull_back(b));
    } else {
      CLI_TRY(push_forward(b));
      compare_tangents(b);
    }
    CLI_TRY(compare_quotients(b));
  }
  return EXIT_GOOD;
}

exit_code compare_worlds(worlds_check_up *g, int span)
{
  exit_code code = EXIT_GOOD;
  progress p = progress_begin(g->worlds.o, span == OF_STEP ? "a step, worlds" : "rollouts, worlds");
  for (size_t first = 0; code == EXIT_GOOD && first < g->chosen_count; first += BLOCK_WORLDS) {
    const size_t left = g->chosen_count - first;
    const size_t count = left < BLOCK_WORLDS ? left : BLOCK_WORLDS;
    block b = {.g = g, .span = span, .worlds = g->chosen + first};
    progress_step(first, g->chosen_count, &p);
    code = open_block(&b, count * DIRECTIONS);
    code = code == EXIT_GOOD ? check_block(&b) : code;
    close_block(&b);
  }
  progress_end(&p);
  return code;
}
