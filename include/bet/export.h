#ifndef BET_EXPORT_H
#define BET_EXPORT_H

/* What of the library others may call; all else in it is hidden. */
#if defined(__GNUC__)
#define BET_API __attribute__((visibility("default")))
#else
#define BET_API
#endif

#endif
