/* Normal equations of a fit. Few pairs of primitives overlap, so most blocks are zero and stay
 * zero. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE ((size_t)PARAMETERS * PARAMETERS)
#define STILL 1e-9            /* share of the largest diagonal entry that is added to all */
#define COUPLED 2e-4          /* pairs with a weaker coupling are left out of the equations */
#define WIDE (PARAMETERS + 1) /* row of a tile; an even length is faster */

abut_status equations_create(equations *e, size_t count)
{
  void *memory;
  e->count = count;
  TRY(allocate(&memory, count * count, TILE * sizeof(double)));
  e->blocks = memory;
  TRY(allocate(&memory, count * count, TILE * sizeof(double)));
  e->factor = memory;
  TRY(allocate(&memory, count, PARAMETERS * sizeof(double)));
  e->right = memory;
  TRY(allocate(&memory, count * count, 1));
  e->there = memory;
  TRY(allocate(&memory, count * count, 1));
  e->filled = memory;
  TRY(allocate(&memory, count, sizeof(uint32_t)));
  e->order = memory;
  TRY(allocate(&memory, count, PARAMETERS * sizeof(bool)));
  e->free = memory;
  return ABUT_SUCCESS;
}

void equations_free(equations *e)
{
  free(e->blocks);
  free(e->factor);
  free(e->right);
  free(e->there);
  free(e->filled);
  free(e->order);
  free(e->free);
  memset(e, 0, sizeof *e);
}

void equations_clear(equations *e)
{
  for (size_t i = 0; i < e->count * e->count; ++i) {
    if (e->there[i]) {
      memset(e->blocks + TILE * i, 0, TILE * sizeof(double));
    }
  }
  memset(e->there, 0, e->count * e->count);
  memset(e->right, 0, e->count * PARAMETERS * sizeof(double));
}

/* Whether a pair's coupling is significant, relative to the square roots of both diagonals. */
static bool is_coupled(const equations *e, size_t i, size_t j)
{
  const double *pair = e->blocks + TILE * (i * e->count + j);
  const double *one = e->blocks + TILE * (i * e->count + i),
               *other = e->blocks + TILE * (j * e->count + j);
  for (size_t k = 0; k < TILE; ++k) {
    const size_t r = k / PARAMETERS, c = k % PARAMETERS;
    if (pair[k] * pair[k] >
        COUPLED * COUPLED * one[(PARAMETERS + 1) * r] * other[(PARAMETERS + 1) * c]) {
      return true;
    }
  }
  return false;
}

/* Repeatedly eliminates the primitive with the fewest neighbours, and connects these. */
void equations_order(equations *e)
{
  const size_t n = e->count;
  unsigned char *meets = e->filled; /* symmetric here; 2 on the diagonal: eliminated */
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (e->there[i * n + j] && !is_coupled(e, i, j)) {
        e->there[i * n + j] = 0;
        memset(e->blocks + TILE * (i * n + j), 0, TILE * sizeof(double));
      }
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      meets[i * n + j] = meets[j * n + i] = i != j && e->there[i * n + j];
    }
  }
  for (size_t turn = 0; turn < n; ++turn) {
    size_t best = n, least = n + 1;
    for (size_t i = 0; i < n; ++i) {
      size_t degree = 0;
      for (size_t j = 0; j < n && meets[i * n + i] != 2; ++j) {
        degree += meets[i * n + j];
      }
      if (meets[i * n + i] != 2 && degree < least) {
        best = i;
        least = degree;
      }
    }
    e->order[turn] = (uint32_t)best;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n && meets[best * n + i]; ++j) {
        meets[i * n + j] = meets[i * n + j] || (meets[best * n + j] && i != j);
      }
    }
    for (size_t i = 0; i < n; ++i) {
      meets[best * n + i] = meets[i * n + best] = 0;
    }
    meets[best * n + best] = 2;
  }
  /* Non-zero blocks of the factor, by position in that order. */
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const size_t a = e->order[i], b = e->order[j];
      e->filled[i * n + j] = i == j || e->there[a > b ? a * n + b : b * n + a];
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = k + 1; i < n; ++i) {
      for (size_t j = k + 1; j <= i && e->filled[i * n + k]; ++j) {
        e->filled[i * n + j] = e->filled[i * n + j] || e->filled[j * n + k];
      }
    }
  }
}

/* Fills the factor with the damped matrix, in the order of elimination. Fixed parameters get a row
 * of the identity. */
static void fill(const equations *e, double lambda, double most)
{
  const size_t n = e->count;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const size_t a = e->order[i], b = e->order[j];
      double *to = e->factor + TILE * (i * n + j);
      if (!e->filled[i * n + j]) {
        continue;
      }
      const double *from = e->blocks + TILE * (a >= b ? a * n + b : b * n + a);
      const bool there = e->there[a >= b ? a * n + b : b * n + a];
      for (size_t r = 0; r < PARAMETERS; ++r) {
        for (size_t c = 0; c < PARAMETERS; ++c) {
          const double x = !there                        ? 0.0
                           : a > b || (a == b && r >= c) ? from[PARAMETERS * r + c]
                                                         : from[PARAMETERS * c + r];
          const bool is_free = e->free[PARAMETERS * a + r] && e->free[PARAMETERS * b + c];
          const bool diagonal = a == b && r == c;
          to[PARAMETERS * r + c] = is_free ? x + (diagonal ? lambda * x + STILL * most : 0.0)
                                           : (diagonal ? 1.0 : 0.0);
        }
      }
    }
  }
}

/* Factors a diagonal tile. Returns whether it is positive definite. */
static bool factor_tile(double *a)
{
  for (size_t k = 0; k < PARAMETERS; ++k) {
    double x = a[PARAMETERS * k + k];
    for (size_t j = 0; j < k; ++j) {
      x -= a[PARAMETERS * k + j] * a[PARAMETERS * k + j];
    }
    if (!(x > 0.0) || !isfinite(x)) {
      return false;
    }
    const double root = sqrt(x);
    a[PARAMETERS * k + k] = root;
    for (size_t i = k + 1; i < PARAMETERS; ++i) {
      double y = a[PARAMETERS * i + k];
      for (size_t j = 0; j < k; ++j) {
        y -= a[PARAMETERS * i + j] * a[PARAMETERS * k + j];
      }
      a[PARAMETERS * i + k] = y / root;
    }
  }
  return true;
}

/* Replaces x by x inv(L'), row by row. */
static void solve_tile(const double *l, double *x)
{
  for (size_t r = 0; r < PARAMETERS; ++r) {
    double *row = x + PARAMETERS * r;
    for (size_t k = 0; k < PARAMETERS; ++k) {
      double y = row[k];
      for (size_t j = 0; j < k; ++j) {
        y -= row[j] * l[PARAMETERS * k + j];
      }
      row[k] = y / l[PARAMETERS * k + k];
    }
  }
}

/* Subtracts a b' from c. turned: b', with rows WIDE apart. */
static void subtract_product(const double *a, const double *turned, double *c)
{
  for (size_t r = 0; r < PARAMETERS; ++r) {
    double sum[WIDE] = {0.0};
    for (size_t k = 0; k < PARAMETERS; ++k) {
      const double x = a[PARAMETERS * r + k], *from = turned + WIDE * k;
      for (size_t j = 0; j < WIDE; ++j) {
        sum[j] += x * from[j];
      }
    }
    for (size_t j = 0; j < PARAMETERS; ++j) {
      c[PARAMETERS * r + j] -= sum[j];
    }
  }
}

static void turn_tile(const double *b, double *turned)
{
  for (size_t r = 0; r < PARAMETERS; ++r) {
    for (size_t k = 0; k < PARAMETERS; ++k) {
      turned[WIDE * k + r] = b[PARAMETERS * r + k];
    }
  }
}

static bool factor(const equations *e)
{
  const size_t n = e->count;
  for (size_t k = 0; k < n; ++k) {
    double *own = e->factor + TILE * (k * n + k);
    if (!factor_tile(own)) {
      return false;
    }
    for (size_t i = k + 1; i < n; ++i) {
      if (e->filled[i * n + k]) {
        solve_tile(own, e->factor + TILE * (i * n + k));
      }
    }
    for (size_t j = k + 1; j < n; ++j) {
      double turned[WIDE * PARAMETERS] = {0.0};
      if (e->filled[j * n + k]) {
        turn_tile(e->factor + TILE * (j * n + k), turned);
      }
      for (size_t i = j; i < n && e->filled[j * n + k]; ++i) {
        if (e->filled[i * n + k]) {
          subtract_product(e->factor + TILE * (i * n + k), turned, e->factor + TILE * (i * n + j));
        }
      }
    }
  }
  return true;
}

/* y -= tile x, or the transpose of tile times x. */
static void take_off(const double *tile, bool turned, const double *x, double *y)
{
  for (size_t r = 0; r < PARAMETERS; ++r) {
    for (size_t c = 0; c < PARAMETERS; ++c) {
      y[r] -= tile[turned ? PARAMETERS * c + r : PARAMETERS * r + c] * x[c];
    }
  }
}

static void forward_tile(const double *l, double *x)
{
  for (size_t r = 0; r < PARAMETERS; ++r) {
    for (size_t c = 0; c < r; ++c) {
      x[r] -= l[PARAMETERS * r + c] * x[c];
    }
    x[r] /= l[PARAMETERS * r + r];
  }
}

static void back_tile(const double *l, double *x)
{
  for (size_t r = PARAMETERS; r-- > 0;) {
    for (size_t c = r + 1; c < PARAMETERS; ++c) {
      x[r] -= l[PARAMETERS * c + r] * x[c];
    }
    x[r] /= l[PARAMETERS * r + r];
  }
}

bool equations_solve(const equations *e, double lambda, double *x)
{
  const size_t n = e->count;
  double most = 0.0;
  for (size_t i = 0; i < n * PARAMETERS; ++i) {
    const size_t b = i / PARAMETERS, r = i % PARAMETERS;
    most = e->free[i] ? fmax(most, e->blocks[TILE * (b * n + b) + PARAMETERS * r + r]) : most;
  }
  fill(e, lambda, most);
  if (!factor(e)) {
    return false;
  }
  for (size_t k = 0; k < n; ++k) {
    double *own = x + PARAMETERS * e->order[k];
    for (size_t r = 0; r < PARAMETERS; ++r) {
      const size_t i = PARAMETERS * e->order[k] + r;
      own[r] = e->free[i] ? -e->right[i] : 0.0;
    }
    for (size_t j = 0; j < k; ++j) {
      if (e->filled[k * n + j]) {
        take_off(e->factor + TILE * (k * n + j), false, x + PARAMETERS * e->order[j], own);
      }
    }
    forward_tile(e->factor + TILE * (k * n + k), own);
  }
  for (size_t k = n; k-- > 0;) {
    double *own = x + PARAMETERS * e->order[k];
    for (size_t i = k + 1; i < n; ++i) {
      if (e->filled[i * n + k]) {
        take_off(e->factor + TILE * (i * n + k), true, x + PARAMETERS * e->order[i], own);
      }
    }
    back_tile(e->factor + TILE * (k * n + k), own);
  }
  return true;
}
