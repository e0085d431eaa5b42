/*===- c.h - The C API of Despina -------------------------------*- C -*-===*\
|*                                                                          *|
|* Part of Despina, under the Apache License v2.0 with LLVM Exceptions.     *|
|*                                                                          *|
|* For languages that call C. Handles are opaque. Structures begin with     *|
|* their size: set it with DESPINA_INIT, which also clears the rest; members *|
|* added later at the end then read as 0, which always means the default.   *|
|* Functions that can fail return 0 on success; otherwise they store an     *|
|* error, to be freed by the caller, unless `error` is null. A null handle   *|
|* reads as empty: its texts are "" or null, its numbers 0. All functions    *|
|* may be called from several threads at once.                              *|
|*                                                                          *|
\*===----------------------------------------------------------------------===*/
#ifndef DESPINA_C_H
#define DESPINA_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define DESPINA_C_API
#else
#define DESPINA_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Initialises a structure of the given type: `despina_compile_request r =
 * DESPINA_INIT(despina_compile_request);` */
#define DESPINA_INIT(type) {.struct_size = sizeof(type)}

typedef struct despina_error despina_error;
typedef struct despina_kernel despina_kernel;
typedef struct despina_strings despina_strings;

/* "0.1.0" */
DESPINA_C_API const char *despina_version(void);

/*===- Errors ---------------------------------------------------------------===*/

/* Texts live as long as the error; they are never null. */
/* Class in Python: "CompilationError", "ValueError", ... */
DESPINA_C_API const char *despina_error_kind(const despina_error *error);
/* What happened. */
DESPINA_C_API const char *despina_error_message(const despina_error *error);
/* For people: position, source line, caret, help, notes. */
DESPINA_C_API const char *despina_error_rendered(const despina_error *error);
/* Where: "" and 0 without a position; line and column are 1-based. */
DESPINA_C_API const char *despina_error_file(const despina_error *error);
DESPINA_C_API uint32_t despina_error_line(const despina_error *error);
DESPINA_C_API uint32_t despina_error_column(const despina_error *error);
/* Null is allowed. */
DESPINA_C_API void despina_error_free(despina_error *error);

/*===- Compiling ------------------------------------------------------------===*/

typedef enum despina_constant_kind {
  DESPINA_NONE = 0,
  DESPINA_BOOL = 1,   /* integer: 0 or 1 */
  DESPINA_INT = 2,    /* integer */
  DESPINA_FLOAT = 3,  /* real */
  DESPINA_STRING = 4, /* string */
  DESPINA_DTYPE = 5   /* string: "fp32" */
} despina_constant_kind;

/* One parameter of the kernel: a runtime parameter when `type` is set, else a constant. */
typedef struct despina_parameter {
  size_t struct_size;
  /* Null, for a runtime parameter: the next that nothing else names. */
  const char *name;
  /* "*fp32", "i32", "*fp32:16" (divisible by 16). */
  const char *type;
  int32_t constant_kind; /* despina_constant_kind */
  int64_t integer;
  double real;
  const char *string;
} despina_parameter;

typedef struct despina_compile_request {
  size_t struct_size;
  /* The file to read; names the source in errors when `text` is set. */
  const char *path;
  /* The source itself, `text_size` bytes; null to read the file. */
  const char *text;
  size_t text_size;
  /* Name of the kernel. */
  const char *kernel;
  /* `num_parameters` structures, each as far from the next as the first one's `struct_size` says. */
  const despina_parameter *parameters;
  size_t num_parameters;
  /* Null: "cpu"; or "cuda". */
  const char *backend;
  /* Null: this machine's processor or current GPU; or "sm_90a". */
  const char *arch;
  /* 0: the defaults 4, 3 and 1. */
  int32_t num_warps, num_stages, num_ctas;
  int32_t disable_fp_fusion;
  int32_t debug;
  /* Of a GPU target: registers per thread (0: no limit); all blocks run at once; a launch may overlap with
     the end of the kernel before it. */
  int32_t max_registers;
  int32_t cooperative_launch;
  int32_t programmatic_dependent_launch;
} despina_compile_request;

DESPINA_C_API int despina_compile(const despina_compile_request *request, despina_kernel **kernel,
                                  despina_error **error);
/* Null is allowed. A kernel must not be freed while it runs. */
DESPINA_C_API void despina_kernel_free(despina_kernel *kernel);

DESPINA_C_API const char *despina_kernel_name(const despina_kernel *kernel);
DESPINA_C_API size_t despina_kernel_num_parameters(const despina_kernel *kernel);
/* Signature form of a runtime parameter; null when there is no such parameter. */
DESPINA_C_API const char *despina_kernel_parameter_type(const despina_kernel *kernel, size_t index);
DESPINA_C_API size_t despina_kernel_scratch_bytes(const despina_kernel *kernel);
/* Text of a stage as a list of one string. On the CPU "tt", "llvm", "asm", "obj" (bytes); on a GPU "tt",
   "ttg", "llvm", "ptx", "cubin" (bytes), "sass". */
DESPINA_C_API int despina_kernel_text(const despina_kernel *kernel, const char *stage, despina_strings **text,
                                      despina_error **error);

/* Names of the kernels in a file. */
DESPINA_C_API int despina_list_kernels(const char *path, despina_strings **names, despina_error **error);

/* A list of strings. Each ends with a zero byte that its size does not count. */
DESPINA_C_API size_t despina_strings_count(const despina_strings *strings);
/* Null and 0 when there is no such string. */
DESPINA_C_API const char *despina_strings_get(const despina_strings *strings, size_t index);
DESPINA_C_API size_t despina_strings_size(const despina_strings *strings, size_t index);
DESPINA_C_API void despina_strings_free(despina_strings *strings);

/*===- Launching ------------------------------------------------------------===*/

typedef enum despina_argument_kind {
  DESPINA_ARGUMENT_POINTER = 0,
  DESPINA_ARGUMENT_INT = 1,
  DESPINA_ARGUMENT_UINT = 2,
  DESPINA_ARGUMENT_FLOAT = 3
} despina_argument_kind;

/* This structure never changes, hence has no size. */
typedef struct despina_argument {
  int64_t kind; /* despina_argument_kind */
  union {
    const void *pointer;
    int64_t integer;
    uint64_t unsigned_integer;
    double real;
  } value;
} despina_argument;

typedef struct despina_launch_request {
  size_t struct_size;
  /* Extents; unlike everywhere else a 0 is not a default: it launches nothing. */
  int64_t grid[3];
  /* One for each runtime parameter, in order. */
  const despina_argument *arguments;
  size_t num_arguments;
  /* Of the CPU target: polled on the calling thread about every 20 ms; when it returns other than 0 the rest
     of the grid is dropped, and the launch fails with kind "KeyboardInterrupt". May be null. */
  int (*should_stop)(void *context);
  void *context;
  /* Of a GPU target: 1 + the number of the device; 0: the current one. */
  int32_t device_from_1;
  /* Of a GPU target, a CUstream; null: the default stream. */
  void *stream;
} despina_launch_request;

/* Returns when the whole grid has run; on a GPU, when it is queued in the stream. */
DESPINA_C_API int despina_launch(const despina_kernel *kernel, const despina_launch_request *request,
                                 despina_error **error);

#ifdef __cplusplus
}
#endif

#endif /* DESPINA_C_H */
