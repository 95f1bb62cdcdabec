// Adds one to the number in a file, TIMES times, under a lock that C++ programs take by holdfast.
//
//   Counter redis://HOST:PORT FILE TIMES
import java.nio.file.Files;
import java.nio.file.Path;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Counter {
  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(arguments[0]);
    RedissonClient client = Redisson.create(config);
    RLock lock = client.getLock("orders");
    Path file = Path.of(arguments[1]);
    for (int left = Integer.parseInt(arguments[2]); left > 0; --left) {
      lock.lock(); // renewed until it is unlocked
      try {
        long number = Long.parseLong(Files.readString(file).trim());
        Files.writeString(file, Long.toString(number + 1));
      } finally {
        lock.unlock();
      }
    }
    client.shutdown();
  }
}
