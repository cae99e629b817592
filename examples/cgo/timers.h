/* A C library of the usual kind: it keeps a function and a void* for each timer, and
 * calls the one with the other. It knows nothing of Go. */
#ifndef TIMERS_H
#define TIMERS_H

typedef void (*timer_func)(void *data);

/* timer_add has fire called with data when the time comes to due. */
int timer_add(unsigned due, timer_func fire, void *data);

/* timer_advance calls what is due until then, in order. */
void timer_advance(unsigned to);

#endif
