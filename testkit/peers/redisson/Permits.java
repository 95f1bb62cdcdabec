// VERB permits NAME ...: RPermitExpirableSemaphore. A permit has an id, which a grant answers with
// and a release names; `-` is none.
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

final class Permits {
  static Object perform(RedissonClient client, String verb, String[] words) throws Exception {
    RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(words[1]);
    switch (verb) {
      case "create":
        return permits.trySetPermits(Integer.parseInt(words[2]));
      case "resize":
        permits.setPermits(Integer.parseInt(words[2]));
        return "";
      case "lock":
        return acquire(permits, Long.parseLong(words[2]));
      case "try":
        return orNone(permits.tryAcquire(Long.parseLong(words[2]), Long.parseLong(words[3]),
            TimeUnit.MILLISECONDS));
      case "unlock":
        return permits.tryRelease(words[2]);
      case "extend":
        return permits.updateLeaseTime(words[2], Long.parseLong(words[3]), TimeUnit.MILLISECONDS);
      case "free":
        return permits.availablePermits();
      case "held":
        return permits.acquiredPermits();
      default:
        throw new IllegalArgumentException("there is no verb " + verb);
    }
  }

  private static String acquire(RPermitExpirableSemaphore permits, long lease) throws Exception {
    return lease < 0 ? permits.acquire() : permits.acquire(lease, TimeUnit.MILLISECONDS);
  }

  private static String orNone(String id) {
    return id == null ? "-" : id;
  }
}
