/* Times signed distances of pairs of convex shapes by Coal, one query after the other on one
 * thread.
 *
 *   closest_coal PROBLEM [ANSWERS] [PASSES]
 *
 * PROBLEM and ANSWERS are files of closest_problem.h, of hulls, spheres, boxes and capsules; 20
 * passes over the batch unless told. Shapes and transforms are made before the clock runs. Every
 * query is cold: it starts from Coal's default guess, and nothing of the query before is left to
 * it. Two ways to ask are timed by turns:
 *
 *   distance   coal::distance of two geometries, which makes a solver each time
 *   solver     the same function of Coal's table, by one solver that keeps its memory
 *
 * Prints JSON, for each way in microseconds a query: "mean" is the best pass over the number of
 * queries, "pass_median" the median pass, "processor" the same of the processor's time, which other
 * programs on the machine disturb less, and "median" the median query of the passes with a
 * clock around each query, the best of these passes; it includes some hundredths for the clock. */
#include <coal/distance.h>
#include <coal/distance_func_matrix.h>
#include <coal/narrowphase/narrowphase.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "closest_problem.h"

namespace {

using coal::Vec3s;
using geometry = std::shared_ptr<coal::CollisionGeometry>;

struct query {
  const coal::CollisionGeometry *one, *two;
  coal::Transform3s pose1, pose2;
};

struct bench {
  std::vector<geometry> shapes;
  std::vector<query> queries;
};

struct timing {
  std::vector<double> passes, processor, medians;
};

using way = void (*)(const query &, const coal::DistanceRequest &, coal::DistanceResult &);

geometry make_hull(const double *vertices, uint32_t count)
{
  auto points = std::make_shared<std::vector<Vec3s>>();
  for (uint32_t i = 0; i < count; ++i) {
    points->emplace_back(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
  }
  return geometry(coal::ConvexBase::convexHull(points, count, true));
}

geometry make_shape(const problem_shape &shape, const double *vertices)
{
  const double *size = shape.size;
  if (shape.radius != 0.0) {
    return nullptr;
  }
  switch (shape.kind) {
    case PROBLEM_HULL: return make_hull(vertices, shape.vertex_count);
    case PROBLEM_SPHERE: return std::make_shared<coal::Sphere>(size[0]);
    case PROBLEM_BOX: return std::make_shared<coal::Box>(2 * size[0], 2 * size[1], 2 * size[2]);
    case PROBLEM_CAPSULE: return std::make_shared<coal::Capsule>(size[0], 2 * size[1]);
    default: return nullptr;
  }
}

coal::Transform3s transform_of(const double *pose)
{
  const Eigen::Quaterniond q(pose[3], pose[4], pose[5], pose[6]);
  return coal::Transform3s(q.normalized().toRotationMatrix(), Vec3s(pose[0], pose[1], pose[2]));
}

bool make_shapes(const problem &p, bench &b)
{
  const double *vertices = p.vertices;
  for (uint64_t i = 0; i < p.shape_count; ++i) {
    b.shapes.push_back(make_shape(p.shapes[i], vertices));
    if (!b.shapes.back()) {
      return false;
    }
    b.shapes.back()->computeLocalAABB();
    vertices += 3 * p.shapes[i].vertex_count;
  }
  return true;
}

void make_queries(const problem &p, bench &b)
{
  for (uint64_t i = 0; i < p.pair_count; ++i) {
    const auto *one = b.shapes[p.one[i]].get(), *two = b.shapes[p.two[i]].get();
    b.queries.push_back({one, two, transform_of(p.pose1 + 7 * i), transform_of(p.pose2 + 7 * i)});
  }
}

/* Names the default guess as the one to start from, so that a solver that is kept does not start its
 * support maps where the query before ended. */
coal::DistanceRequest cold_request()
{
  coal::DistanceRequest request;
  request.enable_signed_distance = true;
  request.gjk_initial_guess = coal::GJKInitialGuess::CachedGuess;
  request.cached_gjk_guess = Vec3s(1, 0, 0);
  request.cached_support_func_guess.setZero();
  return request;
}

void by_distance(const query &q, const coal::DistanceRequest &request, coal::DistanceResult &result)
{
  coal::distance(q.one, q.pose1, q.two, q.pose2, request, result);
}

void by_solver(const query &q, const coal::DistanceRequest &request, coal::DistanceResult &result)
{
  static const coal::DistanceFunctionMatrix table;
  static coal::GJKSolver solver;
  solver.set(request);
  table.distance_matrix[q.one->getNodeType()][q.two->getNodeType()](q.one, q.pose1, q.two, q.pose2,
                                                                    &solver, request, result);
}

/* Microseconds a query of one pass over the batch, by the wall's clock and by the processor's. */
std::pair<double, double> time_pass(const bench &b, way ask)
{
  const coal::DistanceRequest request = cold_request();
  coal::DistanceResult result;
  const double start = seconds_now(), spent = processor_seconds();
  for (const query &q : b.queries) {
    result.clear();
    ask(q, request, result);
  }
  const double each = 1e6 / static_cast<double>(b.queries.size());
  return {each * (seconds_now() - start), each * (processor_seconds() - spent)};
}

/* Median microseconds of one query in a pass with a clock around each. */
double time_queries(const bench &b, way ask)
{
  const coal::DistanceRequest request = cold_request();
  coal::DistanceResult result;
  std::vector<double> spent;
  spent.reserve(b.queries.size());
  for (const query &q : b.queries) {
    const double start = seconds_now();
    result.clear();
    ask(q, request, result);
    spent.push_back(1e6 * (seconds_now() - start));
  }
  return median_of(spent.data(), spent.size());
}

std::vector<double> answers_of(const bench &b)
{
  const coal::DistanceRequest request = cold_request();
  std::vector<double> answers;
  for (const query &q : b.queries) {
    coal::DistanceResult result;
    by_distance(q, request, result);
    answers.push_back(result.min_distance);
    for (const Vec3s &v : {result.normal, result.nearest_points[0], result.nearest_points[1]}) {
      answers.insert(answers.end(), v.data(), v.data() + 3);
    }
    answers.push_back(std::numeric_limits<double>::quiet_NaN());
    answers.push_back(0.0);
  }
  return answers;
}

/* A pass, and a pass with a clock around each query. */
void time_way(const bench &b, way ask, timing &t)
{
  const auto [wall, processor] = time_pass(b, ask);
  t.passes.push_back(wall);
  t.processor.push_back(processor);
  t.medians.push_back(time_queries(b, ask));
}

void print_way(const char *name, timing &t)
{
  const double best = *std::min_element(t.passes.begin(), t.passes.end());
  const double query = *std::min_element(t.medians.begin(), t.medians.end());
  std::printf(", \"%s\": {\"median\": %.4f, \"mean\": %.4f, \"pass_median\": %.4f, "
              "\"processor\": %.4f}",
              name, query, best, median_of(t.passes.data(), t.passes.size()),
              median_of(t.processor.data(), t.processor.size()));
}

void time_ways(const bench &b, int passes)
{
  timing distance, solver;
  time_pass(b, by_distance); // warms up
  time_pass(b, by_solver);
  for (int pass = 0; pass < passes; ++pass) {
    time_way(b, by_distance, distance);
    time_way(b, by_solver, solver);
  }
  std::printf("{\"version\": \"%s\", \"queries\": %zu, \"passes\": %d", COAL_VERSION,
              b.queries.size(), passes);
  print_way("distance", distance);
  print_way("solver", solver);
  std::printf("}\n");
}

} // namespace

int main(int argc, char **argv)
{
  problem p;
  bench b;
  if (argc < 2 || !read_problem(argv[1], &p) || !make_shapes(p, b)) {
    std::fprintf(stderr, "closest_coal: no problem that can be read\n");
    return 1;
  }
  make_queries(p, b);
  time_ways(b, argc > 3 ? std::max(1, std::atoi(argv[3])) : 20);
  if (argc > 2 && !write_answers(argv[2], answers_of(b).data(), p.pair_count)) {
    std::fprintf(stderr, "closest_coal: %s cannot be written\n", argv[2]);
    return 1;
  }
  return 0;
}
