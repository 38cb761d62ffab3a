/* The order of elimination and the panels of kernels/world/panels.cl, as C in double: random graphs
 * of trees of mixed sizes, whose degrees of freedom lie between each other, against a dense factor
 * and an order found by itself. */
#include "support/check.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REAL_DOUBLE 1
#define LANES 1
#define WG 1
static size_t work_item[2];
#define get_global_id(i) work_item[i]
#define get_group_id(i) work_item[i]
#define get_local_id(i) 0
#include "kernels/world/suite.cl"

enum { TREES = 70, SIZE = 20, DOFS = 200, TRIALS = 120 };

/* A graph of trees, the tables of its scene, and a matrix of its pattern. */
typedef struct trial {
  world_sizes n;
  int *ints, *order, *neighbour; /* neighbour: (trees, trees) */
  double *h, *numbers;           /* h: (nv, nv) */
  panels p;
  team team;
} trial;

static int of_tree(const trial *t, int dof)
{
  return t->ints[t->n.at_dofs + DOF_INTS * dof + DOF_TREE];
}

/* A whole number from 0 to count - 1. */
static int below(uint64_t *r, int count)
{
  return (int)(random_uniform(r) * count);
}

static void *make(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  REQUIRE(memory != NULL);
  return memory;
}

/* Trees take their degrees of freedom in a random order. */
static void make_trees(trial *t, uint64_t *r)
{
  int left[TREES], tree_of[DOFS], total = 0, at = 0, block = 0;
  t->n.trees = 1 + below(r, TREES);
  for (int i = 0; i < t->n.trees; i++) {
    left[i] = 1 + below(r, below(r, 2) ? 6 : SIZE);
    left[i] = total + left[i] + t->n.trees - i - 1 > DOFS ? 1 : left[i];
    total += left[i];
  }
  t->n.nv = total;
  t->n.at_dofs = 0;
  t->n.at_trees = DOF_INTS * total;
  t->n.at_tree_dofs = t->n.at_trees + TREE_INTS * t->n.trees;
  t->ints = make((size_t)(t->n.at_tree_dofs + total), sizeof *t->ints);
  for (int i = 0; i < t->n.trees; i++) {
    int *tree = t->ints + t->n.at_trees + TREE_INTS * i;
    tree[TREE_DOFS] = left[i];
    tree[TREE_DOF_AT] = at;
    tree[TREE_BLOCK] = block;
    at += left[i];
    block += left[i] * left[i];
  }
  t->n.blocks = block;
  for (int dof = 0; dof < total; dof++) {
    do {
      tree_of[dof] = below(r, t->n.trees);
    } while (!left[tree_of[dof]]);
    const int *tree = t->ints + t->n.at_trees + TREE_INTS * tree_of[dof];
    const int place = tree[TREE_DOFS] - left[tree_of[dof]]--;
    t->ints[DOF_INTS * dof + DOF_TREE] = tree_of[dof];
    t->ints[DOF_INTS * dof + DOF_PLACE] = place;
    t->ints[t->n.at_tree_dofs + tree[TREE_DOF_AT] + place] = dof;
  }
}

static void make_graph(trial *t, uint64_t *r)
{
  const int trees = t->n.trees, edges = below(r, 3 * trees);
  t->neighbour = make((size_t)(trees * trees), sizeof *t->neighbour);
  t->order = make(ORDER_INTS(trees), sizeof *t->order);
  t->p = (panels){.n = &t->n, .tables = t->ints, .ints = t->order};
  for (int i = 0; i < trees; i++) {
    order_array(&t->p, ORDER_ISLAND)[i] = i;
  }
  for (int i = 0; i < edges; i++) {
    const int a = below(r, trees), b = below(r, trees);
    graph_add(&t->p, a, below(r, 8) ? b : -1);
    if (order_array(&t->p, ORDER_STATE)[a] && a != b && bit_is_set(order_bits(&t->p, a), b)) {
      t->neighbour[a * trees + b] = t->neighbour[b * trees + a] = 1;
    }
  }
  graph_finish(&t->p);
}

/* A positive matrix: M's part is 1 + noise along the diagonal, and each pair of neighbours adds a
 * square. */
static void make_matrix(trial *t, uint64_t *r)
{
  const int nv = t->n.nv;
  double *x = make((size_t)nv, sizeof *x);
  t->h = make((size_t)(nv * nv), sizeof *t->h);
  for (int a = 0; a < t->n.trees; a++) {
    for (int b = 0; b <= a; b++) {
      for (int k = 0; k < 3 && (a == b || t->neighbour[a * t->n.trees + b]); k++) {
        for (int i = 0; i < nv; i++) {
          x[i] = of_tree(t, i) == a || of_tree(t, i) == b ? (2.0 * random_uniform(r) - 1.0) : 0.0;
        }
        for (int i = 0; i < nv; i++) {
          for (int j = 0; j < nv; j++) {
            t->h[i * nv + j] += x[i] * x[j];
          }
        }
      }
    }
  }
  for (int i = 0; i < nv; i++) {
    t->h[i * (nv + 1)] += 0.1 + 1.9 * random_uniform(r);
  }
  free(x);
}

/* ---- what it is compared with ---- */

/* The component of the least tree that a tree can be reached from. */
static void check_islands(const trial *t)
{
  const int trees = t->n.trees;
  int label[TREES], changed = 1;
  for (int i = 0; i < trees; i++) {
    label[i] = i;
  }
  while (changed) {
    changed = 0;
    for (int a = 0; a < trees; a++) {
      for (int b = 0; b < trees; b++) {
        if (t->neighbour[a * trees + b] && label[b] < label[a]) {
          label[a] = label[b];
          changed = 1;
        }
      }
    }
  }
  for (int i = 0; i < trees; i++) {
    CHECK_EQUAL(order_array(&t->p, ORDER_ISLAND)[i], label[i]);
  }
}

/* Eliminates trees in a dense graph, each time the first one of least degree. */
static void check_order(const trial *t)
{
  const int trees = t->n.trees;
  int *left = make((size_t)(trees * trees), sizeof *left), taken[TREES] = {0};
  memcpy(left, t->neighbour, (size_t)(trees * trees) * sizeof *left);
  for (int step = 0; step < trees; step++) {
    int best = -1, least = 0;
    for (int a = 0; a < trees; a++) {
      int degree = 0;
      for (int b = 0; b < trees; b++) {
        degree += left[a * trees + b] && !taken[b] ? tree_dofs(&t->p, b) : 0;
      }
      if (!taken[a] && (best < 0 || degree < least)) {
        best = a;
        least = degree;
      }
    }
    taken[best] = 1;
    check(order_array(&t->p, ORDER_TREES)[step] == best, "%d trees: tree %d is number %d, not %d",
          trees, order_array(&t->p, ORDER_TREES)[step], step, best);
    CHECK_EQUAL(order_array(&t->p, ORDER_ROWS)[best], least + tree_dofs(&t->p, best));
    for (int a = 0; a < trees; a++) {
      for (int b = 0; b < trees; b++) {
        left[a * trees + b] |= a != b && left[best * trees + a] && left[best * trees + b];
      }
    }
  }
  free(left);
}

/* Replaces x by inv(H) x by a dense factor. */
static void solve_dense(const trial *t, double *x)
{
  const int nv = t->n.nv;
  double *l = make((size_t)(nv * nv), sizeof *l);
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = t->h[i * nv + j];
      for (int k = 0; k < j; k++) {
        sum -= l[i * nv + k] * l[j * nv + k];
      }
      l[i * nv + j] = i == j ? sqrt(sum) : sum / l[j * (nv + 1)];
    }
    for (int k = 0; k < i; k++) {
      x[i] -= l[i * nv + k] * x[k];
    }
    x[i] /= l[i * (nv + 1)];
  }
  for (int i = nv - 1; i >= 0; i--) {
    for (int k = i + 1; k < nv; k++) {
      x[i] -= l[k * nv + i] * x[k];
    }
    x[i] /= l[i * (nv + 1)];
  }
  free(l);
}

/* ---- panels ---- */

/* Puts H into the panels: its entries of two trees where the one that is eliminated first has its
 * columns. */
static void fill_panels(const trial *t)
{
  const int nv = t->n.nv;
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j < nv; j++) {
      const int a = of_tree(t, i), b = of_tree(t, j);
      const int *place = order_array(&t->p, ORDER_PLACE);
      if (place[a] >= place[b] && t->h[i * nv + j] != 0.0) {
        const panel q = panel_of(&t->p, b);
        const int row = panel_row(&t->p, b, a) + dof_place(&t->n, t->ints, i);
        require(check(row < q.rows, "row %d of %d", row, q.rows));
        q.at[dof_place(&t->n, t->ints, j) * q.stride + row] = t->h[i * nv + j];
      }
    }
  }
}

static int factor(const trial *t)
{
  for (int i = 0; i < t->n.trees; i++) {
    const panel q = panel_of(&t->p, order_array(&t->p, ORDER_TREES)[i]);
    if (!panel_factor(&q)) {
      return 0;
    }
    panel_update(&t->p, &q, &t->team);
  }
  return 1;
}

static void solve(const trial *t, double *x)
{
  double *room = make((size_t)t->n.nv, sizeof *room);
  const int *order = order_array(&t->p, ORDER_TREES);
  for (int i = 0; i < t->n.trees; i++) {
    const panel q = panel_of(&t->p, order[i]);
    panel_forward(&t->p, &q, &t->team, room, x);
  }
  for (int i = t->n.trees - 1; i >= 0; i--) {
    const panel q = panel_of(&t->p, order[i]);
    panel_backward(&t->p, &q, &t->team, room, x);
  }
  free(room);
}

static void check_solved(const trial *t, uint64_t *r)
{
  const int nv = t->n.nv;
  double *x = make((size_t)nv, sizeof *x), *y = make((size_t)nv, sizeof *y), most = 0.0,
         apart = 0.0;
  for (int i = 0; i < nv; i++) {
    x[i] = y[i] = (2.0 * random_uniform(r) - 1.0);
  }
  solve_dense(t, x);
  solve(t, y);
  for (int i = 0; i < nv; i++) {
    most = fmax(most, fabs(x[i]));
    apart = fmax(apart, fabs(x[i] - y[i]));
  }
  check(apart <= 1e-12 * most, "%d trees, %d dofs: apart %g of %g", t->n.trees, nv, apart, most);
  free(x);
  free(y);
}

static void run(uint64_t *r)
{
  trial t = {.team = team_of_one()};
  make_trees(&t, r);
  make_graph(&t, r);
  make_matrix(&t, r);
  check_islands(&t);
  const int numbers = find_order(&t.p, &t.team);
  check_order(&t);
  check(numbers <= PANELS_MOST(t.n.nv, t.n.blocks, LANES), "%d numbers of %d dofs", numbers,
        t.n.nv);
  t.numbers = t.p.numbers = make((size_t)(numbers + LANES), sizeof *t.numbers);
  fill_panels(&t);
  if (CHECK(factor(&t))) {
    check_solved(&t, r);
  }
  memset(t.numbers, 0, (size_t)numbers * sizeof *t.numbers);
  t.h[t.n.nv * t.n.nv - 1] = -1.0;
  fill_panels(&t);
  CHECK(!factor(&t));
  free(t.ints);
  free(t.order);
  free(t.neighbour);
  free(t.h);
  free(t.numbers);
}

int main(void)
{
  uint64_t r = 11;
  for (int i = 0; i < TRIALS; i++) {
    run(&r);
  }
  return check_finish();
}
