#include "dev/gradcheck/gradcheck.h"

#include "core/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_POSES 16
#define BLOCK_BYTES ((size_t)512 << 20)
#define MOVES (2 * STEPS) /* both ways at each step */
/* Number of attempts with shorter steps, and the factor between them. */
#define ROUNDS 4
#define SHORTER 8.0

/* All differentiated functions, at `count` poses. */
typedef struct evaluation {
  size_t count;
  double *memory;
  double *pose[2];
  double *output[OUTPUTS];
  double *value[REDUCTIONS_SLOPED];
  double *gradient[REDUCTIONS_SLOPED][2];
} evaluation;

/* Derivatives that are compared together. */
typedef struct stage {
  enum { EXACT, VALUES, HESSIAN } kind;
  abut_reduction reduction; /* of a Hessian */
  const char *name;         /* shown during the stage */
} stage;

/* The functions and their derivatives at the poses of one block. */
typedef struct block {
  gradcheck *g;
  const stage *stage;
  const size_t *poses;
  size_t count, contacts, width; /* poses in the block, contacts per pose, parameters per pose */
  size_t column;                 /* current parameter, among both bodies' 2 * width */
  evaluation middle, moved;
  double *span;                          /* (STEPS, count) */
  double *scale;                         /* (count) */
  double *tangent[2];                    /* (count, width) */
  double *output[OUTPUTS];               /* derivatives along the column */
  double *product[REDUCTIONS_SLOPED][2]; /* Hessians times tangent */
  entry *entries[CHECK_JACOBIAN];        /* of the column */
  double shrink;                         /* factor of its steps in this round */
  double *cotangent[OUTPUTS];
  double *vjp[OUTPUTS][2];
  double *inner;    /* (OUTPUTS, 2 * width, count): cotangents times columns */
  double *jacobian; /* (count * contacts, 8, 2 * width) */
  double *memory;
  entry *entry_memory;
} block;

/* ---- memory ---- */

/* Takes the next `count` numbers at *at; with `at` NULL only counts them. */
static void carve(double **at, size_t *total, size_t count, double **out)
{
  *total += count;
  if (at) {
    *out = *at;
    *at += count;
  }
}

static size_t carve_evaluation(evaluation *e, double **at, size_t contacts, size_t width)
{
  size_t total = 0;
  for (int i = 0; i < 2; ++i) {
    carve(at, &total, e->count * width, &e->pose[i]);
  }
  for (int k = 0; k < OUTPUTS; ++k) {
    carve(at, &total, e->count * contacts * contact_arrays[k].components, &e->output[k]);
  }
  for (int k = 0; k < REDUCTIONS_SLOPED; ++k) {
    carve(at, &total, e->count, &e->value[k]);
    carve(at, &total, e->count * width, &e->gradient[k][0]);
    carve(at, &total, e->count * width, &e->gradient[k][1]);
  }
  return total;
}

static size_t carve_block(block *b, double **at)
{
  const size_t poses = b->count * b->width, rows = b->count * b->contacts;
  size_t total = carve_evaluation(&b->middle, at, b->contacts, b->width) +
                 carve_evaluation(&b->moved, at, b->contacts, b->width);
  carve(at, &total, STEPS * b->count, &b->span);
  carve(at, &total, b->count, &b->scale);
  for (int i = 0; i < 2; ++i) {
    carve(at, &total, poses, &b->tangent[i]);
    for (int k = 0; k < REDUCTIONS_SLOPED; ++k) {
      carve(at, &total, poses, &b->product[k][i]);
    }
  }
  for (int k = 0; k < OUTPUTS; ++k) {
    carve(at, &total, rows * contact_arrays[k].components, &b->output[k]);
    carve(at, &total, rows * contact_arrays[k].components, &b->cotangent[k]);
    carve(at, &total, poses, &b->vjp[k][0]);
    carve(at, &total, poses, &b->vjp[k][1]);
  }
  carve(at, &total, OUTPUTS * 2 * poses, &b->inner);
  carve(at, &total, rows * 16 * b->width, &b->jacobian);
  return total;
}

/* Entries per pose in a column. */
static size_t entry_count(const block *b, int check)
{
  if (check < CHECK_VJP) {
    return b->contacts * contact_arrays[check - CHECK_JVP].components;
  }
  return check < CHECK_GRADIENT ? 0 : check < CHECK_HESSIAN ? 1 : 2 * b->width;
}

/* Initializes all entries. Returns their number. */
static size_t carve_entries(block *b, entry *at)
{
  size_t total = 0;
  for (int check = 0; check < CHECK_JACOBIAN; ++check) {
    b->entries[check] = at ? at + total : NULL;
    total += b->count * entry_count(b, check);
  }
  for (size_t i = 0; at && i < total; ++i) {
    at[i] = entry_start();
  }
  return total;
}

static void set_count(block *b, size_t count)
{
  b->count = b->middle.count = count;
  b->moved.count = MOVES * count;
}

/* Allocates as many poses as fit in a block's memory, at least one. */
static exit_code take_memory(block *b, gradcheck *g)
{
  *b = (block){.g = g, .contacts = g->job->session.layout.contacts, .width = g->job->width};
  set_count(b, 1);
  const size_t one = carve_block(b, NULL) * sizeof(double) + carve_entries(b, NULL) * sizeof(entry);
  const size_t fit = BLOCK_BYTES / one, most = fit < BLOCK_POSES ? fit : BLOCK_POSES;
  set_count(b, most ? most : 1);
  b->memory = calloc(carve_block(b, NULL), sizeof(double));
  b->entry_memory = calloc(carve_entries(b, NULL), sizeof(entry));
  return b->memory && b->entry_memory
           ? EXIT_GOOD
           : report(EXIT_RUN, "not enough memory for a check of %zu contacts per pose",
                    b->contacts);
}

/* ---- calls of the library ---- */

static abut_batch batch_of(const block *b, const evaluation *e)
{
  abut_batch batch = abut_default_batch();
  batch.count = e->count;
  batch.poses = b->g->job->poses.kind;
  batch.pose1 = e->pose[0];
  batch.pose2 = e->pose[1];
  return batch;
}

static exit_code evaluate_values(const block *b, evaluation *e)
{
  abut_batch batch = batch_of(b, e);
  for (int k = 0; k < OUTPUTS; ++k) {
    put_array(&batch, contact_arrays[k].in_batch, e->output[k]);
  }
  for (int k = 0; k < REDUCTIONS_SLOPED; ++k) {
    want_reduction(&batch, (abut_reduction)k, e->value[k]);
  }
  return report_status(abut_contacts(b->g->job->session.pair, &batch));
}

static exit_code evaluate_gradient(const block *b, evaluation *e, abut_reduction k)
{
  const abut_gradients to = {e->gradient[k][0], e->gradient[k][1]};
  abut_batch batch = batch_of(b, e);
  return report_status(abut_gradient(b->g->job->session.pair, ABUT_SAME_PAIR, &batch, k, &to));
}

/* Only one output has cotangents at a time, so that errors cannot cancel. */
static exit_code pull_back(block *b)
{
  for (int k = 0; k < OUTPUTS; ++k) {
    const size_t numbers = b->count * b->contacts * contact_arrays[k].components;
    const abut_gradients to = {b->vjp[k][0], b->vjp[k][1]};
    abut_cotangents bars = {0};
    put_array(&bars, contact_arrays[k].in_cotangents, b->cotangent[k]);
    for (size_t i = 0; i < numbers; ++i) {
      b->cotangent[k][i] = random_normal(&b->g->random);
    }
    abut_batch batch = batch_of(b, &b->middle);
    CLI_TRY(report_status(abut_vjp(b->g->job->session.pair, ABUT_SAME_PAIR, &batch, &bars, &to)));
  }
  return EXIT_GOOD;
}

/* Every contact exceeds a threshold of 0, so row i of a pose is its slot i. */
static exit_code take_jacobian(block *b)
{
  const size_t rows = b->count * b->contacts;
  abut_compact list = {.threshold = 0.0, .capacity = rows};
  abut_batch batch = batch_of(b, &b->middle);
  batch.compact = &list;
  CLI_TRY(
    report_status(abut_jacobian(b->g->job->session.pair, ABUT_SAME_PAIR, &batch, b->jacobian)));
  return list.count == rows
           ? EXIT_GOOD
           : report(EXIT_RUN, "%zu Jacobian blocks for %zu contacts", list.count, rows);
}

/* ---- comparisons ---- */

static place place_of(const block *b, size_t pose)
{
  return (place){b->poses[pose], b->column};
}

static double largest(const double *numbers, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(numbers[i]));
  }
  return most;
}

/* Number i of `size` per pose. */
static quotients quotients_of(const block *b, const double *middle, const double *moved,
                              size_t size, size_t pose, size_t i)
{
  quotients q = {.middle = middle[pose * size + i]};
  for (size_t s = 0; s < STEPS; ++s) {
    q.span[s] = b->span[s * b->count + pose];
    q.low[s] = moved[(2 * s * b->count + pose) * size + i];
    q.high[s] = moved[((2 * s + 1) * b->count + pose) * size + i];
  }
  return q;
}

/* Compares numbers of one pose with their derivatives along the column. The entries start at
 * `first` within the pose. Returns how many need shorter steps. */
static size_t compare(const block *b, int check, size_t pose, size_t first, const double *middle,
                      const double *moved, size_t size, const double *derivatives, double scale)
{
  entry *entries = b->entries[check] + pose * entry_count(b, check) + first;
  size_t left = 0;
  for (size_t i = 0; i < size; ++i) {
    const quotients q = quotients_of(b, middle, moved, size, pose, i);
    scale = fmax(scale, rounding_scale(&q));
  }
  for (size_t i = 0; i < size; ++i) {
    const quotients q = quotients_of(b, middle, moved, size, pose, i);
    left += !entry_agrees(&entries[i]) && !entry_try(&entries[i], &q, derivatives[i], scale);
  }
  return left;
}

static size_t compare_outputs(const block *b)
{
  size_t left = 0;
  for (int k = 0; k < OUTPUTS; ++k) {
    const size_t size = b->contacts * contact_arrays[k].components;
    for (size_t pose = 0; pose < b->count; ++pose) {
      const double *along = b->output[k] + pose * size;
      left += compare(b, CHECK_JVP + k, pose, 0, b->middle.output[k], b->moved.output[k], size,
                      along, largest(along, size));
    }
  }
  return left;
}

static size_t compare_gradients(const block *b)
{
  const size_t side = b->column / b->width, at = b->column % b->width;
  size_t left = 0;
  for (int k = 0; k < REDUCTIONS_SLOPED; ++k) {
    for (size_t pose = 0; pose < b->count; ++pose) {
      const double *g1 = b->middle.gradient[k][0] + pose * b->width;
      const double *g2 = b->middle.gradient[k][1] + pose * b->width;
      left += compare(b, CHECK_GRADIENT + k, pose, 0, b->middle.value[k], b->moved.value[k], 1,
                      (side ? g2 : g1) + at, fmax(largest(g1, b->width), largest(g2, b->width)));
    }
  }
  return left;
}

static size_t compare_hessian(const block *b, abut_reduction k)
{
  size_t left = 0;
  for (size_t pose = 0; pose < b->count; ++pose) {
    const double *h[2] = {b->product[k][0] + pose * b->width, b->product[k][1] + pose * b->width};
    const double scale = fmax(largest(h[0], b->width), largest(h[1], b->width));
    for (size_t i = 0; i < 2; ++i) {
      left += compare(b, CHECK_HESSIAN + (int)k, pose, i * b->width, b->middle.gradient[k][i],
                      b->moved.gradient[k][i], b->width, h[i], scale);
    }
  }
  return left;
}

static void multiply_cotangents(const block *b)
{
  for (int k = 0; k < OUTPUTS; ++k) {
    const size_t size = b->contacts * contact_arrays[k].components;
    for (size_t pose = 0; pose < b->count; ++pose) {
      double sum = 0.0;
      for (size_t i = pose * size; i < (pose + 1) * size; ++i) {
        sum += b->output[k][i] * b->cotangent[k][i];
      }
      b->inner[((size_t)k * 2 * b->width + b->column) * b->count + pose] = sum;
    }
  }
}

/* Returns the largest entry of a pose's blocks in the rows of an output, by any parameter. */
static double largest_of_blocks(const block *b, size_t pose, size_t first_row, size_t rows)
{
  const size_t columns = 2 * b->width;
  double most = 0.0;
  for (size_t i = 0; i < b->contacts; ++i) {
    const size_t row = 8 * (pose * b->contacts + i) + first_row;
    most = fmax(most, largest(b->jacobian + row * columns, rows * columns));
  }
  return most;
}

#define FIRST_ROW(member, id, reals) VALUE_##id

static void compare_jacobian(const block *b)
{
  static const size_t first_rows[] = {LISTED_OUTPUTS(FIRST_ROW, AND_COMMA)};
  const size_t columns = 2 * b->width;
  for (size_t k = 0; k < sizeof first_rows / sizeof *first_rows; ++k) {
    const size_t width = contact_arrays[k].components, size = b->contacts * width;
    for (size_t pose = 0; pose < b->count; ++pose) {
      const double *along = b->output[k] + pose * size;
      const double scale =
        parameter_scale(largest(along, size), largest_of_blocks(b, pose, first_rows[k], width));
      for (size_t i = 0; i < size; ++i) {
        const size_t row = 8 * (pose * b->contacts + i / width) + first_rows[k] + i % width;
        tally_exact(&b->g->tallies[CHECK_JACOBIAN], b->jacobian[row * columns + b->column],
                    along[i], scale, place_of(b, pose));
      }
    }
  }
}

/* Called when all columns' inner products are available. */
static void compare_pulled_back(block *b)
{
  for (int k = 0; k < OUTPUTS; ++k) {
    for (size_t pose = 0; pose < b->count; ++pose) {
      const double *g[2] = {b->vjp[k][0] + pose * b->width, b->vjp[k][1] + pose * b->width};
      const double scale = fmax(largest(g[0], b->width), largest(g[1], b->width));
      for (b->column = 0; b->column < 2 * b->width; ++b->column) {
        const double inner = b->inner[((size_t)k * 2 * b->width + b->column) * b->count + pose];
        tally_exact(&b->g->tallies[CHECK_VJP + k], g[b->column / b->width][b->column % b->width],
                    inner, scale, place_of(b, pose));
      }
    }
  }
}

/* ---- one column, one block ---- */

static double step_of(const block *b, size_t pose)
{
  const size_t side = b->column / b->width, at = b->column % b->width;
  const double *x = b->middle.pose[side] + pose * b->width;
  if (at < 3) {
    return b->g->step;
  }
  return b->width == 6 ? b->g->turn
                       : b->g->turn * sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6]);
}

/* Moves every pose both ways along the column at every step. */
static void move(block *b)
{
  const size_t row = b->count * b->width, side = b->column / b->width;
  for (size_t m = 0; m < MOVES; ++m) {
    for (int i = 0; i < 2; ++i) {
      memcpy(b->moved.pose[i] + m * row, b->middle.pose[i], row * sizeof(double));
    }
    for (size_t pose = 0; pose < b->count; ++pose) {
      const double h = step_of(b, pose) * b->shrink / (double)(1u << m / 2);
      b->moved.pose[side][m * row + pose * b->width + b->column % b->width] += m % 2 ? h : -h;
    }
  }
  for (size_t i = 0; i < STEPS * b->count; ++i) {
    const size_t low = 2 * (i / b->count) * row + i % b->count * b->width + b->column % b->width;
    b->span[i] = b->moved.pose[side][low + row] - b->moved.pose[side][low];
  }
}

static void set_tangents(block *b)
{
  for (size_t i = 0; i < b->count * b->width; ++i) {
    b->tangent[0][i] = i % b->width == b->column;
    b->tangent[1][i] = b->width + i % b->width == b->column;
  }
}

/* Computes the derivatives along the column. */
static exit_code differentiate(block *b)
{
  const abut_pair pair = b->g->job->session.pair;
  const abut_pose_tangents along = {b->tangent[0], b->tangent[1]};
  abut_tangents to = {0};
  for (int i = 0; i < OUTPUTS; ++i) {
    put_array(&to, contact_arrays[i].in_tangents, b->output[i]);
  }
  const abut_reduction k = b->stage->reduction;
  const abut_gradients products = {b->product[k][0], b->product[k][1]};
  abut_batch batch = batch_of(b, &b->middle);
  set_tangents(b);
  return report_status(b->stage->kind == HESSIAN
                         ? abut_hessian_product(pair, &batch, k, &along, NULL, &products)
                         : abut_jvp(pair, ABUT_SAME_PAIR, &batch, &along, &to));
}

static void tally_column(const block *b, int first, int end)
{
  for (int check = first; check < end; ++check) {
    const size_t size = entry_count(b, check);
    for (size_t i = 0; i < b->count * size; ++i) {
      tally_entry(&b->g->tallies[check], &b->entries[check][i], place_of(b, i / size));
    }
  }
}

/* Compares the derivatives with quotients, with successively shorter steps. */
static exit_code compare_quotients(block *b)
{
  const abut_reduction k = b->stage->reduction;
  const bool hessian = b->stage->kind == HESSIAN;
  size_t left = 1;
  carve_entries(b, b->entry_memory);
  b->shrink = 1.0;
  for (int round = 0; round < ROUNDS && left; ++round) {
    move(b);
    CLI_TRY(hessian ? evaluate_gradient(b, &b->moved, k) : evaluate_values(b, &b->moved));
    left = hessian ? compare_hessian(b, k) : compare_outputs(b) + compare_gradients(b);
    b->shrink /= SHORTER;
  }
  if (hessian) {
    tally_column(b, CHECK_HESSIAN + (int)k, CHECK_HESSIAN + (int)k + 1);
  } else {
    tally_column(b, CHECK_JVP, CHECK_VJP);
    tally_column(b, CHECK_GRADIENT, CHECK_HESSIAN);
  }
  return EXIT_GOOD;
}

static exit_code check_column(block *b)
{
  CLI_TRY(differentiate(b));
  if (b->stage->kind != EXACT) {
    return compare_quotients(b);
  }
  multiply_cotangents(b);
  compare_jacobian(b);
  return EXIT_GOOD;
}

static void take_poses(block *b)
{
  const abut_poses *from = &b->g->job->poses;
  for (size_t i = 0; i < b->count; ++i) {
    memcpy(b->middle.pose[0] + i * b->width, from->pose1 + b->poses[i] * b->width,
           b->width * sizeof(double));
    memcpy(b->middle.pose[1] + i * b->width, from->pose2 + b->poses[i] * b->width,
           b->width * sizeof(double));
  }
}

/* Computes the references for the columns at the poses themselves. */
static exit_code prepare(block *b)
{
  if (b->stage->kind == EXACT) {
    CLI_TRY(pull_back(b));
    return take_jacobian(b);
  }
  if (b->stage->kind == HESSIAN) {
    return evaluate_gradient(b, &b->middle, b->stage->reduction);
  }
  for (int k = 0; k < REDUCTIONS_SLOPED; ++k) {
    CLI_TRY(evaluate_gradient(b, &b->middle, (abut_reduction)k));
  }
  return evaluate_values(b, &b->middle);
}

static exit_code check_block(block *b, size_t first, progress *p)
{
  const size_t columns = 2 * b->width;
  double *at = b->memory;
  carve_block(b, &at);
  b->poses = b->g->poses + first;
  take_poses(b);
  CLI_TRY(prepare(b));
  for (b->column = 0; b->column < columns; ++b->column) {
    if (b->column) { /* the first one includes compiling */
      progress_foresee(p, first * columns + b->column * b->count, b->g->pose_count * columns);
    }
    progress_say(p, "%s: %zu of %zu poses, parameter %zu of %zu", b->stage->name, first,
                 b->g->pose_count, b->column, columns);
    CLI_TRY(check_column(b));
  }
  if (b->stage->kind == EXACT) {
    compare_pulled_back(b);
  }
  return EXIT_GOOD;
}

static exit_code run_stage(block *b, const stage *of, size_t most)
{
  gradcheck *g = b->g;
  progress p = progress_begin(g->job->o, of->name);
  p.contacts = b->contacts;
  exit_code code = EXIT_GOOD;
  b->stage = of;
  for (size_t first = 0; code == EXIT_GOOD && first < g->pose_count; first += most) {
    const size_t left = g->pose_count - first;
    set_count(b, left < most ? left : most);
    code = check_block(b, first, &p);
  }
  progress_end(&p);
  return code;
}

static exit_code run_stages(block *b, gradcheck_done done)
{
  static const stage exact = {EXACT, ABUT_REDUCE_MEAN_DISTANCE, "vjp and Jacobian blocks"},
                     values = {VALUES, ABUT_REDUCE_MEAN_DISTANCE, "jvp and gradients"};
  const size_t most = b->count;
  CLI_TRY(run_stage(b, &exact, most));
  done(b->g, CHECK_VJP, CHECK_GRADIENT);
  done(b->g, CHECK_JACOBIAN, CHECKS);
  CLI_TRY(run_stage(b, &values, most));
  done(b->g, CHECK_JVP, CHECK_VJP);
  done(b->g, CHECK_GRADIENT, CHECK_HESSIAN);
  for (int k = 0; k < REDUCTIONS_SLOPED; ++k) {
    char name[64];
    snprintf(name, sizeof name, "Hessian of %s", reduction_names[k]);
    const stage hessian = {HESSIAN, (abut_reduction)k, name};
    CLI_TRY(run_stage(b, &hessian, most));
    done(b->g, CHECK_HESSIAN + k, CHECK_HESSIAN + k + 1);
  }
  return EXIT_GOOD;
}

exit_code gradcheck_run(gradcheck *g, gradcheck_done done)
{
  block b;
  exit_code code = take_memory(&b, g);
  code = code == EXIT_GOOD ? run_stages(&b, done) : code;
  free(b.memory);
  free(b.entry_memory);
  return code;
}
