// contenders TYPE PATH THREADS FROM TO: threads that lock and unlock until the time TO. Answers with how
// many cycles began after FROM and ended before TO, in all, by the busiest thread and by the idlest,
// with the nanoseconds of processor time that this JVM used between FROM and TO, and with the longest
// wait of a thread from FROM on. Times are nanoseconds of CLOCK_MONOTONIC, so that several processes
// count the same moment. Each thread has an object of its own: one object would wake all its threads
// for each event. A PATH that ends with # is a lock for each thread.
import java.util.Arrays;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

final class Contenders {
  static Object run(CuratorFramework client, String[] words) throws InterruptedException {
    boolean own = words[1].endsWith("#");
    int size = Integer.parseInt(words[2]);
    long from = Long.parseLong(words[3]);
    long to = Long.parseLong(words[4]);
    long[] counts = new long[size];
    long[] longest = new long[size];
    Thread[] all = new Thread[size];
    for (int i = 0; i < size; ++i) {
      int mine = i;
      InterProcessLock lock = Locks.create(client, words[0], own ? words[1] + i : words[1]);
      all[i] = new Thread(() -> counts[mine] = cycles(lock, from, to, longest, mine));
      all[i].start();
    }
    long used = ProcessorTime.between(from, to);
    for (Thread t : all) t.join();
    var spread = Arrays.stream(counts).summaryStatistics();
    return spread.getSum() + " " + spread.getMax() + " " + spread.getMin() + " " + used + " "
        + Arrays.stream(longest).max().getAsLong();
  }

  private static long cycles(InterProcessLock lock, long from, long to, long[] longest, int mine) {
    long done = 0;
    try {
      for (;;) {
        long began = System.nanoTime();
        lock.acquire();
        longest[mine] = Math.max(longest[mine], System.nanoTime() - Math.max(began, from));
        lock.release();
        if (System.nanoTime() > to) return done;
        if (began >= from) ++done;
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
