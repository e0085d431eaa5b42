/*===- c_api_test.c - The C API from C ------------------------------------===*\
|*                                                                            *|
|* Part of Despina, under the Apache License v2.0 with LLVM Exceptions.       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "despina/c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                \
      ++failures;                                                                                            \
    }                                                                                                        \
  } while (0)

static const char source[] = "import triton\n"
                             "import triton.language as tl\n"
                             "\n"
                             "@triton.jit\n"
                             "def scale(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):\n"
                             "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                             "    x = tl.load(x_ptr + i, mask=i < n)\n"
                             "    tl.store(out_ptr + i, x * factor, mask=i < n)\n";

static despina_parameter runtimeParameter(const char *name, const char *type) {
  despina_parameter parameter = DESPINA_INIT(despina_parameter);
  parameter.name = name;
  parameter.type = type;
  return parameter;
}

static despina_compile_request requestFor(const char *kernel, const despina_parameter *parameters,
                                          size_t count) {
  despina_compile_request request = DESPINA_INIT(despina_compile_request);
  request.path = "scale.py";
  request.text = source;
  request.text_size = strlen(source);
  request.kernel = kernel;
  request.parameters = parameters;
  request.num_parameters = count;
  return request;
}

static void fillParameters(despina_parameter parameters[5]) {
  parameters[0] = runtimeParameter("x_ptr", "*fp32");
  parameters[1] = runtimeParameter("out_ptr", "*fp32");
  parameters[2] = runtimeParameter("factor", "fp32");
  parameters[3] = runtimeParameter(NULL, "i32"); /* n is the one left */
  parameters[4] = runtimeParameter("BLOCK", NULL);
  parameters[4].constant_kind = DESPINA_INT;
  parameters[4].integer = 64;
}

static void checkKernel(const despina_kernel *kernel) {
  despina_strings *text = NULL;
  despina_error *error = NULL;
  CHECK(strcmp(despina_kernel_name(kernel), "scale") == 0);
  CHECK(despina_kernel_num_parameters(kernel) == 4);
  CHECK(strcmp(despina_kernel_parameter_type(kernel, 0), "*fp32") == 0);
  CHECK(strcmp(despina_kernel_parameter_type(kernel, 3), "i32") == 0);
  CHECK(despina_kernel_parameter_type(kernel, 4) == NULL);
  CHECK(despina_kernel_text(kernel, "asm", &text, &error) == 0);
  CHECK(text && despina_strings_count(text) == 1);
  CHECK(text && strstr(despina_strings_get(text, 0), "scale") != NULL);
  CHECK(text && despina_strings_size(text, 0) == strlen(despina_strings_get(text, 0)));
  CHECK(text && despina_strings_get(text, 1) == NULL && despina_strings_size(text, 1) == 0);
  if (text)
    despina_strings_free(text);
  CHECK(despina_kernel_text(kernel, "ptx", &text, &error) != 0);
  CHECK(error && strstr(despina_error_message(error), "no stage 'ptx'") != NULL);
  despina_error_free(error);
}

static void checkLaunch(const despina_kernel *kernel) {
  enum { n = 1001 };
  static float x[n], out[n + 1];
  despina_argument arguments[4];
  despina_launch_request request = DESPINA_INIT(despina_launch_request);
  despina_error *error = NULL;
  int i;
  srand(7);
  for (i = 0; i < n; ++i)
    x[i] = (float)rand() / 1000.0f;
  memset(out, 0xff, sizeof out);
  memset(arguments, 0, sizeof arguments);
  arguments[0].kind = DESPINA_ARGUMENT_POINTER;
  arguments[0].value.pointer = x;
  arguments[1].kind = DESPINA_ARGUMENT_POINTER;
  arguments[1].value.pointer = out;
  arguments[2].kind = DESPINA_ARGUMENT_FLOAT;
  arguments[2].value.real = 2.5;
  arguments[3].kind = DESPINA_ARGUMENT_INT;
  arguments[3].value.integer = n;
  request.grid[0] = (n + 63) / 64;
  request.grid[1] = request.grid[2] = 1;
  request.arguments = arguments;
  request.num_arguments = 4;
  CHECK(despina_launch(kernel, &request, &error) == 0);
  for (i = 0; i < n; ++i)
    if (out[i] != x[i] * 2.5f)
      break;
  CHECK(i == n);
  CHECK(out[n] != out[n]); /* poison: nothing was written past the end */

  request.num_arguments = 3;
  CHECK(despina_launch(kernel, &request, &error) != 0);
  CHECK(error && strcmp(despina_error_kind(error), "TypeError") == 0);
  CHECK(error && strstr(despina_error_message(error), "takes 4 runtime arguments, but 3 were given") != NULL);
  despina_error_free(error);

  request.num_arguments = 4;
  arguments[3].kind = 77;
  CHECK(despina_launch(kernel, &request, NULL) != 0); /* an error nobody wants */
  arguments[3].kind = DESPINA_ARGUMENT_INT;
  request.struct_size = 0;
  CHECK(despina_launch(kernel, &request, NULL) != 0);
}

static void checkCompileErrors(void) {
  despina_parameter parameters[5];
  despina_compile_request request;
  despina_kernel *kernel = NULL;
  despina_error *error = NULL;
  despina_strings *names = NULL;
  fillParameters(parameters);

  request = requestFor("nothing", parameters, 5);
  CHECK(despina_compile(&request, &kernel, &error) != 0 && kernel == NULL);
  CHECK(error && strstr(despina_error_message(error), "nothing") != NULL);
  CHECK(error && strlen(despina_error_rendered(error)) > 10);
  despina_error_free(error);

  parameters[2].type = NULL;
  parameters[2].constant_kind = DESPINA_STRING;
  parameters[2].string = "abc";
  request = requestFor("scale", parameters, 5);
  CHECK(despina_compile(&request, &kernel, &error) != 0 && kernel == NULL);
  CHECK(error && strcmp(despina_error_kind(error), "CompilationError") == 0);
  CHECK(error && strcmp(despina_error_file(error), "scale.py") == 0);
  CHECK(error && despina_error_line(error) == 8 && despina_error_column(error) > 1);
  despina_error_free(error);

  fillParameters(parameters);
  parameters[3].struct_size = 8;
  CHECK(despina_compile(&request, &kernel, NULL) != 0);
  CHECK(despina_compile(NULL, &kernel, NULL) != 0);
  CHECK(despina_list_kernels("/nonexistent/file.py", &names, &error) != 0);
  CHECK(error && strstr(despina_error_message(error), "/nonexistent/file.py") != NULL);
  despina_error_free(error);
}

static void checkNullHandles(void) {
  CHECK(strcmp(despina_error_kind(NULL), "") == 0 && strcmp(despina_error_message(NULL), "") == 0);
  CHECK(strcmp(despina_error_rendered(NULL), "") == 0 && strcmp(despina_error_file(NULL), "") == 0);
  CHECK(despina_error_line(NULL) == 0 && despina_error_column(NULL) == 0);
  CHECK(strcmp(despina_kernel_name(NULL), "") == 0 && despina_kernel_num_parameters(NULL) == 0);
  CHECK(despina_kernel_parameter_type(NULL, 0) == NULL && despina_kernel_scratch_bytes(NULL) == 0);
  CHECK(despina_strings_count(NULL) == 0 && despina_strings_get(NULL, 0) == NULL);
  CHECK(despina_strings_size(NULL, 0) == 0);
  despina_error_free(NULL);
  despina_kernel_free(NULL);
  despina_strings_free(NULL);
}

/* A caller of a later version, whose structure has grown. */
static void checkLargerStructures(void) {
  struct {
    despina_compile_request request;
    char later[64];
  } grown;
  despina_parameter parameters[5];
  despina_kernel *kernel = NULL;
  despina_error *error = NULL;
  fillParameters(parameters);
  memset(&grown, 0x5a, sizeof grown);
  grown.request = requestFor("scale", parameters, 5);
  grown.request.struct_size = sizeof grown;
  CHECK(despina_compile(&grown.request, &kernel, &error) == 0 && kernel != NULL);
  despina_kernel_free(kernel);
}

int main(void) {
  despina_parameter parameters[5];
  despina_compile_request request;
  despina_kernel *kernel = NULL;
  despina_error *error = NULL;
  CHECK(strlen(despina_version()) >= 5);
  fillParameters(parameters);
  request = requestFor("scale", parameters, 5);
  CHECK(despina_compile(&request, &kernel, &error) == 0);
  if (error) {
    fprintf(stderr, "%s\n", despina_error_rendered(error));
    return 1;
  }
  checkKernel(kernel);
  checkLaunch(kernel);
  despina_kernel_free(kernel);
  checkCompileErrors();
  checkNullHandles();
  checkLargerStructures();
  printf("%d failures\n", failures);
  return failures != 0;
}
