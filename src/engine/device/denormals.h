/* Arithmetic on denormal numbers is about a hundred times slower on x86 processors. Products of
 * activity factors are often that small, and no result depends on them. Kernels on the host path
 * treat denormals as zero; OpenCL kernels do the same by a build option. The thread's own setting
 * is restored afterwards. Other processors handle denormals at full speed. */
#ifndef ABUT_DENORMALS_H
#define ABUT_DENORMALS_H

#if defined(__SSE2__)
#include <xmmintrin.h>

#define DENORMALS_ARE_ZERO 0x8040u /* MXCSR: denormal results and operands become zero */

static inline unsigned flush_denormals(void)
{
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | DENORMALS_ARE_ZERO);
  return before;
}

static inline void restore_denormals(unsigned before)
{
  _mm_setcsr(before);
}
#else
static inline unsigned flush_denormals(void)
{
  return 0;
}

static inline void restore_denormals(unsigned before)
{
  (void)before;
}
#endif

#endif
