// InterProcessSemaphoreV2 as a lock: what is taken last is returned first.
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

final class Permits implements InterProcessLock {
  private final InterProcessSemaphoreV2 semaphore;
  private final ConcurrentLinkedDeque<Lease> leases = new ConcurrentLinkedDeque<>();

  Permits(CuratorFramework client, String path, int permits) {
    semaphore = new InterProcessSemaphoreV2(client, path, permits);
  }

  @Override
  public void acquire() throws Exception {
    leases.push(semaphore.acquire());
  }

  @Override
  public boolean acquire(long time, TimeUnit unit) throws Exception {
    Lease lease = semaphore.acquire(time, unit);
    if (lease != null) leases.push(lease);
    return lease != null;
  }

  @Override
  public void release() {
    semaphore.returnLease(leases.pop());
  }

  @Override
  public boolean isAcquiredInThisProcess() {
    return !leases.isEmpty();
  }

  Collection<String> participants() throws Exception {
    return semaphore.getParticipantNodes();
  }
}
