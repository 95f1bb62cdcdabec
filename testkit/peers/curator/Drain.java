// drain TYPE PATH WAITERS [each]: threads that wait for a lock that is held. When all are
// queued, it is released; each waiter unlocks as soon as it has locked. Answers with the nanoseconds
// from the release to the last unlock, and those of processor time that this JVM used meanwhile.
// Each thread has an object of its own: one object would wake all its threads for each event. With
// "each", each has a session of its own, too.
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

final class Drain {
  private static final int stack = 128 << 10;
  private static final List<CuratorFramework> sessions = new ArrayList<>();

  static Object run(CuratorFramework client, String[] words) throws Exception {
    var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    int waiters = Integer.parseInt(words[2]);
    InterProcessLock lock = Locks.create(client, words[0], words[1]);
    var left = new CountDownLatch(waiters);
    lock.acquire();
    boolean each = words.length > 3;
    String servers = client.getZookeeperClient().getCurrentConnectionString();
    while (each && sessions.size() < waiters)
      sessions.add(CuratorPeer.open(new String[] {servers}));
    for (int i = 0; i < waiters; ++i) {
      CuratorFramework of = each ? sessions.get(i) : client;
      InterProcessLock own = Locks.create(of, words[0], words[1]);
      new Thread(null, () -> pass(own, left), "waiter", stack).start();
    }
    while (client.checkExists().forPath(words[1]).getNumChildren() <= waiters) Thread.sleep(5);
    long used = process.getProcessCpuTime();
    long began = System.nanoTime();
    lock.release();
    left.await();
    return (System.nanoTime() - began) + " " + (process.getProcessCpuTime() - used);
  }

  private static void pass(InterProcessLock lock, CountDownLatch left) {
    try {
      lock.acquire();
      lock.release();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    left.countDown();
  }
}
