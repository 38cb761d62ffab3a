/* In place of clReleaseMemObject: nothing is released, which only oclgrind's test links.
 *
 * oclgrind 21.10 remembers which bytes are uninitialised by a buffer's slot, and goes on with that
 * memory, of the former buffer's size, where a slot is used again: what kernels write beyond it
 * stays uninitialised to it. A kernel that fills a buffer and one that branches on it are reported
 * once a smaller buffer has been there before. */
#include <CL/cl.h>

cl_int __wrap_clReleaseMemObject(cl_mem memory);

cl_int __wrap_clReleaseMemObject(cl_mem memory)
{
  return memory ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}
