#include "timers.h"

#define MOST 64

static struct {
	unsigned due;
	timer_func fire;
	void *data;
} timers[MOST];

static int used;

int timer_add(unsigned due, timer_func fire, void *data) {
	int i;
	if (used == MOST)
		return -1;
	for (i = used++; i > 0 && timers[i - 1].due > due; i--)
		timers[i] = timers[i - 1];
	timers[i].due = due;
	timers[i].fire = fire;
	timers[i].data = data;
	return 0;
}

void timer_advance(unsigned to) {
	while (used > 0 && timers[0].due <= to) {
		timer_func fire = timers[0].fire;
		void *data = timers[0].data;
		used--;
		for (int i = 0; i < used; i++)
			timers[i] = timers[i + 1];
		fire(data); /* may add another */
	}
}
