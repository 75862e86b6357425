#ifndef BET_EXPORT_H
#define BET_EXPORT_H

/* Marks what other programs may call; everything else in the library is hidden. */
#if defined(__GNUC__)
#define BET_API __attribute__((visibility("default")))
#else
#define BET_API
#endif

#endif
