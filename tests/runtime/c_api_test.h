#ifndef BET_TESTS_RUNTIME_C_API_TEST_H
#define BET_TESTS_RUNTIME_C_API_TEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or the line of c_api_test.c that does not hold. The file at `path` and the bytes are those of
 * tiny_file(), the file at `damaged` has a wrong byte in its item rows. */
int check_c_api(const char* path, const char* damaged, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
