/* The parts of decompositions on a device: test_fits PRECISION. Derivatives against differences and
 * against those of JAX (make_derivatives.py), products against dense ones, equations against their
 * residual, frozen fields against whole ones, samples against volumes. */
#include "mesh/decompose/decompose.h"

#include "engine/device/context.h"
#include "support/check.h"
#include "surface/shapes.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

enum { PARTS = 4, SAMPLES = 300 };
#define TAU 0.008
#define PLANE 0.01
#define WIDTH 0.05
#define STEP 1e-6

static device *on;
static double rounding; /* of sums of a fit */
static double slack;    /* of derivatives at one sample, of which boxes have steep ones */

static primitive random_primitive(uint64_t *seed)
{
  primitive p = {.away = false};
  double step[PARAMETERS] = {0.0};
  for (int k = 0; k < 3; ++k) {
    p.axes[k] = 0.05 + 0.15 * random_uniform(seed);
    p.centre[k] = 0.2 * (random_uniform(seed) - 0.5);
    step[8 + k] = 3.0 * (random_uniform(seed) - 0.5);
  }
  for (int k = 0; k < 2; ++k) {
    p.exponents[k] = EXPONENT_LOW + (EXPONENT_HIGH - EXPONENT_LOW) * random_uniform(seed);
  }
  for (int k = 0; k < 9; ++k) {
    p.turn[k] = k % 4 == 0;
  }
  return primitive_moved(&p, step);
}

/* A polyhedron of two parts: a box whose sides are turned by up to some 10 degrees each. */
static void random_polyhedron(uint64_t *seed, bool away, primitive parts[2])
{
  double planes[6][4], centre[3];
  for (int i = 0; i < 6; ++i) {
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
      planes[i][k] = (k == i / 2 ? (i % 2 ? -1.0 : 1.0) : 0.0) + 0.3 * (random_uniform(seed) - 0.5);
      square += planes[i][k] * planes[i][k];
    }
    for (int k = 0; k < 3; ++k) {
      planes[i][k] /= sqrt(square);
    }
    planes[i][3] = 0.05 + 0.1 * random_uniform(seed);
    centre[i % 3] = 0.2 * (random_uniform(seed) - 0.5);
  }
  CHECK_EQUAL(polyhedron_create((const double(*)[4])planes, 6, centre, away, parts), 2);
}

static void *zeros(size_t count, size_t size)
{
  void *memory = NULL;
  REQUIRE_OK(allocate(&memory, count, size));
  return memory;
}

/* Random samples about the origin, with random distances. */
static sample_set random_samples(fitter *f, uint64_t *seed)
{
  sample_set s = {.count = SAMPLES, .blocks = (SAMPLES + DECOMPOSE_BLOCK - 1) / DECOMPOSE_BLOCK};
  const size_t room = s.blocks * DECOMPOSE_BLOCK;
  s.x = zeros(room, 3 * sizeof(double));
  s.volume = zeros(room, sizeof(double));
  s.distance = zeros(room, sizeof(double));
  s.balls = zeros(s.blocks, DECOMPOSE_BALL * sizeof(double));
  for (size_t i = 0; i < s.count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      s.x[3 * i + k] = (double)(float)(0.5 * (random_uniform(seed) - 0.5));
    }
    s.volume[i] = 1.0;
    s.distance[i] = 0.1 * (random_uniform(seed) - 0.5);
  }
  for (size_t b = 0; b < s.blocks; ++b) {
    s.balls[DECOMPOSE_BALL * b + 3] = 0.5;
  }
  REQUIRE_OK(fitter_upload(f, &s));
  return s;
}

/* The body's field: the union of what adds, without that of what is taken away. */
static double union_at(const primitive *p, size_t count, const double x[3])
{
  double field[PARTS], least[2] = {HUGE_VAL, HUGE_VAL}, sum[2] = {0.0, 0.0};
  for (size_t l = 0; l < count; ++l) {
    field[l] = p[l].part    ? HUGE_VAL
               : p[l].parts ? polyhedron_field(&p[l], x, PLANE)
                            : primitive_field(&p[l], x);
    least[p[l].away] = fmin(least[p[l].away], field[l]);
  }
  for (size_t l = 0; l < count; ++l) {
    sum[p[l].away] += exp((least[p[l].away] - field[l]) / TAU);
  }
  const double plus = least[0] - TAU * log(sum[0]), minus = least[1] - TAU * log(sum[1]);
  const double most = sum[1] > 0.0 ? fmax(plus, -minus) : plus;
  return sum[1] > 0.0 ? most + TAU * log(exp((plus - most) / TAU) + exp((-minus - most) / TAU))
                      : plus;
}

static double off_at(const sample_set *s, const primitive *p, size_t count, size_t i)
{
  return sqrt(s->volume[i]) *
         (tanh(union_at(p, count, s->x + 3 * i) / WIDTH) - tanh(s->distance[i] / WIDTH));
}

/* A column of the Jacobian, by differences. */
static void column_of(const sample_set *s, const primitive *p, size_t column, double out[SAMPLES])
{
  primitive moved[2][PARTS];
  for (int side = 0; side < 2; ++side) {
    double step[PARAMETERS] = {0.0};
    memcpy(moved[side], p, sizeof moved[side]);
    step[column % PARAMETERS] = side ? STEP : -STEP;
    moved[side][column / PARAMETERS] = primitive_moved(&p[column / PARAMETERS], step);
  }
  for (size_t i = 0; i < SAMPLES; ++i) {
    out[i] = (off_at(s, moved[1], PARTS, i) - off_at(s, moved[0], PARTS, i)) / (2.0 * STEP);
  }
}

/* J'J by blocks against the dense product of differences, J'r likewise; in every other turn one or
 * two are taken away, and in the last three the last two are the parts of a polyhedron. */
static void products(void)
{
  static double jacobian[PARTS * PARAMETERS][SAMPLES];
  uint64_t seed = 11;
  for (int turn = 0; turn < 6; ++turn) {
    fitter f = {.device = on, .tau = TAU, .plane = PLANE, .mixed = turn % 2 == 1};
    primitive set[PARTS];
    equations e;
    double loss, wanted = 0.0, most = 0.0, steepest = 0.0, worst = 0.0, worst_right = 0.0;
    for (int l = 0; l < PARTS; ++l) {
      set[l] = random_primitive(&seed);
      set[l].away = f.mixed && (l == 2 || l == turn);
    }
    if (turn >= 3) {
      random_polyhedron(&seed, turn == 3, set + 2);
      set[0].away = turn == 5;
    }
    sample_set s = random_samples(&f, &seed);
    REQUIRE_OK(fit_equations(&f, &s, set, PARTS, WIDTH, &loss, &e));
    for (size_t i = 0; i < PARTS * PARAMETERS; ++i) {
      column_of(&s, set, i, jacobian[i]);
    }
    for (size_t i = 0; i < SAMPLES; ++i) {
      wanted += off_at(&s, set, PARTS, i) * off_at(&s, set, PARTS, i);
    }
    check(fabs(loss - wanted) < rounding * wanted, "turn %d: the loss is %.9g, not %.9g", turn,
          loss, wanted);
    for (size_t i = 0; i < PARTS * PARAMETERS; ++i) {
      double right = 0.0;
      for (size_t k = 0; k < SAMPLES; ++k) {
        right += jacobian[i][k] * off_at(&s, set, PARTS, k);
      }
      steepest = fmax(steepest, fabs(right));
      worst_right = fmax(worst_right, fabs(right - e.right[i]));
      for (size_t j = 0; j <= i; ++j) {
        const size_t l = i / PARAMETERS, m = j / PARAMETERS;
        double sum = 0.0;
        for (size_t k = 0; k < SAMPLES; ++k) {
          sum += jacobian[i][k] * jacobian[j][k];
        }
        const double got =
          e.blocks[((l * PARTS + m) * PARAMETERS + i % PARAMETERS) * PARAMETERS + j % PARAMETERS];
        most = fmax(most, fabs(sum));
        worst = fmax(worst, fabs(sum - got));
      }
    }
    check(worst < rounding * most, "turn %d: products are off by %.3g of the largest", turn,
          worst / most);
    check(worst_right < rounding * steepest, "turn %d: slopes are off by %.3g of the largest", turn,
          worst_right / steepest);
    equations_free(&e);
    samples_free(&s);
    fitter_free(&f);
  }
}

/* A sample without blocks beside it. */
static sample_set one_sample(fitter *f, const double x[3], double volume, double distance)
{
  sample_set s = {.count = 1, .blocks = 1};
  s.x = zeros(DECOMPOSE_BLOCK, 3 * sizeof(double));
  s.volume = zeros(DECOMPOSE_BLOCK, sizeof(double));
  s.distance = zeros(DECOMPOSE_BLOCK, sizeof(double));
  s.balls = zeros(1, DECOMPOSE_BALL * sizeof(double));
  for (size_t i = 0; i < DECOMPOSE_BLOCK; ++i) {
    memcpy(s.x + 3 * i, x, 3 * sizeof *x);
  }
  s.volume[0] = volume;
  s.distance[0] = distance;
  memcpy(s.balls, x, 3 * sizeof *x);
  s.balls[3] = 1e-3;
  REQUIRE_OK(fitter_upload(f, &s));
  return s;
}

/* One primitive and one sample: the equations are the field's derivatives, times what is known. */
static void derivatives(void)
{
  enum {
    AXES = 0,
    EXPONENTS = 3,
    TURN = 5,
    CENTRE = 8,
    PLACE = 11,
    FIELD = 14,
    SLOPES = 15,
    NUMBERS = 26
  };
  static const double rows[][NUMBERS] = {
#include "derivatives.inl"
  };
  static const double off = -0.2;
  double worst = 0.0, worst_product = 0.0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const double *row = rows[i], *slopes = row + SLOPES;
    fitter f = {.device = on, .tau = TAU};
    primitive p = {.turn = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    double step[PARAMETERS] = {0.0}, loss, most = 0.0;
    equations e;
    memcpy(step + 8, row + TURN, 3 * sizeof *step);
    memcpy(p.axes, row + AXES, sizeof p.axes);
    memcpy(p.exponents, row + EXPONENTS, sizeof p.exponents);
    memcpy(p.centre, row + CENTRE, sizeof p.centre);
    p = primitive_moved(&p, step);
    check(fabs(primitive_field(&p, row + PLACE) - row[FIELD]) < 1e-14,
          "row %zu: the field is %.17g, not %.17g", i, primitive_field(&p, row + PLACE),
          row[FIELD]);
    sample_set s = one_sample(&f, row + PLACE, 1.0, off);
    REQUIRE_OK(fit_equations(&f, &s, &p, 1, WIDTH, &loss, &e));
    const double t = tanh(row[FIELD] / WIDTH), steep = (1.0 - t * t) / WIDTH,
                 residual = t - tanh(off / WIDTH);
    for (int k = 0; k < PARAMETERS; ++k) {
      most = fmax(most, fabs(slopes[k]));
    }
    for (int k = 0; k < PARAMETERS; ++k) {
      worst = fmax(worst, fabs(e.right[k] / (steep * residual) - slopes[k]) / most);
      for (int l = 0; l <= k; ++l) {
        const double product = e.blocks[PARAMETERS * k + l] / (steep * steep);
        worst_product = fmax(worst_product, fabs(product - slopes[k] * slopes[l]) / (most * most));
      }
    }
    equations_free(&e);
    samples_free(&s);
    fitter_free(&f);
  }
  printf("derivatives are off by %.2g, their products by %.2g\n", worst, worst_product);
  check(worst < slack, "derivatives are off by %.3g of the largest", worst);
  check(worst_product < 2.0 * slack, "products of derivatives are off by %.3g of the largest",
        worst_product);
}

/* A fit whose equations overflow stalls; one that is at its end, where no step is any better, does
 * not. */
static void stalling(void)
{
  uint64_t seed = 31;
  const double huge = device_real_bytes(on) == sizeof(double) ? 1e304 : 1e35;
  fitter f = {.device = on, .tau = TAU};
  primitives p = {.count = 1};
  p.at[0] = random_primitive(&seed);
  double x[3] = {p.at[0].centre[0], p.at[0].centre[1], p.at[0].centre[2]}, loss;
  for (int k = 0; k < 3; ++k) {
    x[k] += p.at[0].turn[3 * k] * p.at[0].axes[0]; /* on its surface */
  }
  const primitives before = p;
  sample_set s = one_sample(&f, x, huge, 0.01);
  REQUIRE_OK(fit_whole(&f, &s, &p, 1e-4, 5, &loss));
  CHECK(f.stalled && isfinite(loss) && !memcmp(&before, &p, sizeof p));
  samples_free(&s);
  fitter_free(&f);
  f = (fitter){.device = on, .tau = TAU};
  s = random_samples(&f, &seed);
  double last = HUGE_VAL;
  for (int turn = 0; turn < 60; ++turn) {
    REQUIRE_OK(fit_whole(&f, &s, &p, WIDTH, 40, &loss));
    CHECK(!f.stalled);
    if (loss == last) {
      break;
    }
    last = loss;
  }
  check(loss == last, "a fit goes on falling, to %.17g", loss);
  samples_free(&s);
  fitter_free(&f);
}

/* The answer of equations of many blocks, some pairs of which meet, solves them; what is held
 * stays. */
static void solving(void)
{
  enum { COUNT = 9, N = COUNT * PARAMETERS, TILE = PARAMETERS * PARAMETERS };
  static double dense[N][N], x[N];
  uint64_t seed = 5;
  equations e = {0};
  memset(dense, 0, sizeof dense);
  REQUIRE_OK(equations_create(&e, COUNT));
  /* Sums of products of rows that have entries in a pair of blocks each. */
  for (int row = 0; row < 400; ++row) {
    const size_t l = (size_t)(random_uniform(&seed) * COUNT), m = l % 3 ? l - 1 : l;
    double entry[N] = {0.0};
    for (size_t r = 0; r < PARAMETERS; ++r) {
      entry[PARAMETERS * l + r] = random_normal(&seed);
      entry[PARAMETERS * m + r] = random_normal(&seed);
    }
    for (size_t i = 0; i < N; ++i) {
      for (size_t j = 0; j < N; ++j) {
        dense[i][j] += entry[i] * entry[j];
      }
    }
  }
  for (size_t i = 0; i < N; ++i) {
    e.right[i] = random_normal(&seed);
    e.free[i] = i % 7 != 3;
    for (size_t j = 0; j <= i; ++j) {
      const size_t block = i / PARAMETERS * COUNT + j / PARAMETERS;
      e.blocks[TILE * block + PARAMETERS * (i % PARAMETERS) + j % PARAMETERS] = dense[i][j];
      e.there[block] = e.there[block] || dense[i][j] != 0.0;
    }
  }
  equations_order(&e);
  CHECK(equations_solve(&e, 1e-3, x));
  for (size_t i = 0; i < N; ++i) {
    double off = e.right[i] + 1e-3 * dense[i][i] * x[i];
    for (size_t j = 0; j < N; ++j) {
      off += dense[i][j] * x[j];
    }
    check(e.free[i] ? fabs(off) < 1e-5 : x[i] == 0.0, "row %zu is off by %g", i, off);
  }
  equations_free(&e);
}

/* Beside frozen fields of all else a polyhedron is worth what it is in the whole, and so is a fit
 * of it. */
static void freezing_planes(bool away)
{
  uint64_t seed = 29;
  fitter f = {.device = on, .tau = TAU, .plane = PLANE, .mixed = away};
  primitives p = {.count = PARTS};
  double whole;
  static const uint32_t blocks[] = {0, 1, 2};
  static const int wanted[] = {0, 2, -1, 1, 2, -1, 2, 2, -1};
  p.at[0] = random_primitive(&seed);
  p.at[1] = random_primitive(&seed);
  random_polyhedron(&seed, away, p.at + 2);
  sample_set s = random_samples(&f, &seed);
  REQUIRE_OK(fit_look(&f, &s, &p, WIDTH));
  whole = fit_loss(&f, &s);
  REQUIRE_OK(fit_freeze(&f, wanted, 3));
  problem part = {.set = p.at + 2, .count = 2, .blocks = blocks, .block_count = 3, .frozen = 0};
  REQUIRE_OK(fit_sets(&f, &s, &part, 1, WIDTH, 0, 1e-3));
  check(fabs(part.loss - whole) < rounding * whole,
        "beside frozen fields the loss is %.9g, not %.9g", part.loss, whole);
  REQUIRE_OK(fit_sets(&f, &s, &part, 1, WIDTH, 5, 1e-3));
  REQUIRE_OK(fit_look(&f, &s, &p, WIDTH));
  const double fitted = fit_loss(&f, &s);
  check(part.loss < 0.99 * whole && fabs(part.loss - fitted) < rounding * whole,
        "fitted, the loss is %.9g, not %.9g; it was %.9g", part.loss, fitted, whole);
  samples_free(&s);
  fitter_free(&f);
}

/* A grid of samples, each with the field of a set as its distance. */
static sample_set grid_samples(fitter *f, const primitives *p)
{
  enum { SIDE = 16 };
  sample_set s = {.count = SIDE * SIDE * SIDE, .blocks = SIDE * SIDE * SIDE / DECOMPOSE_BLOCK};
  s.x = zeros(s.count, 3 * sizeof(double));
  s.volume = zeros(s.count, sizeof(double));
  s.distance = zeros(s.count, sizeof(double));
  s.balls = zeros(s.blocks, DECOMPOSE_BALL * sizeof(double));
  for (size_t i = 0; i < s.count; ++i) {
    const size_t at[3] = {i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE};
    for (size_t k = 0; k < 3; ++k) {
      s.x[3 * i + k] = ((double)at[k] + 0.5) / 32.0 - 0.25;
    }
    s.volume[i] = 1.0;
    s.distance[i] = union_at(p->at, p->count, s.x + 3 * i);
  }
  for (size_t b = 0; b < s.blocks; ++b) {
    s.balls[DECOMPOSE_BALL * b + 3] = 0.5;
  }
  REQUIRE_OK(fitter_upload(f, &s));
  return s;
}

/* A bore through a plate that ends just beyond its mouths gets longer, not wider; not where the
 * objective may not rise. */
static void reaching(bool planes)
{
  static const double plate[3] = {0.2, 0.2, 0.05}, bore[3] = {0.1, 0.1, 0.07},
                      origin[3] = {0.0, 0.0, 0.0};
  double sides[2][6][4] = {{{0.0}}};
  decomposition d = {.fit = {.device = on, .tau = TAU, .plane = PLANE, .mixed = true}};
  for (int i = 0; i < 6; ++i) {
    sides[0][i][i / 2] = sides[1][i][i / 2] = i % 2 ? -1.0 : 1.0;
    sides[0][i][3] = plate[i / 2];
    sides[1][i][3] = bore[i / 2];
  }
  primitives p = {.count = 3};
  CHECK_EQUAL(polyhedron_create((const double(*)[4])sides[0], 6, origin, false, p.at), 2);
  if (planes) {
    p.count = 2 + polyhedron_create((const double(*)[4])sides[1], 6, origin, true, p.at + 2);
  } else {
    p.at[2] = (primitive){.axes = {0.1, 0.1, 0.07},
                          .exponents = {0.1, 0.1},
                          .turn = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                          .away = true};
  }
  const primitives before = p;
  d.fine = grid_samples(&d.fit, &p);
  REQUIRE_OK(reach_out(&d, &p, -1.0));
  CHECK(!memcmp(&before, &p, sizeof p));
  REQUIRE_OK(reach_out(&d, &p, HUGE_VAL));
  const double *parts = p.at[3].planes[0]; /* across y below, z above and z below */
  const double wide = planes ? fmax(p.at[2].planes[0][3], p.at[2].planes[1][3]) : p.at[2].axes[0];
  const double below = planes ? parts[4 * 2 + 3] : p.at[2].axes[2] - p.at[2].centre[2];
  const double above = planes ? parts[4 * 1 + 3] : p.at[2].axes[2] + p.at[2].centre[2];
  check(wide == 0.1 && below > 0.25 && above > 0.25,
        "a bore of half a width of 0.1 has %g, and reaches from -%g to %g", wide, below, above);
  samples_free(&d.fine);
  fitter_free(&d.fit);
}

/* Fields that are no numbers have no nearest primitive; there are as many primitives in the end all
 * the same. */
static void removing_no_numbers(bool mixed)
{
  uint64_t seed = 37;
  primitives p = {.count = 2};
  decomposition d = {.fit = {.device = on, .tau = TAU, .plane = PLANE, .mixed = mixed}};
  for (size_t l = 0; l < p.count; ++l) {
    p.at[l] = random_primitive(&seed);
    p.at[l].centre[0] = NAN;
  }
  d.search = random_samples(&d.fit, &seed);
  CHECK_OK(move_down(&d, &p, 1, NULL, NULL));
  CHECK_EQUAL(p.count, 1);
  samples_free(&d.search);
  fitter_free(&d.fit);
}

/* Two primitives before frozen fields of the others are worth what all are; mixed: of both two, one
 * is taken away. */
static void freezing(bool mixed)
{
  uint64_t seed = 23;
  fitter f = {.device = on, .tau = TAU, .mixed = mixed};
  primitives p = {.count = PARTS};
  for (size_t l = 0; l < PARTS; ++l) {
    p.at[l] = random_primitive(&seed);
    p.at[l].away = mixed && l >= 2;
  }
  sample_set s = random_samples(&f, &seed);
  double whole, costs[DECOMPOSE_MOST];
  REQUIRE_OK(fit_whole(&f, &s, &p, WIDTH, 0, &whole));
  REQUIRE_OK(fit_look(&f, &s, &p, WIDTH));
  REQUIRE_OK(fit_costs(&f, &s, WIDTH, costs));
  const uint32_t blocks[] = {0, 1, 2};
  static const int wanted[] = {0, 1, 3, 1, 1, 3, 2, 1, 3};
  REQUIRE_OK(fit_freeze(&f, wanted, 3));
  primitive some[2] = {p.at[1], p.at[3]};
  problem part = {.set = some, .count = 2, .blocks = blocks, .block_count = 3, .frozen = 0};
  REQUIRE_OK(fit_sets(&f, &s, &part, 1, WIDTH, 0, 1e-3));
  check(fabs(part.loss - whole) < rounding * whole,
        "beside frozen fields the loss is %.9g, not %.9g", part.loss, whole);
  for (size_t l = 0; l < PARTS; ++l) {
    primitive rest[PARTS];
    double without = 0.0;
    for (size_t m = 0, at = 0; m < PARTS; ++m) {
      if (m != l) {
        rest[at++] = p.at[m];
      }
    }
    for (size_t i = 0; i < SAMPLES; ++i) {
      without += off_at(&s, rest, PARTS - 1, i) * off_at(&s, rest, PARTS - 1, i);
    }
    check(fabs(costs[l] - (without - whole)) < 10.0 * rounding * whole,
          "removal of %zu costs %.9g, not %.9g", l, costs[l], without - whole);
  }
  /* Fitted to all blocks, with nothing frozen, a part is the whole. */
  primitives same = p;
  REQUIRE_OK(fit_whole(&f, &s, &same, WIDTH, 5, &whole));
  part = (problem){.set = p.at, .count = PARTS, .blocks = blocks, .block_count = 3, .frozen = -1};
  REQUIRE_OK(fit_sets(&f, &s, &part, 1, WIDTH, 5, 1e-3));
  CHECK(part.loss == whole && !memcmp(same.at, p.at, PARTS * sizeof *p.at));
  samples_free(&s);
  fitter_free(&f);
}

/* ---- on the host ---- */

static void check_samples(const char *name, shape *of)
{
  surface s = shape_surface(of);
  solid inside;
  sample_set one = {0}, again = {0};
  cell_set cells = {0};
  double volume = 0.0, all = 0.0;
  REQUIRE_OK(solid_create(&inside, &s));
  REQUIRE_OK(samples_by_octree(&inside, &s, 1.0 / 64.0, 0.008, 3, &one));
  REQUIRE_OK(samples_by_octree(&inside, &s, 1.0 / 64.0, 0.008, 3, &again));
  REQUIRE_OK(cells_inside(&inside, &s, &cells));
  for (size_t i = 0; i < one.count; ++i) {
    volume += one.distance[i] < 0.0 ? one.volume[i] : 0.0;
    all += one.volume[i];
  }
  check(fabs(volume - s.volume) < 0.005 * s.volume, "%s: samples have a volume of %g, not %g", name,
        volume, s.volume);
  check(all > s.volume, "%s: samples cover %g", name, all);
  CHECK(one.count == again.count && !memcmp(one.x, again.x, one.count * 3 * sizeof *one.x) &&
        !memcmp(one.distance, again.distance, one.count * sizeof *one.distance));
  const double cube = cells.spacing * cells.spacing * cells.spacing * (double)cells.samples.count;
  check(fabs(cube - s.volume) < 0.02 * s.volume, "%s: cells inside have a volume of %g, not %g",
        name, cube, s.volume);
  size_t wrong = 0;
  for (size_t i = 0; i < one.count; i += 97) {
    wrong += fabs(one.distance[i] - solid_distance(&inside, one.x + 3 * i)) > 1e-12;
  }
  check(!wrong, "%s: %zu samples have another distance", name, wrong);
  samples_free(&one);
  samples_free(&again);
  cells_free(&cells);
  solid_free(&inside);
  surface_free(&s);
}

static void samples(void)
{
  shape of = {0};
  static const double origin[3] = {0.0, 0.0, 0.0}, low[3] = {-0.3, -0.2, -0.1},
                      high[3] = {0.4, 0.2, 0.1};
  shape_ball(&of, origin, 0.3, 4);
  check_samples("a ball", &of);
  shape_box(&of, low, high, 3);
  check_samples("a box", &of);
}

/* An ellipsoid that is cut in two is joined to itself again. */
static void joining(void)
{
  uint64_t seed = 3;
  for (int turn = 0; turn < 20; ++turn) {
    primitive p = random_primitive(&seed);
    p.exponents[0] = p.exponents[1] = 1.0;
    const moments m = primitive_moments(&p), both = moments_joined(&m, &m);
    const primitive joined = primitive_of_moments(&both);
    const double volume = primitive_volume(&p),
                 wanted = 4.0 / 3.0 * 3.14159265358979 * p.axes[0] * p.axes[1] * p.axes[2];
    check(fabs(volume - wanted) < 1e-12, "the volume of an ellipsoid is %g, not %g", volume,
          wanted);
    for (int i = 0; i < 50; ++i) {
      const double x[3] = {random_uniform(&seed) - 0.5, random_uniform(&seed) - 0.5,
                           random_uniform(&seed) - 0.5};
      check(fabs(primitive_field(&p, x) - primitive_field(&joined, x)) < 1e-4,
            "a field is %g, not %g", primitive_field(&joined, x), primitive_field(&p, x));
    }
    double q[4];
    primitive_quaternion(&p, q);
    const double back[3] = {1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]),
                            2.0 * (q[1] * q[2] + q[0] * q[3]), 2.0 * (q[1] * q[3] - q[0] * q[2])};
    check(fabs(back[0] - p.turn[0]) + fabs(back[1] - p.turn[3]) + fabs(back[2] - p.turn[6]) < 1e-12,
          "a quaternion turns to %g %g %g", back[0], back[1], back[2]);
  }
}

/* Planes of a wedge that is cut, with one that touches nothing: its corners, widths and what
 * encloses nothing. */
static void corners(void)
{
  static const double root = 0.70710678118654752;
  const double planes[6][4] = {{-1, 0, 0, 0.1}, {0, -1, 0, 0.1}, {root, root, 0, 0.2 * root},
                               {0, 0, 1, 0.3},  {0, 0, -1, 0.1}, {0, root, root, 0.6}};
  const double centre[3] = {0.5, 0.0, -0.5};
  primitive parts[PARTS_MOST];
  double kept[PARTS_MOST * PLANES_EACH][4], lower[3], upper[3], half;
  CHECK_EQUAL(polyhedron_create(planes, 6, centre, false, parts), 2);
  CHECK_EQUAL(polyhedron_planes(parts, 0.1, kept, lower, upper, &half), 5);
  for (int k = 0; k < 3; ++k) {
    const double low[3] = {0.4, -0.1, -0.6}, high[3] = {0.8, 0.3, -0.2};
    check(fabs(lower[k] - low[k]) < 1e-12 && fabs(upper[k] - high[k]) < 1e-12,
          "along %d a wedge goes from %g to %g", k, lower[k], upper[k]);
  }
  check(fabs(half - 0.2 * root) < 1e-12, "half of its least width is %g", half);
  const double x[3] = {0.6, 0.0, -0.45};
  check(fabs(polyhedron_beyond(parts, x) + 0.1 * root) < 1e-12, "a place lies %g within",
        -polyhedron_beyond(parts, x));
  CHECK_EQUAL(polyhedron_create(planes, 4, centre, false, parts), 2); /* without a floor */
  CHECK_EQUAL(polyhedron_planes(parts, 0.1, kept, lower, upper, NULL), 0);
  CHECK_EQUAL(polyhedron_create(planes, 2, centre, false, parts), 1);
  CHECK_EQUAL(polyhedron_planes(parts, 0.1, kept, lower, upper, NULL), 0);
}

/* Beyond a box balls count by what lies there, and two at one place once. */
static void beyond(void)
{
  static const double lower[3] = {-0.5, -0.5, -0.5}, upper[3] = {0.5, 0.5, 0.5};
  static const primitive ball = {.axes = {0.1, 0.1, 0.1},
                                 .exponents = {1, 1},
                                 .turn = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  static primitives p;
  const double volume = primitive_volume(&ball);
  p.count = 4;
  for (size_t i = 0; i < 4; ++i) {
    p.at[i] = ball;
  }
  p.at[1].centre[0] = 0.5; /* half of it */
  p.at[2].centre[1] = p.at[3].centre[1] = -3.0;
  const double sum = volume_beyond(&p, lower, upper);
  check(fabs(sum - 1.5 * volume) < 0.02 * volume, "beyond the box lie %g balls", sum / volume);
}

int main(int argc, char **argv)
{
  const abut_precision precision = argc > 1 && !strcmp(argv[1], "f64") ? ABUT_FLOAT64
                                                                       : ABUT_FLOAT32;
  abut_context c = require_context(precision);
  on = context_get(c)->members[0].device;
  device_select(on, 0);
  rounding = precision == ABUT_FLOAT64 ? 1e-6 : 1e-5;
  slack = precision == ABUT_FLOAT64 ? 1e-12 : 3e-5;
  products();
  derivatives();
  stalling();
  solving();
  freezing(false);
  freezing(true);
  freezing_planes(false);
  freezing_planes(true);
  reaching(false);
  reaching(true);
  removing_no_numbers(false);
  removing_no_numbers(true);
  samples();
  joining();
  beyond();
  corners();
  return finish_context(c);
}
