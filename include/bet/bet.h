#ifndef BET_BET_H
#define BET_BET_H

/* The C interface of a model file; see model.h for what the calls mean.
 *
 * Calls return BET_OK or one of the other codes below; bet_error() then returns the text of the
 * calling thread's last error. Strings that are returned live as long as the model. After bet_open
 * any number of threads may use a model at once; bet_close must come after all of them. */

#include <stddef.h>
#include <stdint.h>

#include "bet/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): names as C programs have them */

typedef struct bet_model bet_model;
typedef struct bet_item_set bet_item_set;

enum {
  BET_OK = 0,
  BET_FAILED = 1,    /* a file that cannot be read or is damaged, no memory */
  BET_NOT_FOUND = 2, /* an unknown user or item */
  BET_BAD_CALL = 3   /* a null pointer, a buffer that is too small, an empty list */
};

typedef struct bet_scored_item {
  const char* item; /* not null-terminated */
  size_t item_length;
  float score;
} bet_scored_item;

/* Which items may be in an answer. All bytes zero but `size`, which is sizeof(bet_filter): no
 * filter. Later versions may add members at the end. */
typedef struct bet_filter {
  size_t size;
  const bet_item_set* only;    /* no others; null: all */
  const bet_item_set* exclude; /* none of these; null: nothing is excluded */
  int include_seen;            /* also items that the user has, or that were given */
  int has_min_score;
  float min_score; /* scores below it are left out, if has_min_score */
} bet_filter;

/* NOLINTEND(readability-identifier-naming) */

/* Never null. */
BET_API const char* bet_error(void);

/* On failure *model is null. */
BET_API int bet_open(const char* path, bet_model** model);
/* The bytes must outlive the model. */
BET_API int bet_open_bytes(const void* bytes, size_t size, bet_model** model);
BET_API void bet_close(bet_model* model); /* null is allowed */

BET_API uint32_t bet_num_users(const bet_model* model);
BET_API uint32_t bet_num_items(const bet_model* model);
BET_API uint32_t bet_dimension(const bet_model* model);

/* Write at most k items, best first, and their number into *count. All ids that are passed in are
 * null-terminated. */
BET_API int bet_recommend(const bet_model* model, const char* user, size_t k, int leave_out_seen,
                          bet_scored_item* items, size_t* count);
BET_API int bet_recommend_for_items(const bet_model* model, const char* const* given,
                                    size_t num_given, size_t k, bet_scored_item* items,
                                    size_t* count);
/* As bet_recommend for each user of a list. The items of user i are written from items[i * k] on,
 * counts[i] of them; codes[i] is BET_OK, or BET_NOT_FOUND for an unknown user, who gets no items
 * while the others are answered: the call itself returns BET_OK. The buffers must have room for
 * num_users * k items, num_users counts and num_users codes. */
BET_API int bet_recommend_batch(const bet_model* model, const char* const* users, size_t num_users,
                                size_t k, int leave_out_seen, bet_scored_item* items,
                                size_t* counts, int* codes);
/* As bet_recommend_for_items, without the unknown items: unknown[i] is 1 where given[i] is unknown,
 * else 0. BET_NOT_FOUND if all are unknown; bet_error() then names them. */
BET_API int bet_recommend_for_known_items(const bet_model* model, const char* const* given,
                                          size_t num_given, size_t k, bet_scored_item* items,
                                          size_t* count, unsigned char* unknown);
BET_API int bet_similar_items(const bet_model* model, const char* item, size_t k,
                              bet_scored_item* items, size_t* count);

/* The set of these items, for filters; unknown ones are left out. It is for this model alone and to
 * be freed before it is closed. `often`: not 0 for a set that many requests use; see
 * Model::item_set. On failure *set is null. */
BET_API int bet_item_set_create(const bet_model* model, const char* const* items, size_t num_items,
                                int often, bet_item_set** set);
BET_API void bet_item_set_free(bet_item_set* set); /* null is allowed */

/* As bet_recommend, bet_recommend_for_known_items and bet_similar_items, for the items that the
 * filter allows. BET_BAD_CALL for a set of another model. */
BET_API int bet_recommend_filtered(const bet_model* model, const char* user, size_t k,
                                   const bet_filter* filter, bet_scored_item* items, size_t* count);
BET_API int bet_recommend_for_known_items_filtered(const bet_model* model, const char* const* given,
                                                   size_t num_given, size_t k,
                                                   const bet_filter* filter, bet_scored_item* items,
                                                   size_t* count, unsigned char* unknown);
BET_API int bet_similar_items_filtered(const bet_model* model, const char* item, size_t k,
                                       const bet_filter* filter, bet_scored_item* items,
                                       size_t* count);

/* The items that most users of the file have; the score is the number of these users. A null filter
 * is none. BET_NOT_FOUND where the file has no interactions. */
BET_API int bet_popular_items(const bet_model* model, size_t k, const bet_filter* filter,
                              bet_scored_item* items, size_t* count);

/* As bet_recommend_filtered for the users of rows first .. first + num_users - 1, on `threads`
 * threads (0: one per core). The items of the i-th are written from items[i * k] on, counts[i] of
 * them: the buffers must have room for num_users * k items and num_users counts. A null filter is
 * none. BET_BAD_CALL for rows that the file does not have. */
BET_API int bet_recommend_rows(const bet_model* model, uint32_t first, uint32_t num_users, size_t k,
                               const bet_filter* filter, size_t threads, bet_scored_item* items,
                               size_t* counts);
/* The id of the user of a row; *id is not null-terminated. */
BET_API int bet_user_id(const bet_model* model, uint32_t row, const char** id, size_t* length);

BET_API int bet_score(const bet_model* model, const char* user, const char* item, float* score);

/* Write bet_dimension numbers; `size` is how many the buffer holds. A model of ncf has no vectors:
 * its dimension is 0, and these calls return BET_FAILED. */
BET_API int bet_user_vector(const bet_model* model, const char* user, float* vector, size_t size);
BET_API int bet_item_vector(const bet_model* model, const char* item, float* vector, size_t size);

#ifdef __cplusplus
}
#endif

#endif
