// The real Redisson, driven by the commands of CommandLoop.java. `open URL [OPTION=NUMBER]...`
// comes first (Deployment.java has the URLs). `close` stops a client without releasing anything,
// which is a crash to the server.
// `asleep THREAD` says whether that thread waits for a message. Locks.java has the verbs of locks,
// Permits.java those of semaphores, Contenders.java the one of benchmarks.
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class RedissonPeer extends CommandLoop {
  private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();

  public static void main(String[] arguments) throws Exception {
    new RedissonPeer().run();
  }

  // Whether a thread waits for a message about its lock, and not for the reply to a command.
  private static boolean isAsleep(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals("java.util.concurrent.Semaphore"));
  }

  @Override
  Object perform(String name, String thread, String verb, String[] words) throws Exception {
    if (verb.equals("open")) {
      clients.put(name, open(words));
      return clients.get(name).getId();
    }
    RedissonClient client = clients.get(name);
    if (client == null) throw new IllegalArgumentException("there is no client " + name);
    switch (verb) {
      case "close":
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return "";
      case "thread":
        return Thread.currentThread().getId();
      case "asleep":
        return isAsleep(thread(name, words[0]));
      case "contenders":
        return Contenders.run(client, words);
      default:
        return words[0].equals("permits") ? Permits.perform(client, verb, words)
            : Locks.perform(client, verb, words);
    }
  }

  private static RedissonClient open(String[] words) {
    var config = new Config();
    int connections = 0;
    for (int i = 1; i < words.length; ++i) {
      String[] option = words[i].split("=");
      int number = Integer.parseInt(option[1]);
      switch (option[0]) {
        case "watchdog":
          config.setLockWatchdogTimeout(number);
          break;
        case "fairwait":
          config.setFairLockWaitTimeout(number);
          break;
        case "connections":
          connections = number;
          break;
        default:
          throw new IllegalArgumentException("there is no option " + option[0]);
      }
    }
    Deployment.use(config, words[0], connections);
    return Redisson.create(config);
  }
}
