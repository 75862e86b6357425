#include <bet/bet.h>
#include <stdio.h>

/* top_items_c MODEL USER: the best three items of a user. */
int main(int argc, char** argv) {
  bet_model* model = NULL;
  bet_scored_item items[3];
  size_t count = 0;
  int code;
  if (argc != 3) return 2;
  code = bet_open(argv[1], &model);
  if (code == BET_OK) code = bet_recommend(model, argv[2], 3, 1, items, &count);
  if (code != BET_OK) fprintf(stderr, "%s\n", bet_error());
  for (size_t i = 0; i < count; ++i) {
    printf("%.*s %.6f\n", (int)items[i].item_length, items[i].item, (double)items[i].score);
  }
  bet_close(model);
  return code == BET_OK ? 0 : 1;
}
