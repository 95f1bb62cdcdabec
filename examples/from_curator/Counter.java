// Adds one to the number in a file, TIMES times, under a lock that C++ programs take by holdfast.
//
//   Counter HOST:PORT FILE TIMES
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public final class Counter {
  public static void main(String[] arguments) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(arguments[0], new ExponentialBackoffRetry(100, 5));
    client.start();
    InterProcessMutex lock = new InterProcessMutex(client, "/orders");
    Path file = Path.of(arguments[1]);
    for (int left = Integer.parseInt(arguments[2]); left > 0; --left) {
      lock.acquire(); // held while the session lives
      try {
        long number = Long.parseLong(Files.readString(file).trim());
        Files.writeString(file, Long.toString(number + 1));
      } finally {
        lock.release();
      }
    }
    client.close();
  }
}
