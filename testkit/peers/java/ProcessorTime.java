// The processor time of this JVM. Moments are those of System.nanoTime().
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

final class ProcessorTime {
  private static final OperatingSystemMXBean process =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  // Nanoseconds, once the moment `to` has come.
  static long between(long from, long to) throws InterruptedException {
    long before = at(from);
    return at(to) - before;
  }

  private static long at(long moment) throws InterruptedException {
    long left = moment - System.nanoTime();
    if (left > 0) Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
    return process.getProcessCpuTime();
  }
}
