// VERB TYPE PATH ...: what InterProcessLock can do, for each of Curator's locks. A client has one
// object for each type and path, which its threads share. TYPE is mutex, semaphoremutex, read, write,
// multi (of the mutexes whose paths PATH names, with + between them) or, with the number of permits,
// semaphore:N. Times are milliseconds.
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.Revoker;

final class Locks {
  private final Map<String, InterProcessLock> locks = new ConcurrentHashMap<>();
  private final Map<String, InterProcessReadWriteLock> pairs = new ConcurrentHashMap<>();
  private final Map<InterProcessLock, AtomicInteger> revocations = new ConcurrentHashMap<>();

  static InterProcessLock create(CuratorFramework client, String type, String path) {
    switch (type) {
      case "mutex":
        return new InterProcessMutex(client, path);
      case "multi":
        return new InterProcessMultiLock(client, Arrays.asList(path.split("\\+")));
      case "semaphoremutex":
        return new InterProcessSemaphoreMutex(client, path);
      case "read":
        return new InterProcessReadWriteLock(client, path).readLock();
      case "write":
        return new InterProcessReadWriteLock(client, path).writeLock();
      default:
        if (!type.startsWith("semaphore:"))
          throw new IllegalArgumentException("there is no type " + type);
        return new Permits(client, path, Integer.parseInt(type.substring(10)));
    }
  }

  // A thread that holds for writing may read: for that, both locks are of one pair.
  private InterProcessLock find(CuratorFramework client, String name, String type, String path) {
    String key = name + " " + path;
    var pair = pairs.computeIfAbsent(key, k -> new InterProcessReadWriteLock(client, path));
    if (type.equals("read")) return pair.readLock();
    if (type.equals("write")) return pair.writeLock();
    return locks.computeIfAbsent(key + " " + type, k -> create(client, type, path));
  }

  Object perform(CuratorFramework client, String name, String thread, String verb, String[] words)
      throws Exception {
    if (verb.equals("revoke")) {
      Revoker.attemptRevoke(client, words[0]);
      return "";
    }
    InterProcessLock lock = find(client, name, words[0], words[1]);
    switch (verb) {
      case "lock":
        lock.acquire();
        return "";
      case "try":
        return lock.acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS);
      case "unlock":
        lock.release();
        return "";
      case "held":
        return lock.isAcquiredInThisProcess();
      case "mine":
        return ((InterProcessMutex) lock).isOwnedByCurrentThread();
      case "participants":
        return names(lock);
      case "revocable":
        revocable((InterProcessMutex) lock);
        return "";
      case "revoked":
        return revocations.get(lock).get();
      case "count":
        return count(client, lock, words[2], Integer.parseInt(words[3]));
      default:
        throw new IllegalArgumentException("there is no verb " + verb);
    }
  }

  private static String names(InterProcessLock lock) throws Exception {
    Collection<String> nodes = lock instanceof Permits
        ? ((Permits) lock).participants() : ((InterProcessMutex) lock).getParticipantNodes();
    return nodes.stream().map(n -> n.substring(n.lastIndexOf('/') + 1))
        .collect(Collectors.joining(" "));
  }

  // Counts the requests to release it; the test has it released.
  private void revocable(InterProcessMutex lock) {
    var count = new AtomicInteger();
    revocations.put(lock, count);
    lock.makeRevocable(mutex -> count.incrementAndGet());
  }

  // Adds one to a node `times` times, in two steps that lose updates without the lock.
  private static Object count(CuratorFramework client, InterProcessLock lock, String node,
      int times) throws Exception {
    for (int i = 0; i < times; ++i) {
      lock.acquire();
      try {
        int before = Integer.parseInt(new String(client.getData().forPath(node)));
        client.setData().forPath(node, Integer.toString(before + 1).getBytes());
      } finally {
        lock.release();
      }
    }
    return "";
  }
}
