// VERB TYPE NAME ...: what RLock can do, for each of Redisson's locks. Times are milliseconds; a
// lease of -1 is renewed by the watchdog.
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

final class Locks {
  static RLock find(RedissonClient client, String type, String name) {
    switch (type) {
      case "lock":
        return client.getLock(name);
      case "fair":
        return client.getFairLock(name);
      case "fenced":
        return client.getFencedLock(name);
      case "spin":
        return client.getSpinLock(name);
      case "read":
        return client.getReadWriteLock(name).readLock();
      case "write":
        return client.getReadWriteLock(name).writeLock();
      default:
        throw new IllegalArgumentException("there is no type " + type);
    }
  }

  static Object perform(RedissonClient client, String verb, String[] words) throws Exception {
    RLock lock = find(client, words[0], words[1]);
    switch (verb) {
      case "lock":
        return lock(lock, Long.parseLong(words[2]));
      case "try":
        return lock.tryLock(Long.parseLong(words[2]), Long.parseLong(words[3]),
            TimeUnit.MILLISECONDS);
      case "unlock":
        lock.unlock();
        return "";
      case "force":
        return lock.forceUnlock();
      case "locked":
        return lock.isLocked();
      case "mine":
        return lock.isHeldByCurrentThread();
      case "holds":
        return lock.getHoldCount();
      case "ttl":
        return lock.remainTimeToLive();
      case "token":
        return ((RFencedLock) lock).getToken();
      case "count":
        return count(client, lock, words[2], Integer.parseInt(words[3]));
      default:
        throw new IllegalArgumentException("there is no verb " + verb);
    }
  }

  private static Object lock(RLock lock, long lease) {
    if (lease < 0) {
      lock.lock();
    } else {
      lock.lock(lease, TimeUnit.MILLISECONDS);
    }
    return "";
  }

  // Adds one to a key `times` times, in two steps that lose updates without the lock.
  private static Object count(RedissonClient client, RLock lock, String key, int times) {
    var number = client.<String>getBucket(key, StringCodec.INSTANCE);
    for (int i = 0; i < times; ++i) {
      lock.lock();
      try {
        String before = number.get();
        number.set(Integer.toString(before == null ? 1 : Integer.parseInt(before) + 1));
      } finally {
        lock.unlock();
      }
    }
    return "";
  }
}
