#include <holdfast/holdfast.hpp>

void render(int frame);

// At most eight permits are held at a time, on all machines together.
void render_large_frame(const holdfast::client& client, int frame) {
  const holdfast::semaphore farm = client.semaphore("render-farm", 8);
  const holdfast::lease two = farm.acquire({.permits = 2});
  render(frame);
}
