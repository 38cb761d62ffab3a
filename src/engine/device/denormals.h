/* Numbers below the smallest normal one cost x86 processors a hundred times as much as others.
 * Products of factors of activities come there all the time, and nothing depends on what they are.
 * Kernels on the host path count them as zero, as those of OpenCL do by a build option; the thread
 * that runs them gets its own setting back. Other processors take such numbers at full speed. */
#ifndef ABUT_DENORMALS_H
#define ABUT_DENORMALS_H

#if defined(__SSE2__)
#include <xmmintrin.h>

#define DENORMALS_ARE_ZERO 0x8040u /* MXCSR: results are flushed, operands are taken as zero */

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
