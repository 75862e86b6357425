/* The C interface as a C program sees it; c_api_test.cpp makes the files and calls this. */
#include "runtime/c_api_test.h"

#include <math.h>
#include <string.h>

#include "bet/bet.h"

/* The line of the first thing that is not so. */
#define EXPECT(condition) \
  do {                    \
    if (!(condition)) {   \
      return __LINE__;    \
    }                     \
  } while (0)

static int is_item(const bet_scored_item* found, const char* item, double score) {
  return found->item_length == strlen(item) && memcmp(found->item, item, strlen(item)) == 0 &&
         fabs(found->score - score) < 1e-5;
}

static int says(const char* text) { return strstr(bet_error(), text) != NULL; }

static int check_answers(const bet_model* model) {
  bet_scored_item items[5];
  size_t count = 99;
  float score = 0;
  float vector[3] = {9, 9, 9};
  const char* given[2] = {"x", "yy"};

  EXPECT(bet_num_users(model) == 2);
  EXPECT(bet_num_items(model) == 2);
  EXPECT(bet_dimension(model) == 2);

  EXPECT(bet_recommend(model, "bob", 5, 1, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", -1.5));
  EXPECT(bet_recommend(model, "bob", 5, 0, items, &count) == BET_OK);
  EXPECT(count == 2 && is_item(&items[0], "yy", 0) && is_item(&items[1], "x", -1.5));
  /* No more than k are written. */
  memset(items, 0, sizeof items);
  EXPECT(bet_recommend(model, "al", 1, 0, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", 1.5) && items[1].item == NULL);
  EXPECT(bet_recommend(model, "al", 0, 0, items, &count) == BET_OK && count == 0);

  EXPECT(bet_recommend_for_items(model, given, 1, 5, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "yy", 0));
  EXPECT(bet_recommend_for_items(model, given, 2, 5, items, &count) == BET_OK && count == 0);
  EXPECT(bet_similar_items(model, "yy", 5, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", 0));

  EXPECT(bet_score(model, "bob", "x", &score) == BET_OK && fabs(score + 1.5) < 1e-6);
  EXPECT(bet_user_vector(model, "al", vector, 3) == BET_OK);
  EXPECT(vector[0] == 3 && vector[1] == 0 && vector[2] == 9);
  EXPECT(bet_item_vector(model, "x", vector, 2) == BET_OK && vector[0] == 0.5F && vector[1] == -1);
  return 0;
}

static int check_unknown(const bet_model* model) {
  bet_scored_item items[5];
  size_t count = 99;
  float number = 7;
  float vector[2];
  const char* given[2] = {"x", "what"};

  EXPECT(bet_recommend(model, "nobody", 5, 1, items, &count) == BET_NOT_FOUND);
  EXPECT(says("unknown user 'nobody'") && count == 99);
  EXPECT(bet_similar_items(model, "what", 5, items, &count) == BET_NOT_FOUND);
  EXPECT(says("unknown item 'what'"));
  EXPECT(bet_recommend_for_items(model, given, 2, 5, items, &count) == BET_NOT_FOUND);
  EXPECT(says("'what'"));
  EXPECT(bet_score(model, "bob", "bob", &number) == BET_NOT_FOUND && number == 7);
  EXPECT(says("unknown item 'bob'"));
  EXPECT(bet_user_vector(model, "x", vector, 2) == BET_NOT_FOUND);
  EXPECT(says("unknown user 'x'"));
  EXPECT(bet_item_vector(model, "", vector, 2) == BET_NOT_FOUND);
  EXPECT(says("unknown item ''"));
  return 0;
}

static int check_lists(const bet_model* model) {
  bet_scored_item items[6];
  size_t counts[3] = {99, 99, 99};
  int codes[3] = {99, 99, 99};
  unsigned char unknown[3] = {9, 9, 9};
  size_t count = 99;
  const char* users[3] = {"bob", "nobody", "al"};
  const char* given[3] = {"what", "x", "no"};
  const char* nothing[2] = {"what", "no"};

  memset(items, 0, sizeof items);
  EXPECT(bet_recommend_batch(model, users, 3, 2, 0, items, counts, codes) == BET_OK);
  EXPECT(codes[0] == BET_OK && codes[1] == BET_NOT_FOUND && codes[2] == BET_OK);
  EXPECT(counts[0] == 2 && counts[1] == 0 && counts[2] == 2);
  EXPECT(is_item(&items[0], "yy", 0) && is_item(&items[1], "x", -1.5));
  EXPECT(items[2].item == NULL && items[3].item == NULL);
  EXPECT(is_item(&items[4], "x", 1.5));
  EXPECT(bet_recommend_batch(model, users, 1, 2, 1, items, counts, codes) == BET_OK);
  EXPECT(counts[0] == 1 && is_item(&items[0], "x", -1.5));
  EXPECT(bet_recommend_batch(model, users, 0, 2, 1, items, counts, codes) == BET_OK);

  EXPECT(bet_recommend_for_known_items(model, given, 3, 5, items, &count, unknown) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "yy", 0));
  EXPECT(unknown[0] == 1 && unknown[1] == 0 && unknown[2] == 1);
  count = 99;
  EXPECT(bet_recommend_for_known_items(model, nothing, 2, 5, items, &count, unknown) ==
         BET_NOT_FOUND);
  EXPECT(says("unknown items 'what', 'no'") && count == 99 && unknown[0] == 1 && unknown[1] == 1);
  return 0;
}

static int check_bad_list_calls(const bet_model* model) {
  bet_scored_item items[2];
  size_t count = 0;
  int code = 0;
  unsigned char unknown[2];
  const char* list[2] = {"x", NULL};

  EXPECT(bet_recommend_batch(NULL, list, 1, 1, 1, items, &count, &code) == BET_BAD_CALL);
  EXPECT(says("bet_recommend_batch: a null pointer"));
  EXPECT(bet_recommend_batch(model, NULL, 1, 1, 1, items, &count, &code) == BET_BAD_CALL);
  EXPECT(bet_recommend_batch(model, list, 1, 1, 1, NULL, &count, &code) == BET_BAD_CALL);
  EXPECT(bet_recommend_batch(model, list, 1, 1, 1, items, NULL, &code) == BET_BAD_CALL);
  EXPECT(bet_recommend_batch(model, list, 1, 1, 1, items, &count, NULL) == BET_BAD_CALL);
  EXPECT(bet_recommend_batch(model, list, 2, 1, 1, items, &count, &code) == BET_BAD_CALL);
  EXPECT(says("bet_recommend_batch: a null pointer in the list"));

  EXPECT(bet_recommend_for_known_items(NULL, list, 1, 1, items, &count, unknown) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_known_items(model, NULL, 1, 1, items, &count, unknown) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_known_items(model, list, 1, 1, NULL, &count, unknown) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_known_items(model, list, 1, 1, items, NULL, unknown) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_known_items(model, list, 1, 1, items, &count, NULL) == BET_BAD_CALL);
  EXPECT(says("bet_recommend_for_known_items: a null pointer"));
  EXPECT(bet_recommend_for_known_items(model, list, 2, 1, items, &count, unknown) == BET_BAD_CALL);
  EXPECT(says("a null pointer in the list"));
  EXPECT(bet_recommend_for_known_items(model, list, 0, 1, items, &count, unknown) == BET_BAD_CALL);
  EXPECT(says("an empty list"));
  return 0;
}

static int check_bad_calls(const bet_model* model, const char* path) {
  bet_scored_item items[5];
  size_t count = 0;
  float score = 0;
  float vector[2] = {9, 9};
  const char* given[2] = {"x", NULL};
  bet_model* other = NULL;

  EXPECT(bet_open(NULL, &other) == BET_BAD_CALL && says("bet_open: a null pointer"));
  EXPECT(bet_open(path, NULL) == BET_BAD_CALL);
  EXPECT(bet_open_bytes(NULL, 5, &other) == BET_BAD_CALL && says("bet_open_bytes"));
  EXPECT(bet_open_bytes("x", 1, NULL) == BET_BAD_CALL);
  EXPECT(other == NULL);

  EXPECT(bet_recommend(NULL, "bob", 5, 1, items, &count) == BET_BAD_CALL);
  EXPECT(says("bet_recommend: a null pointer"));
  EXPECT(bet_recommend(model, NULL, 5, 1, items, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend(model, "bob", 5, 1, NULL, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend(model, "bob", 5, 1, items, NULL) == BET_BAD_CALL);

  EXPECT(bet_recommend_for_items(NULL, given, 1, 5, items, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_items(model, NULL, 1, 5, items, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_items(model, given, 2, 5, items, &count) == BET_BAD_CALL);
  EXPECT(says("a null pointer in the list"));
  EXPECT(bet_recommend_for_items(model, given, 0, 5, items, &count) == BET_BAD_CALL);
  EXPECT(says("an empty list"));
  EXPECT(bet_recommend_for_items(model, given, 1, 5, NULL, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_items(model, given, 1, 5, items, NULL) == BET_BAD_CALL);

  EXPECT(bet_similar_items(NULL, "x", 5, items, &count) == BET_BAD_CALL);
  EXPECT(bet_similar_items(model, NULL, 5, items, &count) == BET_BAD_CALL);
  EXPECT(bet_similar_items(model, "x", 5, NULL, &count) == BET_BAD_CALL);
  EXPECT(bet_similar_items(model, "x", 5, items, NULL) == BET_BAD_CALL);

  EXPECT(bet_score(NULL, "bob", "x", &score) == BET_BAD_CALL);
  EXPECT(bet_score(model, NULL, "x", &score) == BET_BAD_CALL);
  EXPECT(bet_score(model, "bob", NULL, &score) == BET_BAD_CALL);
  EXPECT(bet_score(model, "bob", "x", NULL) == BET_BAD_CALL);

  EXPECT(bet_user_vector(NULL, "bob", vector, 2) == BET_BAD_CALL);
  EXPECT(bet_user_vector(model, NULL, vector, 2) == BET_BAD_CALL);
  EXPECT(bet_user_vector(model, "bob", NULL, 2) == BET_BAD_CALL);
  EXPECT(bet_user_vector(model, "bob", vector, 1) == BET_BAD_CALL && says("too small"));
  EXPECT(bet_item_vector(NULL, "x", vector, 2) == BET_BAD_CALL);
  EXPECT(bet_item_vector(model, NULL, vector, 2) == BET_BAD_CALL);
  EXPECT(bet_item_vector(model, "x", NULL, 2) == BET_BAD_CALL);
  EXPECT(bet_item_vector(model, "x", vector, 0) == BET_BAD_CALL && says("too small"));
  EXPECT(vector[0] == 9 && vector[1] == 9);

  EXPECT(bet_num_users(NULL) == 0 && bet_num_items(NULL) == 0 && bet_dimension(NULL) == 0);
  bet_close(NULL);
  return 0;
}

int check_c_api(const char* path, const char* damaged, const void* bytes, size_t size) {
  bet_model* model = NULL;
  int line = 0;

  EXPECT(bet_error() != NULL);
  EXPECT(bet_open("/no/such/file", &model) == BET_FAILED && model == NULL);
  EXPECT(says("/no/such/file: No such file"));
  EXPECT(bet_open(damaged, &model) == BET_FAILED && model == NULL);
  EXPECT(says(damaged) && says("damaged: the checksum of item rows is wrong"));
  EXPECT(bet_open_bytes(bytes, size - 1, &model) == BET_FAILED && model == NULL);
  EXPECT(bet_open_bytes(bytes, 0, &model) == BET_FAILED && model == NULL);
  EXPECT(says("only 0 bytes"));

  EXPECT(bet_open_bytes(bytes, size, &model) == BET_OK && model != NULL);
  line = check_answers(model);
  bet_close(model);
  if (line != 0) return line;

  EXPECT(bet_open(path, &model) == BET_OK && model != NULL);
  line = check_answers(model);
  if (line == 0) line = check_unknown(model);
  if (line == 0) line = check_lists(model);
  if (line == 0) line = check_bad_calls(model, path);
  if (line == 0) line = check_bad_list_calls(model);
  bet_close(model);
  return line;
}
