/*
 * A fake OpenCL that computes nothing: FAKE_CL selects the fault. lift.sh puts the library in the place of the real
 * OpenCL.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int object;

static int does(const char *what)
{
    const char *fake = getenv("FAKE_CL");

    return fake && !strcmp(fake, what);
}

static cl_int give(const void *value, size_t bytes, size_t room, void *to)
{
    memcpy(to, value, bytes < room ? bytes : room);
    return CL_SUCCESS;
}

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *p, cl_uint *found)
{
    *found = n && !does("no driver");
    *p = (cl_platform_id)&object;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *to, size_t *bytes)
{
    (void)p, (void)what, (void)bytes;
    return give("Fake", 5, room, to);
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *d, cl_uint *found)
{
    (void)p, (void)type, (void)n;
    *found = 1;
    *d = (cl_device_id)&object;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *to, size_t *bytes)
{
    const cl_ulong number = what == CL_DEVICE_TYPE ? CL_DEVICE_TYPE_GPU : does("small") ? 1000 : 1 << 28;
    const size_t items[3] = { 256, 256, 256 }, group = 256;

    (void)d, (void)bytes;
    if (what == CL_DEVICE_NAME || what == CL_DEVICE_VERSION)
        return give("Fake device", 12, room, to);
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return give(items, sizeof items, room, to);
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE)
        return give(&group, sizeof group, room, to);
    return give(&number, sizeof number, room, to);
}

cl_context clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *d,
                           void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *x, cl_int *err)
{
    (void)p, (void)n, (void)d, (void)f, (void)x;
    *err = CL_SUCCESS;
    return (cl_context)&object;
}

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *err)
{
    (void)c, (void)d, (void)p;
    *err = CL_SUCCESS;
    return (cl_command_queue)&object;
}

cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **text, const size_t *length, cl_int *err)
{
    (void)c, (void)n, (void)text, (void)length;
    *err = CL_SUCCESS;
    return (cl_program)&object;
}

cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *flags,
                      void(CL_CALLBACK *f)(cl_program, void *), void *x)
{
    (void)p, (void)n, (void)d, (void)flags, (void)f, (void)x;
    if (does("hang"))
        sleep(1000);
    if (does("crash"))
        abort();
    return does("refuse") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t room, void *to, size_t *n)
{
    static const char log[] = "many words\nline 7: error: no such register\nmore words\n";

    (void)p, (void)d, (void)what, (void)n;
    return give(log, sizeof log, room, to);
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *err)
{
    (void)p, (void)name;
    *err = CL_SUCCESS;
    return (cl_kernel)&object;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void *from, cl_int *err)
{
    (void)c, (void)flags, (void)bytes, (void)from;
    *err = does("memory") ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
    return (cl_mem)&object;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t bytes, const void *value)
{
    (void)k, (void)i, (void)bytes, (void)value;
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint n_events, const cl_event *events, cl_event *event)
{
    (void)q, (void)k, (void)n, (void)offset, (void)global, (void)local, (void)n_events, (void)events;
    if (event)
        *event = (cl_event)&object;
    return does("group") ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool waits, size_t offset, size_t bytes, void *to,
                           cl_uint n, const cl_event *events, cl_event *event)
{
    (void)q, (void)m, (void)waits, (void)offset, (void)n, (void)events, (void)event;
    memset(to, 0, bytes);
    return CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool waits, size_t offset, size_t bytes, const void *from,
                            cl_uint n, const cl_event *events, cl_event *event)
{
    (void)q, (void)m, (void)waits, (void)offset, (void)bytes, (void)from, (void)n, (void)events, (void)event;
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue q)
{
    (void)q;
    return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void *to, size_t *bytes)
{
    const cl_ulong at = what == CL_PROFILING_COMMAND_END ? 2000 : 1000;

    (void)e, (void)bytes;
    return give(&at, sizeof at, room, to);
}

cl_int clReleaseEvent(cl_event e)
{
    (void)e;
    return CL_SUCCESS;
}

cl_int clReleaseKernel(cl_kernel k)
{
    (void)k;
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program p)
{
    (void)p;
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem m)
{
    (void)m;
    return CL_SUCCESS;
}
