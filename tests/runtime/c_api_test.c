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

static int check_filters(const bet_model* model) {
  bet_scored_item items[5];
  size_t count = 99;
  unsigned char unknown[2];
  const char* x[2] = {"x", "what"};
  const char* given[1] = {"yy"};
  bet_item_set* only_x = NULL;
  bet_item_set* nothing = NULL;
  bet_filter filter;
  struct {
    bet_filter known;
    int later;
  } newer;

  memset(&filter, 0, sizeof filter);
  EXPECT(bet_recommend_filtered(model, "bob", 5, &filter, items, &count) == BET_BAD_CALL);
  EXPECT(says("bet_filter: size is less"));
  filter.size = sizeof filter;
  EXPECT(bet_item_set_create(model, x, 2, 0, &only_x) == BET_OK && only_x != NULL);
  EXPECT(bet_item_set_create(model, NULL, 0, 1, &nothing) == BET_OK && nothing != NULL);

  EXPECT(bet_recommend_filtered(model, "bob", 5, &filter, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", -1.5));
  filter.include_seen = 1;
  EXPECT(bet_recommend_filtered(model, "bob", 5, &filter, items, &count) == BET_OK && count == 2);
  filter.has_min_score = 1;
  filter.min_score = -1;
  EXPECT(bet_recommend_filtered(model, "bob", 5, &filter, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "yy", 0));
  filter.has_min_score = 0;
  filter.only = only_x;
  EXPECT(bet_recommend_filtered(model, "al", 5, &filter, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", 1.5));
  EXPECT(bet_similar_items_filtered(model, "yy", 5, &filter, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", 0));
  EXPECT(bet_recommend_for_known_items_filtered(model, given, 1, 5, &filter, items, &count,
                                                unknown) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "x", 0) && unknown[0] == 0);
  filter.exclude = only_x;
  EXPECT(bet_recommend_filtered(model, "al", 5, &filter, items, &count) == BET_OK && count == 0);
  filter.exclude = NULL;
  filter.only = nothing;
  EXPECT(bet_recommend_filtered(model, "al", 5, &filter, items, &count) == BET_OK && count == 0);

  EXPECT(bet_popular_items(model, 5, NULL, items, &count) == BET_OK);
  EXPECT(count == 1 && is_item(&items[0], "yy", 1));
  filter.only = only_x;
  EXPECT(bet_popular_items(model, 5, &filter, items, &count) == BET_OK && count == 0);

  memset(&newer, 0, sizeof newer);
  newer.known.size = sizeof newer;
  EXPECT(bet_recommend_filtered(model, "al", 5, &newer.known, items, &count) == BET_OK);
  newer.later = 1;
  EXPECT(bet_recommend_filtered(model, "al", 5, &newer.known, items, &count) == BET_BAD_CALL);
  EXPECT(says("does not know"));
  bet_item_set_free(only_x);
  bet_item_set_free(nothing);
  return 0;
}

static int check_rows(const bet_model* model) {
  bet_scored_item items[4];
  bet_scored_item alone[2];
  size_t counts[2] = {99, 99};
  size_t count = 99;
  const char* id = NULL;
  size_t length = 0;
  char name[8];
  uint32_t row = 0;

  EXPECT(bet_recommend_rows(model, 0, 2, 2, NULL, 0, items, counts) == BET_OK);
  for (row = 0; row < 2; ++row) {
    EXPECT(bet_user_id(model, row, &id, &length) == BET_OK && length < sizeof name);
    memcpy(name, id, length);
    name[length] = 0;
    EXPECT(bet_recommend(model, name, 2, 1, alone, &count) == BET_OK && count == counts[row]);
    EXPECT(count > 0 && alone[0].item == items[2 * row].item);
    EXPECT(alone[0].score == items[2 * row].score);
  }
  EXPECT(bet_recommend_rows(model, 2, 0, 2, NULL, 1, items, counts) == BET_OK);
  EXPECT(bet_recommend_rows(model, 1, 2, 2, NULL, 1, items, counts) == BET_BAD_CALL);
  EXPECT(says("bet_recommend_rows: rows out of range"));
  EXPECT(bet_recommend_rows(model, 3, 0, 2, NULL, 1, items, counts) == BET_BAD_CALL);
  EXPECT(bet_recommend_rows(NULL, 0, 1, 2, NULL, 1, items, counts) == BET_BAD_CALL);
  EXPECT(bet_recommend_rows(model, 0, 1, 2, NULL, 1, NULL, counts) == BET_BAD_CALL);
  EXPECT(bet_recommend_rows(model, 0, 1, 2, NULL, 1, items, NULL) == BET_BAD_CALL);
  EXPECT(bet_user_id(model, 2, &id, &length) == BET_BAD_CALL && says("out of range"));
  EXPECT(bet_user_id(NULL, 0, &id, &length) == BET_BAD_CALL);
  EXPECT(bet_user_id(model, 0, NULL, &length) == BET_BAD_CALL);
  EXPECT(bet_user_id(model, 0, &id, NULL) == BET_BAD_CALL);
  EXPECT(bet_popular_items(NULL, 1, NULL, items, &count) == BET_BAD_CALL);
  EXPECT(bet_popular_items(model, 1, NULL, NULL, &count) == BET_BAD_CALL);
  EXPECT(bet_popular_items(model, 1, NULL, items, NULL) == BET_BAD_CALL);
  return 0;
}

static int check_bad_filter_calls(const bet_model* model, const bet_model* other) {
  bet_scored_item items[2];
  size_t count = 0;
  unsigned char unknown[2];
  const char* list[2] = {"x", NULL};
  bet_item_set* set = NULL;
  bet_filter filter;

  memset(&filter, 0, sizeof filter);
  filter.size = sizeof filter;
  EXPECT(bet_item_set_create(NULL, list, 1, 0, &set) == BET_BAD_CALL);
  EXPECT(bet_item_set_create(model, NULL, 1, 0, &set) == BET_BAD_CALL);
  EXPECT(bet_item_set_create(model, list, 1, 0, NULL) == BET_BAD_CALL);
  EXPECT(says("bet_item_set_create: a null pointer"));
  EXPECT(bet_item_set_create(model, list, 2, 0, &set) == BET_BAD_CALL && set == NULL);
  EXPECT(says("a null pointer in the list"));
  bet_item_set_free(NULL);

  EXPECT(bet_recommend_filtered(NULL, "bob", 1, &filter, items, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_filtered(model, NULL, 1, &filter, items, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_filtered(model, "bob", 1, NULL, items, &count) == BET_BAD_CALL);
  EXPECT(says("bet_recommend_filtered: a null pointer"));
  EXPECT(bet_recommend_filtered(model, "bob", 1, &filter, NULL, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_filtered(model, "bob", 1, &filter, items, NULL) == BET_BAD_CALL);
  EXPECT(bet_similar_items_filtered(model, "x", 1, NULL, items, &count) == BET_BAD_CALL);
  EXPECT(bet_similar_items_filtered(model, NULL, 1, &filter, items, &count) == BET_BAD_CALL);
  EXPECT(bet_recommend_for_known_items_filtered(model, list, 1, 1, NULL, items, &count, unknown) ==
         BET_BAD_CALL);
  EXPECT(bet_recommend_for_known_items_filtered(model, list, 0, 1, &filter, items, &count,
                                                unknown) == BET_BAD_CALL);

  EXPECT(bet_item_set_create(other, list, 1, 0, &set) == BET_OK);
  filter.only = set;
  EXPECT(bet_recommend_filtered(model, "bob", 1, &filter, items, &count) == BET_BAD_CALL);
  EXPECT(says("a set of items of another model"));
  bet_item_set_free(set);
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
  bet_model* other = NULL;
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
  if (line == 0) line = check_filters(model);
  if (line == 0) line = check_rows(model);
  EXPECT(bet_open_bytes(bytes, size, &other) == BET_OK);
  if (line == 0) line = check_bad_filter_calls(model, other);
  bet_close(other);
  bet_close(model);
  return line;
}
